/* SPDX-License-Identifier: MIT */
/* fetch.c - takes SQEs from a ring in bursts, and ends those that take only a moment */
#include "fetch.h"

#include <errno.h>

#include <quoit/line.h>

#include "base/tsc.h"
#include "fetch_job.h"
#include "fetch_team.h"
#include "job/completion.h"
#include "job/deps.h"
#include "job/fast_elementwise.h"
#include "job/probes.h"
#include "job/record.h"
#include "job/sched.h"
#include "job/tensor.h"
#include "memory/sigbus_guard.h"
#include "observe/sample.h"
#include "reactor_mail.h"
#include "reactor_rings.h"

/*
 * SQEs taken from one ring before the next ring has its turn.  The client sees their CQEs only
 * after the burst, and a client that waits for those puts in no more SQEs meanwhile.
 */
#define FETCH_BURST 64u

/*
 * A slot is prefetched so many SQEs ahead, because it is a line in the client's cache.  An empty
 * slot is not: the client owns that line, to fill it.
 */
#define FETCH_AHEAD 8u

/* End a CREATE, VIEW or FREE, done or refused.  -EAGAIN: it must be tried again later. */
static inline int end_control(struct ring *ring, const struct quoit_sqe *sqe, uint32_t sq_index,
			      int err, const struct fault *fault)
{
	if (__builtin_expect(err, 0))
		return fetch_refuse_control(ring, sqe, sq_index, err, fault);
	ring->session->jobs_done++;
	if (!(sqe->flags & QUOIT_SQE_QUIET))
		fetch_post_control(ring, sqe, sq_index);
	return 0;
}

/* This SQE is fetched, as a job or not.  Forget its cancellation, since indices come again. */
static void forget_cancel(struct ring *ring, uint32_t sq_index)
{
	for (uint32_t i = ring->cancels; i-- > 0;)
		if (ring->cancel[i] == sq_index)
			ring->cancel[i] = ring->cancel[--ring->cancels];
}

/* Run it here if fast_elementwise.c can. */
static bool run_small(struct session *s, const struct quoit_sqe *sqe, uint64_t *cost)
{
	if (!(sqe->flags & QUOIT_SQE_QUIET) || !fast_elementwise_run(s, sqe, cost))
		return false;
	s->jobs_done++;
	s->jobs_inline++;
	return true;
}

/*
 * Is this a NOP that asks for nothing but its CQE?  Then all words but user_data are zero, and no
 * flag is set but QUIET, and AFTER_ALL where no job of the ring is open.
 */
static inline bool is_plain_nop(const struct ring *ring, const struct quoit_sqe *sqe)
{
	const uint64_t *word = (const uint64_t *)sqe;
	uint64_t flags = QUOIT_SQE_QUIET | (ring->jobs ? 0 : QUOIT_SQE_AFTER_ALL);

	return !(word[0] & ~(flags << 8)) && !(word[2] | word[3] | word[4]) &&
	       !(word[5] | word[6] | word[7]);
}

