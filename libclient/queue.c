/* SPDX-License-Identifier: MIT */
/* queue.c - put SQEs in, publish them, look at CQEs */
#include <errno.h>
#include <sys/socket.h>

#include <quoit/line.h>
#include <quoit/sample.h>

#include "clock.h"
#include "core.h"
#include "event.h"
#include "mine.h"
#include "probes.h"
#include "queue.h"
#include "refusal.h"
#include "sleep.h"
#include "slot.h"
#include "team.h"

/* ---- SQ ---- */

#define CLAIM_MOST 32u
/* after this many looks of quoit_peek that find none, check that quoitd is there */
#define LOOKS      4u

/*
 * Claim free slots, as many as were published at once the last time.  Their lines are in the cache
 * of quoitd's CPU, which has read them, and a store to a single line waits for that line alone.  A
 * Zen 4 fetches several lines at once when stores to them follow each other; a Zen 5 does when it
 * is asked for them.  So we also ask for the lines behind these, which have arrived when their turn
 * comes.
 */
void libquoit_queue_claim(struct quoit_ring *q)
{
	uint32_t space = q->sq.entries - (q->claimed - q->sq.cached_head);
	uint32_t n = space < q->ahead ? space : q->ahead;
	uint32_t asked = space < 2 * n ? space : 2 * n;

	for (uint32_t i = 0; i < asked; i++)
		quoit_ask_to_write(slot_words(q, q->claimed + i));
	for (uint32_t end = q->claimed + n; q->claimed != end; q->claimed++)
		__atomic_store_n(slot_words(q, q->claimed), 0, __ATOMIC_RELAXED);
}

int libquoit_queue_take(struct quoit_ring *q, uint32_t *ret_index)
{
	int err;

	if (UNLIKELY(!libquoit_is_mine(q->mine)))
		return libquoit_refuse_child(q);
	if (UNLIKELY(alone_check(q)))
		return -EBUSY;
	if (!quoit_ring_reserve(&q->sq, ret_index)) {
		if (q->raw) {
			err = quoit_flush(q);
			/* a program that calls again and again must hear of quoitd's end */
			libquoit_sleep_look(q);
			if (err || q->broken)
				return libquoit_refuse_broken(q);
			return libquoit_refuse(
				q, -EAGAIN,
				"the ring is full: quoitd has not fetched the jobs in its %u "
				"entries yet",
				q->sq.entries);
		}
		err = libquoit_sleep_sq(q);
		if (err)
			return err;
		if (!quoit_ring_reserve(&q->sq, ret_index))
			return libquoit_refuse(q, -EPROTO, "quoitd moved the SQ's head backwards");
	}
	alone_mark(q, MARK_PUSHES);
	slot_claim(q, *ret_index);
	return 0;
}

SLOT_INLINE void put(struct quoit_ring *q, uint32_t index, const struct quoit_sqe *sqe,
		     uint64_t header, uint64_t user_data)
{
	uint64_t *to = slot_words(q, index);

	to[0] = header | (uint64_t)sqe->device << 16;
	to[1] = user_data;
#pragma GCC unroll 6
	for (unsigned i = 0; i < sizeof sqe->word / sizeof sqe->word[0]; i++)
		to[2 + i] = slot_pair(&sqe->word[i]);
	slot_done(q, index);
}

void libquoit_queue_put(struct quoit_ring *q, uint32_t index, const struct quoit_sqe *sqe,
			uint64_t user_data)
{
	uint64_t quiet = (uint64_t)QUOIT_SQE_QUIET << 8;

	put(q, index, sqe, slot_header(sqe->opcode, sqe->flags, sqe->arg) & ~quiet, user_data);
}

int quoit_push_sqe(struct quoit_ring *q, const struct quoit_sqe *sqe)
{
	uint32_t index;
	int err;

	if (UNLIKELY(sqe->reserved0))
		return libquoit_refuse_reserved(q, sqe);
	err = UNLIKELY(sqe->opcode == QUOIT_OP_CALL) ? libquoit_team_check_call(q, sqe) : 0;
	if (UNLIKELY(err))
		return err;
	err = slot_take(q, &index);
	if (UNLIKELY(err))
		return err;
	if (UNLIKELY(sqe->opcode == QUOIT_OP_CALL)) {
		const struct quoit_sqe call = libquoit_team_call(q, sqe);

		put(q, index, &call, slot_header(call.opcode, call.flags, call.arg),
		    slot_user_data(q, index, call.user_data));
		return 0;
	}
	put(q, index, sqe, slot_header(sqe->opcode, sqe->flags, sqe->arg),
	    slot_user_data(q, index, sqe->user_data));
	return 0;
}

struct quoit_sqe *quoit_get_sqe(struct quoit_ring *q)
{
	uint32_t index;

	if (!q->raw) {
		libquoit_refuse(q, -EINVAL,
				"quoit_get_sqe needs a ring that was opened with QUOIT_RING_RAW");
		return NULL;
	}
	/* All earlier slots are filled before the next one is handed out. */
	if (q->sq.next - q->sq.published >= q->batch)
		(void)quoit_flush(q);
	if (slot_take(q, &index))
		return NULL;
	alone_clear(q);
	if (q->stamps)
		q->notes[index & q->sq_mask].site = 0;
	return &q->sqes[index & q->sq_mask];
}

