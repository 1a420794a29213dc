/* SPDX-License-Identifier: MIT */
/* queue.c - put SQEs in, publish them, look at CQEs */
#include <errno.h>
#include <sys/socket.h>

#include "clock.h"
#include "library.h"

/* Slots are asked for so many ahead. */
#define SLOTS_AHEAD 16u

/* ---- SQ ---- */

/*
 * Ask for a slot that will be filled soon: its line is in quoitd's cache, which has read it,
 * unless it is full still.  (The builtin asks for reading only, unless the compiler may use what
 * newer processors have; on others this is a nop.)
 */
static inline void prefetch_slot(const struct quoit_ring *q, uint32_t index)
{
	const struct quoit_sqe *slot = &q->sqes[(index + SLOTS_AHEAD) & q->sq_mask];

	if (LIKELY(quoit_ring_space(&q->sq) >= SLOTS_AHEAD))
		__asm__ volatile("prefetchw %0" : : "m"(*(const char *)slot));
}

/* Inlined into quoit_push_sqe: no system call, no lock and no clock on its path. */
static inline __attribute__((always_inline)) int take(struct quoit_ring *q, uint32_t *ret_index)
{
	int err;

	if (UNLIKELY(!libquoit_is_mine(q->mine)))
		return -EOWNERDEAD;
	if (LIKELY(quoit_ring_reserve(&q->sq, ret_index))) {
		prefetch_slot(q, *ret_index);
		return 0;
	}
	if (q->raw) {
		err = quoit_flush(q);
		return err ? err : -EAGAIN;
	}
	err = libquoit_sleep_sq(q);
	if (err)
		return err;
	return quoit_ring_reserve(&q->sq, ret_index) ? 0 : -EPROTO;
}

/* Two 32-bit words as one of 64, loaded one by one: the compiler may not join atomic loads. */
static inline uint64_t load_pair(const void *at)
{
	const uint32_t *word = at;

	return __atomic_load_n(&word[0], __ATOMIC_RELAXED) |
	       (uint64_t)__atomic_load_n(&word[1], __ATOMIC_RELAXED) << 32;
}

/*
 * The SQE was filled in a moment ago, field by field.  A load that is wider than those stores
 * would wait until they are in the cache, behind stores to slots that this core does not have
 * yet: so no load here is wider than a field, and those waits overlap.
 */
static inline __attribute__((always_inline)) void copy(struct quoit_sqe *slot,
						       const struct quoit_sqe *sqe, uint8_t flags,
						       uint64_t user_data)
{
	uint64_t *to = (uint64_t *)slot;

	to[0] = sqe->opcode | (uint64_t)flags << 8 | (uint64_t)sqe->device << 16 |
		(uint64_t)sqe->arg << 24 | (uint64_t)sqe->lap << 32;
	to[1] = user_data;
#pragma GCC unroll 6
	for (unsigned i = 0; i < sizeof sqe->word / sizeof sqe->word[0]; i++)
		to[2 + i] = load_pair(&sqe->word[i]);
}

static inline __attribute__((always_inline)) void put(struct quoit_ring *q, uint32_t index,
						      const struct quoit_sqe *sqe, uint8_t flags,
						      uint64_t user_data)
{
	copy(&q->sqes[index & q->sq_mask], sqe, flags, user_data);
	if (UNLIKELY(q->notes != NULL))
		q->notes[index & q->sq_mask].site = q->site;
	/* A failure to wake quoitd is for the next wait to report: the job is in the ring. */
	if (UNLIKELY(q->sq.next - q->sq.published >= q->batch))
		(void)quoit_flush(q);
}

int libquoit_queue_take(struct quoit_ring *q, uint32_t *ret_index)
{
	return take(q, ret_index);
}

void libquoit_queue_put(struct quoit_ring *q, uint32_t index, const struct quoit_sqe *sqe,
			uint64_t user_data)
{
	put(q, index, sqe, sqe->flags & (uint8_t)~QUOIT_SQE_QUIET, user_data);
}

/*
 * user_data of a managed ring's push is its SQ index, which is how an error record
 * names it; a quoit_job has more than 32 bits, so the two are never mixed up.
 */
static inline __attribute__((always_inline)) int push(struct quoit_ring *q,
						      const struct quoit_sqe *sqe,
						      uint32_t *ret_index)
{
	int err = take(q, ret_index);

	if (UNLIKELY(err))
		return err;
	put(q, *ret_index, sqe, sqe->flags | QUOIT_SQE_QUIET, q->raw ? sqe->user_data : *ret_index);
	return 0;
}