/* The fast path below takes numbers above FREE for jobs: the control operations are below. */
#define RERUN   0
#define CONTROL 1
#define FILE    0
#define LAUNCH  0
#define ACQUIRE 0
#define RELEASE 0
#define CALL    0
#define RETURN  0
#define QUOIT_OP(nr, NAME, name, family, access, shape, types, cost, flags, help)                  \
	QUOIT_STATIC_ASSERT((nr > QUOIT_OP_NOP && nr <= QUOIT_OP_FREE) == flags, #name);
#include <quoit/ops.def>
#undef QUOIT_OP
#undef RERUN
#undef CONTROL
#undef FILE
#undef LAUNCH
#undef ACQUIRE
#undef RELEASE
#undef CALL
#undef RETURN

/*
 * Fetch one SQE.  plain: the ring has no stamps and no cancels.  -EAGAIN: a table of the session is
 * full; nothing was done, try again later.  Inlined into the loop below, since most SQEs end here.
 */
static inline __attribute__((always_inline)) int fetch_one(struct ring *ring,
							   const struct quoit_sqe *sqe,
							   uint32_t sq_index, bool plain,
							   uint64_t *cost)
{
	struct session *s = ring->session;
	struct fault fault;
	int err;

	if (sqe->opcode > QUOIT_OP_FREE) {
		if (plain && run_small(s, sqe, cost))
			return 0;
	} else if (sqe->opcode == QUOIT_OP_CREATE) {
		return end_control(ring, sqe, sq_index, tensor_create(s, sqe, &fault), &fault);
	} else if (sqe->opcode == QUOIT_OP_FREE) {
		return end_control(ring, sqe, sq_index, tensor_free(s, sqe, &fault), &fault);
	} else if (sqe->opcode == QUOIT_OP_VIEW) {
		return end_control(ring, sqe, sq_index, tensor_view(s, sqe, &fault), &fault);
	} else if (plain && is_plain_nop(ring, sqe)) {
		completion_post(ring, sqe, 0, NULL, NULL);
		s->jobs_done++;
		return 0;
	}
	s->looks = 0;
	err = fetch_job(ring, sqe, sq_index, cost);
	*cost += s->looks * DEPS_LOOK_NS;
	return err;
}

/* Copy an SQE, which its client may be changing.  alone: the ring has no other SQE ready. */
static inline void copy_sqe(const struct ring *ring, const struct quoit_sqe *sqes, uint32_t mask,
			    uint32_t index, bool alone, struct quoit_sqe *ret)
{
	if (alone && quoit_ring_carried(&ring->sq, (uint64_t *)ret, QUOIT_SQ_CARRIES))
		return;
	if (ring->sq.cached_tail - index > FETCH_AHEAD)
		__builtin_prefetch(&sqes[(index + FETCH_AHEAD) & mask]);
	quoit_ring_copy((uint64_t *)ret, (const uint64_t *)&sqes[index & mask],
			sizeof *ret / sizeof(uint64_t));
}

/* Run SQEs from `index` to `end`, or until they have cost a turn.  Returns the first left. */
static inline __attribute__((always_inline)) uint32_t run_sqes(struct ring *ring, uint32_t index,
							       uint32_t end, uint64_t *cost)
{
	const struct quoit_sqe *sqes = ring->sqes;
	const uint32_t mask = ring->layout.sq_entries - 1;
	bool plain = !ring->cancels && !ring->stamps;
	bool alone = ring->sq.cached_tail - ring->sq.next == 1;
	uint32_t counted = index; /* those before it are counted by operation */
	uint8_t opcode = QUOIT_OP_NOP;

	for (; index != end && *cost < SCHED_TURN_NS; index++) {
		struct quoit_sqe sqe;

		copy_sqe(ring, sqes, mask, index, alone, &sqe);
		if (sqe.opcode != opcode) {
			latency_count_jobs(ring->session, opcode, index - counted);
			opcode = sqe.opcode;
			counted = index;
		}
		if (fetch_one(ring, &sqe, index, plain, cost) < 0) {
			ring->stalled = true;
			break;
		}
		if (!plain)
			forget_cancel(ring, index);
	}
	latency_count_jobs(ring->session, opcode, index - counted);
	ring->opcode = opcode;
	return index;
}

/* run_sqes out of line, for rings that are sampled or traced; others use fetch_burst's copy. */
static __attribute__((noinline)) uint32_t fetch_run(struct ring *ring, uint32_t index, uint32_t end,
						    uint64_t *cost)
{
	return run_sqes(ring, index, end, cost);
}

/* Fetch and time the one SQE that is the next sample; false: it was not taken. */
static bool fetch_sample(struct ring *ring, uint32_t index, uint64_t *cost)
{
	struct session *s = ring->session;
	struct sample sample = sample_begin(ring, index);
	uint64_t jobs = s->order;

	if (fetch_run(ring, index, index + 1, cost) == index)
		return false;
	if (s->order != jobs)
		sample_is_job(ring, &sample, deps_ring_find(ring, index));
	else
		sample_was_run(ring, &sample, ring->opcode);
	return true;
}

/* As fetch_run, with samples among the SQEs. */
static __attribute__((noinline)) uint32_t fetch_timed(struct ring *ring, uint32_t index,
						      uint32_t end, uint64_t *cost)
{
	while (sample_is_in(ring, end)) {
		index = fetch_run(ring, index, ring->samples.sq, cost);
		if (index != ring->samples.sq || *cost >= SCHED_TURN_NS ||
		    !fetch_sample(ring, index, cost))
			return index;
		index++;
	}
	return fetch_run(ring, index, end, cost);
}

/* As fetch_timed, one by one; each goes into the session's trace while there is room. */
static uint32_t fetch_recorded(struct ring *ring, uint32_t index, uint32_t end, uint64_t *cost)
{
	uint64_t start = ring->fetched;

	while (index != end && *cost < SCHED_TURN_NS && record_has_room(ring->session)) {
		struct record_sqe sqe = record_begin(ring);

		if (sample_is_in(ring, index + 1)
			    ? !fetch_sample(ring, index, cost)
			    : fetch_run(ring, index, index + 1, cost) == index)
			break;
		record_end(ring, &sqe, index++, &start);
	}
	return index;
}

/* As fetch_recorded; when the trace is full, the rest goes through fetch_timed. */
static __attribute__((noinline)) uint32_t fetch_traced(struct ring *ring, uint32_t index,
						       uint32_t end)
{
	uint64_t cost = 0;

	index = fetch_recorded(ring, index, end, &cost);
	if (ring->stalled || record_has_room(ring->session))
		return index;
	return fetch_timed(ring, index, end, &cost);
}

/* Fetch all SQEs up to `end`, within one turn.  Returns the first that is left. */
static inline uint32_t fetch_burst(struct ring *ring, uint32_t index, uint32_t end)
{
	uint64_t cost = 0;

	if (__builtin_expect(ring->team != NULL, 0))
		return fetch_returns(ring, index, end);
	if (__builtin_expect(record_has_room(ring->session), 0))
		return fetch_traced(ring, index, end);
	if (__builtin_expect(sample_is_in(ring, end), 0))
		return fetch_timed(ring, index, end, &cost);
	return run_sqes(ring, index, end, &cost);
}

/*
 * Is the next SQE free of stamps, cancels, samples and the like (a trace is allowed), and is there
 * surely a slot for its CQE?
 */
static inline bool is_unwatched(const struct ring *ring)
{
	return !(ring->cancels || ring->stamps || ring->team || ring->dirty) &&
	       !ring->no_completions && !ring->session->memory.tidying &&
	       !quoit_sample_precedes(ring->samples.sq, ring->sq.next + 1) &&
	       !quoit_sample_precedes(ring->samples.watch, ring->cq.next + 1) &&
	       completion_has_plenty(ring);
}

/*
 * Answer the only SQE of the ring, if it is a plain NOP that came in the tail's line and posts a
 * CQE.  Its client waits for it, so the CQE is published before anything is counted.  All else is
 * done as in a burst, except that there is nothing to start afterwards.  False: it is left to the
 * burst.
 */
static inline __attribute__((always_inline)) bool fetch_alone(struct reactor *r, struct ring *ring)
{
	struct session *s = ring->session;
	struct quoit_sqe sqe;
	uint64_t at = 0; /* not 0: the NOP is recorded */

	quoit_ask_to_write(ring->cq.line);
	if (!quoit_ring_carried(&ring->sq, (uint64_t *)&sqe, QUOIT_SQ_CARRIES) ||
	    !is_plain_nop(ring, &sqe) || sqe.flags & QUOIT_SQE_QUIET || !is_unwatched(ring))
		return false;
	probe_fetch(ring, 1);
	if (__builtin_expect(record_has_room(s), 0))
		at = tsc_after_loads(); /* r->now may be from before the NOP came */
	completion_answer(ring, sqe.user_data);
	if (__builtin_expect(at != 0, 0))
		record_nop(ring, at);
	quoit_ring_release(&ring->sq, 1);
	s->jobs_done++;
	s->jobs_fetched++;
	r->count[QUOIT_REACTOR_JOBS]++;
	r->single_answered = true;
	ring->sq_most += !ring->sq_most;
	ring->stalled = false;
	ring->last_work = r->now;
	reactor_charge_only(r, s);
	return true;
}

bool fetch_ring(struct reactor *r, struct ring *ring)
{
	struct session *s = ring->session;
	uint32_t ready = quoit_ring_peek(&ring->sq), index, taken;
	struct session *outer;
	int credits;

	if (!ready)
		return false;
	if (ready == 1 && fetch_alone(r, ring))
		return true;
	reactor_charge(r, s);
	if (s->memory.tidying) {
		ring->stalled = true;
		return false;
	}
	if (ready > ring->layout.sq_entries) {
		reactor_kill(r, s, QUOIT_DAEMON_KILL_RING_TAIL);
		return true;
	}
	credits = completion_credits(ring);
	if (credits < 0) {
		reactor_kill(r, s, QUOIT_DAEMON_KILL_CQ_HEAD);
		return true;
	}
	if (ready > ring->sq_most)
		ring->sq_most = ready;
	if (ready > (uint32_t)credits)
		ready = (uint32_t)credits;
	if (ready > FETCH_BURST)
		ready = FETCH_BURST;
	ring->stalled = !ready; /* a ring without credits is stalled */
	/* The pass may have begun before they came in; stamps and traces would show it. */
	ring->fetched = ring->stamps || record_has_room(s) ? tsc_after_loads() : r->now;
	outer = sigbus_guard_enter(s);
	index = fetch_burst(ring, ring->sq.next, ring->sq.next + ready);
	taken = index - ring->sq.next;
	sigbus_guard_leave(outer);
	if (!taken)
		return ring->stalled && s->holds.count && fetch_releases_ahead(ring);
	probe_fetch(ring, taken);
	quoit_ring_release(&ring->sq, taken);
	if (__builtin_expect(s->awaits_fetch, 0)) {
		s->awaits_fetch = false;
		reactor_unstall_all(r, s);
	}
	s->jobs_fetched += taken;
	r->count[QUOIT_REACTOR_JOBS] += taken;
	ring->last_work = r->now;
	return true;
}