unsigned quoit_get_sqes(struct quoit_ring *q, unsigned most, struct quoit_sqe **ret)
{
	uint32_t first, index, n = 1;

	*ret = most ? quoit_get_sqe(q) : NULL;
	if (!most)
		libquoit_refuse(q, -EINVAL, "0 slots were asked for: at least 1 is allowed");
	if (!*ret)
		return 0;
	first = q->sq.next - 1;
	/* A run neither wraps nor grows beyond what is published at once. */
	while (n < most && n < q->batch && (first + n) & q->sq_mask && quoit_ring_space(&q->sq) &&
	       quoit_ring_reserve(&q->sq, &index)) {
		slot_claim(q, index);
		n++;
	}
	for (uint32_t i = 1; UNLIKELY(q->stamps != NULL) && i < n; i++)
		q->notes[(first + i) & q->sq_mask].site = 0;
	return n;
}

static __attribute__((noinline)) int kick(struct quoit_ring *q)
{
	probe_wake(q);
	/* it may run on another CPU by now, and may never wait: look again */
	if (UNLIKELY(q->shares_cpu))
		libquoit_core_leave(q);
	/* A socket full of wake-ups is as good: the reactor will see one of them. */
	while (send(q->socket, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1 && errno != EAGAIN)
		if (errno != EINTR && errno != ENOBUFS && errno != ENOMEM) {
			__atomic_store_n(&q->broken, -ECONNRESET, __ATOMIC_RELAXED);
			return libquoit_refuse_broken(q);
		}
	return 0;
}

/* Is the ring's next sample before `end`? */
static bool has_sample(uint32_t sample, uint32_t end)
{
#ifdef QUOIT_WITHOUT_LATENCY /* a build that measures what samples cost */
	return false;
#endif
	return UNLIKELY(quoit_sample_precedes(sample, end));
}

/* Note the submit time of a sample, unless its word still tells of an SQE in the ring. */
static void note_submit(struct quoit_ring *q, uint64_t now)
{
	const uint32_t rarity = quoit_sampling_of_sqes(q->sampling);
	uint32_t word = quoit_note_word(q->sq_sample, rarity), *noted = &q->sq_noted[word];

	if ((int32_t)(q->sq.cached_head - *noted) < 0)
		(void)quoit_ring_refresh(&q->sq);
	if ((int32_t)(q->sq.cached_head - *noted) >= 0) {
		__atomic_store_n(&q->client->submitted[word], quoit_note_of(q->sq_sample, now),
				 __ATOMIC_RELAXED);
		*noted = q->sq_sample + 1;
	}
	q->sq_sample = quoit_sample_from(q->sq_sample + 1, rarity);
}

/* The daemon wants more samples, or fewer. */
static __attribute__((noinline)) void sample_anew(struct quoit_ring *q, uint32_t sampling)
{
	q->sampling = sampling;
	q->sq_sample = quoit_sample_from(q->sq.next, quoit_sampling_of_sqes(sampling));
	q->cq_sample = quoit_sample_from(q->cq.next, quoit_sampling_of_cqes(sampling));
}

/* Read the daemon's words on the line that was just read for need_wake. */
static inline void hear(struct quoit_ring *q)
{
	uint32_t sampling = __atomic_load_n(&q->daemon->sampling, __ATOMIC_RELAXED);

	libquoit_event_ask(q);
	if (UNLIKELY(sampling != q->sampling))
		sample_anew(q, sampling);
}

/* Read the clock once for all SQEs that are published at once. */
static __attribute__((noinline)) void stamp(struct quoit_ring *q)
{
	uint64_t now = clock_ticks();

	for (uint32_t i = q->sq.published; q->stamps && i != q->sq.next; i++)
		q->notes[i & q->sq_mask].submit = now;
	while (has_sample(q->sq_sample, q->sq.next))
		note_submit(q, now);
}

/* A single SQE is carried in the tail's line, so that quoitd waits for one line only. */
static inline bool publish(struct quoit_ring *q, uint32_t n)
{
	const uint64_t *alone = n == 1 ? slot_words(q, q->sq.published) : NULL;

	return quoit_ring_submit_line(&q->sq, alone, QUOIT_SQ_CARRIES, &q->daemon->need_wake);
}

int quoit_flush(struct quoit_ring *q)
{
	uint32_t n;
	bool wake;
	int err = 0;

	if (UNLIKELY(!libquoit_is_mine(q->mine)))
		return libquoit_refuse_child(q);
	if (UNLIKELY(alone_check(q)))
		return -EBUSY;
	n = q->sq.next - q->sq.published;
	if (n == 0)
		return 0;
	q->ahead = n < CLAIM_MOST ? n : CLAIM_MOST;
	if (UNLIKELY(q->stamps != NULL) || has_sample(q->sq_sample, q->sq.next))
		stamp(q);
	libquoit_event(q, QUOIT_EVENT_SUBMIT, q->sq.next, 0);
	probe_submit(q);
	wake = publish(q, n);
	hear(q);
	if (quoit_ring_must_ring(&q->sq, wake)) {
		err = kick(q); /* the thread may end in kick(): then it has not rung */
		quoit_ring_rang(&q->sq);
	}
	if (q->claimed == q->sq.next) /* for the next SQEs, while quoitd is at work */
		libquoit_queue_claim(q);
	return err;
}

/* ---- CQ ---- */

/*
 * Copy the CQE that the tail's line carries, so that its slot's line is not fetched.  A program
 * that waited for this one CQE is about to submit the next job: so we ask for the SQ tail's line,
 * which quoitd has read.
 */
static void take_carried(struct quoit_ring *q)
{
	uint64_t word[QUOIT_CQ_CARRIES];

	q->carried = quoit_ring_carried(&q->cq, word, QUOIT_CQ_CARRIES);
	if (!q->carried)
		return;
	quoit_ask_to_write(q->sq.line);
	q->alone = (struct quoit_cqe){
		.user_data = word[1], .res = (int32_t)word[2], .flags = (uint32_t)word[0]};
}

static inline uint32_t ready(struct quoit_ring *q)
{
	bool looks = q->cq.cached_tail == q->cq.next;
	uint32_t n = quoit_ring_peek(&q->cq);

	if (n == 1 && looks)
		take_carried(q);
	if (LIKELY(n <= q->cq.entries))
		return n;
	q->broken = -EPROTO;
	return 0;
}

uint32_t libquoit_queue_ready(struct quoit_ring *q)
{
	return ready(q);
}

/* No CQE was there.  Reading the clock takes as long as a look, so only some looks do. */
static uint32_t look_again(struct quoit_ring *q)
{
	if (++q->vain % LOOKS || !libquoit_sleep_look(q))
		return 0;
	return ready(q); /* CQEs that quoitd posted before its end still count */
}

static inline const struct quoit_cqe *cqe_at(const struct quoit_ring *q, unsigned i)
{
	if (q->carried && i == 0)
		return &q->alone;
	return &q->cqes[(q->cq.next + i) & q->cq_mask];
}

int quoit_peek(struct quoit_ring *q, const struct quoit_cqe **ret)
{
	uint32_t n, run;

	if (!libquoit_is_mine(q->mine))
		return libquoit_refuse_child(q);
	if (!q->raw)
		return libquoit_refuse(
			q, -EINVAL, "quoit_peek needs a ring that was opened with QUOIT_RING_RAW");
	if (UNLIKELY(alone_check(q)))
		return -EBUSY;
	n = ready(q);
	if (!n)
		n = look_again(q);
	if (!n)
		return q->broken ? libquoit_refuse_broken(q) : 0;
	q->vain = 0;
	*ret = cqe_at(q, 0);
	if (q->carried)
		return 1;
	/* One run only: CQEs beyond the end of the ring's memory are the next run. */
	run = q->cq.entries - (q->cq.next & q->cq_mask);
	return (int)(n < run ? n : run);
}

/* In a child the ring's pages are not mapped. */
const struct quoit_cqe *quoit_get_cqe(const struct quoit_ring *q, unsigned i)
{
	static const struct quoit_cqe none = {.res = -EOWNERDEAD};

	return LIKELY(libquoit_is_mine(q->mine)) ? cqe_at(q, i) : &none;
}

const struct quoit_error *quoit_get_error(const struct quoit_ring *q, unsigned i)
{
	static const struct quoit_error none = {.code = -EOWNERDEAD};

	if (!libquoit_is_mine(q->mine))
		return &none;
	return &q->errors[(q->cq.next + i) & q->cq_mask];
}

const struct quoit_stamps *quoit_get_stamps(const struct quoit_ring *q, unsigned i)
{
	return q->stamps && libquoit_is_mine(q->mine) ? &q->stamps[(q->cq.next + i) & q->cq_mask]
						      : NULL;
}

static __attribute__((noinline)) void note_reaps(struct quoit_ring *q, uint32_t n)
{
	const uint32_t rarity = quoit_sampling_of_cqes(q->sampling);
	uint64_t now = clock_ticks_after_loads();

	for (; has_sample(q->cq_sample, q->cq.next + n);
	     q->cq_sample = quoit_sample_from(q->cq_sample + 1, rarity))
		__atomic_store_n(&q->client->reaped[quoit_note_word(q->cq_sample, rarity)],
				 quoit_note_of(q->cq_sample, now), __ATOMIC_RELAXED);
}

static inline void release(struct quoit_ring *q, uint32_t n)
{
	if (has_sample(q->cq_sample, q->cq.next + n))
		note_reaps(q, n);
	libquoit_event(q, QUOIT_EVENT_REAP, q->cq.next + n, 0);
	probe_reap(q, n);
	q->carried = false;
	quoit_ring_release(&q->cq, n);
}

void libquoit_queue_release(struct quoit_ring *q, uint32_t n)
{
	release(q, n);
}

void quoit_release(struct quoit_ring *q, unsigned n)
{
	if (q->raw && libquoit_is_mine(q->mine))
		release(q, n);
}