int libquoit_queue_push(struct quoit_ring *q, const struct quoit_sqe *sqe, uint32_t *ret_index)
{
	return push(q, sqe, ret_index);
}

int quoit_push_sqe(struct quoit_ring *q, const struct quoit_sqe *sqe)
{
	uint32_t index;

	return push(q, sqe, &index);
}

struct quoit_sqe *quoit_sqe(struct quoit_ring *q)
{
	uint32_t index;

	if (!q->raw)
		return NULL;
	/* Before the next slot is handed out, all earlier ones have been filled. */
	if (q->sq.next - q->sq.published >= q->batch)
		(void)quoit_flush(q);
	if (take(q, &index))
		return NULL;
	if (q->notes)
		q->notes[index & q->sq_mask].site = 0;
	return &q->sqes[index & q->sq_mask];
}

unsigned quoit_sqes(struct quoit_ring *q, unsigned most, struct quoit_sqe **ret)
{
	uint32_t first, index, n = 1;

	*ret = quoit_sqe(q);
	if (!*ret)
		return 0;
	first = q->sq.next - 1;
	/* A run neither wraps nor grows beyond what is published at once. */
	while (n < most && n < q->batch && (first + n) & q->sq_mask && quoit_ring_space(&q->sq) &&
	       quoit_ring_reserve(&q->sq, &index)) {
		prefetch_slot(q, index);
		n++;
	}
	for (uint32_t i = 1; UNLIKELY(q->notes != NULL) && i < n; i++)
		q->notes[(first + i) & q->sq_mask].site = 0;
	return n;
}

static __attribute__((noinline)) int kick(struct quoit_ring *q)
{
	if (send(q->socket, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1 || errno == EAGAIN)
		return 0; /* full of kicks: the reactor will see one of them */
	q->broken = -ECONNRESET;
	return q->broken;
}

/* One reading of the clock for all that is published at once. */
static __attribute__((noinline)) void stamp(struct quoit_ring *q)
{
	uint64_t now = clock_ticks();

	for (uint32_t i = q->sq.published; i != q->sq.next; i++)
		q->notes[i & q->sq_mask].submit = now;
}

int quoit_flush(struct quoit_ring *q)
{
	if (UNLIKELY(!libquoit_is_mine(q->mine)))
		return -EOWNERDEAD;
	if (q->sq.next == q->sq.published)
		return 0;
	if (UNLIKELY(q->notes != NULL))
		stamp(q);
	if (quoit_ring_submit_wake(&q->sq, &q->daemon->need_wake))
		return kick(q);
	return 0;
}

/* ---- CQ ---- */

uint32_t libquoit_queue_ready(struct quoit_ring *q)
{
	uint32_t n = quoit_ring_peek(&q->cq);

	if (LIKELY(n <= q->cq.entries))
		return n;
	q->broken = -EPROTO;
	return 0;
}

int quoit_peek(struct quoit_ring *q, const struct quoit_cqe **ret)
{
	uint32_t n;

	if (!libquoit_is_mine(q->mine))
		return -EOWNERDEAD;
	if (!q->raw)
		return -EINVAL;
	n = libquoit_queue_ready(q);
	if (!n) {
		libquoit_sleep_look(q);
		n = libquoit_queue_ready(q);
	}
	if (!n)
		return q->broken;
	*ret = quoit_cqe_at(q, 0);
	/* One run: what lies behind the end of the ring is the next one. */
	if (n > q->cq.entries - (q->cq.next & q->cq_mask))
		n = q->cq.entries - (q->cq.next & q->cq_mask);
	return (int)n;
}

const struct quoit_cqe *quoit_cqe_at(const struct quoit_ring *q, unsigned i)
{
	return &q->cqes[(q->cq.next + i) & q->cq_mask];
}

const struct quoit_error *quoit_error_at(const struct quoit_ring *q, unsigned i)
{
	return &q->errors[(q->cq.next + i) & q->cq_mask];
}

const struct quoit_stamps *quoit_stamps_at(const struct quoit_ring *q, unsigned i)
{
	return q->stamps ? &q->stamps[(q->cq.next + i) & q->cq_mask] : NULL;
}

void quoit_release(struct quoit_ring *q, unsigned n)
{
	if (q->raw && libquoit_is_mine(q->mine))
		quoit_ring_release(&q->cq, n);
}
