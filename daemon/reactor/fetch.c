/* SPDX-License-Identifier: MIT */
/* fetch.c - what an SQE becomes: ended, run at once, or a job */
#include "fetch.h"

#include <errno.h>

#include "completion.h"
#include "deps.h"
#include "host/tsc.h"
#include "job.h"
#include "memory/guard.h"
#include "memory/memory.h"
#include "moved.h"
#include "optable.h"
#include "probes.h"
#include "reactor_mail.h"
#include "record.h"
#include "refusal.h"
#include "sample.h"
#include "sched.h"
#include "session/tensor.h"
#include "session/tensor_bits.h"
#include "small.h"
#include "workers/backend_cpu.h"

/*
 * SQEs taken from one ring before the next ring has its turn, and before its client sees the CQEs
 * of the first of them: who waits for those fills no slots meanwhile.
 */
#define FETCH_BURST 64u

/*
 * Slots are asked for so many SQEs ahead: each is a line in the client's cache.  But none that is
 * not filled: the client has asked for that one, to fill it.
 */
#define FETCH_AHEAD 8u

/* When the client says it submitted this SQE; only with QUOIT_RING_STAMPS. */
static uint64_t submit_time(const struct ring *ring, uint32_t sq_index)
{
	return ring->notes[sq_index & (ring->layout.sq_entries - 1)].submit;
}

static struct quoit_error error_of(const struct fault *fault)
{
	return (struct quoit_error){.code = fault->code,
				    .field = fault->field,
				    .value = {fault->value[0], fault->value[1]}};
}

/* The CQE of what never becomes a job, or is none. */
static void post_at_fetch(struct ring *ring, const struct quoit_sqe *sqe, uint32_t sq_index,
			  const struct quoit_error *error)
{
	uint64_t now = ring->fetched;
	struct quoit_stamps stamps = {.fetch = now, .start = now, .end = now, .post = now};

	if (ring->stamps)
		stamps.submit = submit_time(ring, sq_index);
	completion_post(ring, sqe, error->code, error, &stamps);
}

/* The outputs of a valid job that does not run are poisoned, so that no reader takes old bytes. */
static void poison_outputs(struct session *s, const struct ring *ring, const struct quoit_sqe *sqe,
			   const struct plan *plan, int32_t res, struct quoit_error cause)
{
	if (res != -QUOIT_EPOISON) {
		cause.code = res;
		cause.cause = sqe->user_data;
		cause.opcode = sqe->opcode;
		cause.ring = (uint16_t)ring->index;
	}
	for_each_tensor (i, plan->writes)
		view_written(s, plan->t[i], plan->reads & 1u << i, res, &cause);
}

static void count_refusal(struct session *s, int32_t code)
{
	s->jobs_refused++;
	s->reactor->count[refusal_counter(code)]++;
}

/* A CREATE, VIEW or FREE was refused; -EAGAIN: it is to come again. */
static __attribute__((cold)) int refuse_control(struct ring *ring, const struct quoit_sqe *sqe,
						uint32_t sq_index, int err,
						const struct fault *fault)
{
	struct quoit_error error;

	if (err == -EAGAIN)
		return err;
	error = error_of(fault);
	ring->session->jobs_failed++;
	count_refusal(ring->session, fault->code);
	probe_refuse(ring, sqe, sq_index, fault);
	post_at_fetch(ring, sqe, sq_index, &error);
	return 0;
}

/* As refuse_control, or it has been done. */
static inline int end_control(struct ring *ring, const struct quoit_sqe *sqe, uint32_t sq_index,
			      int err, const struct fault *fault)
{
	if (__builtin_expect(err, 0))
		return refuse_control(ring, sqe, sq_index, err, fault);
	ring->session->jobs_done++;
	if (!(sqe->flags & QUOIT_SQE_QUIET))
		post_at_fetch(ring, sqe, sq_index, &(struct quoit_error){0});
	return 0;
}

static struct buffer *buffer_of(const struct session *s, const struct plan *plan, unsigned i)
{
	return &s->buffers[plan->t[i]->buffer];
}

/* Does the job write all of the tensor's buffer, without reading it? */
static bool overwrites(const struct session *s, const struct plan *plan, unsigned i)
{
	const struct view *v = plan->t[i];

	return plan->writes & ~plan->reads & 1u << i && v->covers && !v->lo &&
	       v->hi == s->buffers[v->buffer].size;
}

/*
 * Can it run at this very moment?  Short, with nobody before it on its bytes, and the
 * bytes there.  Bits of *ret_zero: buffers to clear first.
 */
static bool can_run_now(struct session *s, const struct quoit_sqe *sqe, const struct plan *plan,
			uint8_t *ret_zero)
{
	uint8_t unclear = 0, lacking = 0;

	*ret_zero = 0;
	if (sqe->flags & (QUOIT_SQE_LINK | QUOIT_SQE_AFTER_ALL) || plan->cost >= SCHED_INLINE_NS ||
	    plan->row->flags & (OP_FILE | OP_MODULE | OP_LAUNCH) || plan->on_device)
		return false;
	for_each_tensor (i, plan->tensors) {
		const struct buffer *b = buffer_of(s, plan, i);

		if (deps_conflict(s, plan->t[i], plan->writes & 1u << i))
			return false;
		if (b->zeroed)
			continue;
		lacking |= (uint8_t)(!b->reserved << i);
		if (overwrites(s, plan, i))
			continue;
		if (b->size > MEMORY_INLINE_BYTES)
			return false;
		unclear |= (uint8_t)(1u << i);
	}
	if (lacking && !memory_take_now(s, lacking, plan->view))
		return false;
	for_each_tensor (i, unclear) /* new pages are zero */
		if (!buffer_of(s, plan, i)->zeroed)
			*ret_zero |= (uint8_t)(1u << i);
	return true;
}

/* Run a job that waits for nothing, without making an entry for it. */
static void run_now(struct ring *ring, const struct quoit_sqe *sqe, uint32_t sq_index,
		    const struct plan *plan, uint8_t zero)
{
	struct session *s = ring->session;
	struct quoit_error error = {0};
	int32_t res = 0;

	for_each_tensor (i, plan->tensors)
		buffer_of(s, plan, i)->zeroed = true;
	if (s->any_poison)
		for_each_tensor (i, plan->reads)
			if (!res && view_is_poisoned(s, plan->t[i], &error))
				res = -QUOIT_EPOISON;
	if (!res)
		res = cpu_run(s, sqe, plan->tensors, plan->view, zero, &error);
	else if (zero)
		cpu_clear(s, plan->view, zero);
	if (plan->writes && (res < 0 || s->any_poison))
		poison_outputs(s, ring, sqe, plan, res, error);
	if (res < 0) {
		s->jobs_failed++;
	} else {
		s->jobs_done++;
		legs_move(s, sqe->opcode, moved_at_fetch(s, sqe, plan));
	}
	s->jobs_inline++;
	if (ring->stamps || res < 0 || !(sqe->flags & QUOIT_SQE_QUIET)) {
		struct quoit_stamps stamps = {.fetch = ring->fetched};

		if (ring->stamps) {
			stamps.submit = submit_time(ring, sq_index);
			stamps.start = ring->fetched;
			stamps.end = stamps.post = tsc_now();
		}
		completion_post(ring, sqe, res, &error, &stamps);
	}
}

/* Was this SQ index cancelled before it was fetched? */
static bool is_cancelled(const struct ring *ring, uint32_t sq_index)
{
	for (uint32_t i = 0; i < ring->cancels; i++)
		if (ring->cancel[i] == sq_index)
			return true;
	return false;
}

/* It is fetched now, as a job or not: an index comes again after a wrap. */
static void forget_cancel(struct ring *ring, uint32_t sq_index)
{
	for (uint32_t i = ring->cancels; i-- > 0;)
		if (ring->cancel[i] == sq_index)
			ring->cancel[i] = ring->cancel[--ring->cancels];
}

/* As job_admit, and counted. */
static int admit(struct ring *ring, const struct quoit_sqe *sqe, const struct plan *plan,
		 uint32_t sq_index)
{
	int err = job_admit(ring, sqe, plan, sq_index, ring->fetched, sched_push);

	if (!err)
		depth_enter(&ring->session->reactor->open, ring->fetched);
	return err;
}

/*
 * A cancelled job takes its place in the order of things all the same, so that its outputs
 * are poisoned for those behind it and not for those before it.
 */
static int admit_cancelled(struct ring *ring, const struct quoit_sqe *sqe, const struct plan *plan,
			   uint32_t sq_index)
{
	struct session *s = ring->session;
	int err = admit(ring, sqe, plan, sq_index);

	if (err)
		return err;
	job_fail_early(s, deps_ring_find(ring, sq_index), -ECANCELED, ring->fetched);
	memory_advance(s, sched_push);
	return 0;
}

static bool has_conflict(struct session *s, const struct plan *plan)
{
	for_each_tensor (i, plan->writes)
		if (deps_conflict(s, plan->t[i], true))
			return true;
	return false;
}

/*
 * What a refused job should have written is poisoned, too: at once, or in its place behind those
 * that use it now.  -EAGAIN: for that, there is no room in the tables.
 */
static int refuse_job(struct ring *ring, const struct quoit_sqe *sqe, uint32_t sq_index,
		      const struct fault *fault)
{
	/* Of all that it says, only who it is can be used. */
	const struct quoit_sqe bare = {.opcode = sqe->opcode, .user_data = sqe->user_data};
	struct session *s = ring->session;
	struct quoit_error error = error_of(fault);
	struct plan plan;

	validate_outputs(s, sqe, &plan);
	if (!has_conflict(s, &plan)) {
		poison_outputs(s, ring, sqe, &plan, fault->code, error);
		s->jobs_failed++;
	} else {
		int err = admit(ring, &bare, &plan, sq_index);

		if (err)
			return err;
		job_refuse(s, deps_ring_find(ring, sq_index), &error);
	}
	count_refusal(s, fault->code);
	probe_refuse(ring, sqe, sq_index, fault);
	post_at_fetch(ring, sqe, sq_index, &error);
	return 0;
}

/* Run it here if it is one of the many that small.c knows by heart. */
static bool run_small(struct session *s, const struct quoit_sqe *sqe, uint64_t *cost)
{
	if (!(sqe->flags & QUOIT_SQE_QUIET) || !small_run(s, sqe, cost))
		return false;
	s->jobs_done++;
	s->jobs_inline++;
	return true;
}

/*
 * A NOP that asks for nothing but its CQE, or for that of a moment that has come: all words zero
 * but user_data, no flag but QUIET and, with no job of the ring open, AFTER_ALL.
 */
static inline bool is_plain_nop(const struct ring *ring, const struct quoit_sqe *sqe)
{
	const uint64_t *word = (const uint64_t *)sqe;
	uint64_t flags = QUOIT_SQE_QUIET | (ring->jobs ? 0 : QUOIT_SQE_AFTER_ALL);

	return !(word[0] & ~(flags << 8)) && !(word[2] | word[3] | word[4]) &&
	       !(word[5] | word[6] | word[7]);
}

/* An operation that computes, or a NOP that wants more than its CQE. */
static int fetch_job(struct ring *ring, const struct quoit_sqe *sqe, uint32_t sq_index,
		     uint64_t *cost)
{
	struct session *s = ring->session;
	struct fault fault; /* filled in where something is refused */
	struct plan plan;
	uint8_t zero;
	int err = validate_job(s, sqe, &plan, &fault);

	if (err) {
		*cost += SCHED_JOB_NS;
		return refuse_job(ring, sqe, sq_index, &fault);
	}
	if (ring->cancels && is_cancelled(ring, sq_index))
		return admit_cancelled(ring, sqe, &plan, sq_index);
	if (can_run_now(s, sqe, &plan, &zero)) {
		run_now(ring, sqe, sq_index, &plan, zero);
		*cost += plan.cost;
		for_each_tensor (i, zero)
			*cost += buffer_of(s, &plan, i)->size / SCHED_CLEAR_BYTES_PER_NS;
		return 0;
	}
	*cost += SCHED_JOB_NS;
	return admit(ring, sqe, &plan, sq_index);
}

/*
 * One SQE; plain: of a ring without stamps and cancels.  -EAGAIN: a table of the session is
 * full; nothing was done, try again later.  Part of the loop below, where most of it is for most
 * SQEs.
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

/* A private copy of an SQE that its client may be changing. */
static inline void copy_sqe(const struct ring *ring, const struct quoit_sqe *sqes, uint32_t mask,
			    uint32_t index, struct quoit_sqe *ret)
{
	if (ring->sq.cached_tail - index > FETCH_AHEAD)
		__builtin_prefetch(&sqes[(index + FETCH_AHEAD) & mask]);
	quoit_ring_copy((uint64_t *)ret, (const uint64_t *)&sqes[index & mask],
			sizeof *ret / sizeof(uint64_t));
}

/* SQEs from `index` on, up to `end` or until they have cost a turn; the first that is left. */
static inline __attribute__((always_inline)) uint32_t run_sqes(struct ring *ring, uint32_t index,
							       uint32_t end, uint64_t *cost)
{
	const struct quoit_sqe *sqes = ring->sqes;
	const uint32_t mask = ring->layout.sq_entries - 1;
	bool plain = !ring->cancels && !ring->stamps;
	uint32_t counted = index; /* those before it have been, by their operations */
	uint8_t opcode = QUOIT_OP_NOP;

	for (; index != end && *cost < SCHED_TURN_NS; index++) {
		struct quoit_sqe sqe;

		copy_sqe(ring, sqes, mask, index, &sqe);
		if (sqe.opcode != opcode) {
			legs_count(ring->session, opcode, index - counted);
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
	legs_count(ring->session, opcode, index - counted);
	return index;
}

/* For those that are watched on their way; for who is not, it is part of fetch_ring. */
static __attribute__((noinline)) uint32_t fetch_run(struct ring *ring, uint32_t index, uint32_t end,
						    uint64_t *cost)
{
	return run_sqes(ring, index, end, cost);
}

/* The one SQE that is the next sample, timed; false: it is left. */
static bool fetch_sample(struct ring *ring, uint32_t index, uint64_t *cost)
{
	struct session *s = ring->session;
	struct sample sample = sample_begin(ring, index);
	uint64_t jobs = s->order;
	uint8_t opcode = __atomic_load_n(&ring->sqes[index & (ring->layout.sq_entries - 1)].opcode,
					 __ATOMIC_RELAXED);

	if (fetch_run(ring, index, index + 1, cost) == index)
		return false;
	if (s->order != jobs)
		sample_is_job(ring, &sample, deps_ring_find(ring, index));
	else
		sample_was_run(ring, &sample, opcode);
	return true;
}

/* SQEs from `index` on, as fetch_run, with samples among them. */
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

/* As fetch_timed, one by one, each into the session's trace while there is room. */
static uint32_t fetch_recorded(struct ring *ring, uint32_t index, uint32_t end, uint64_t *cost)
{
	uint64_t start = ring->fetched;

	while (index != end && *cost < SCHED_TURN_NS && record_has_room(ring->session)) {
		struct record_sqe sqe = record_begin(ring, index);

		if (sample_is_in(ring, index + 1)
			    ? !fetch_sample(ring, index, cost)
			    : fetch_run(ring, index, index + 1, cost) == index)
			break;
		record_end(ring, &sqe, index++, &start);
	}
	return index;
}

/* As fetch_recorded, and what is left is dropped from the trace. */
static __attribute__((noinline)) uint32_t fetch_traced(struct ring *ring, uint32_t index,
						       uint32_t end)
{
	struct session *s = ring->session;
	uint32_t first;
	uint64_t cost = 0, jobs;

	index = fetch_recorded(ring, index, end, &cost);
	if (ring->stalled || record_has_room(s))
		return index;
	first = index;
	jobs = s->order;
	index = fetch_timed(ring, index, end, &cost);
	record_drop(s, index - first, s->order - jobs);
	return index;
}

/* All of them, in one turn; the first that is left. */
static inline uint32_t fetch_burst(struct ring *ring, uint32_t index, uint32_t end)
{
	uint64_t cost = 0;

	if (__builtin_expect(ring->session->trace != NULL, 0))
		return fetch_traced(ring, index, end);
	if (__builtin_expect(sample_is_in(ring, end), 0))
		return fetch_timed(ring, index, end, &cost);
	return run_sqes(ring, index, end, &cost);
}

bool fetch_ring(struct reactor *r, struct ring *ring)
{
	struct session *s = ring->session;
	bool looks = ring->sq.cached_tail == ring->sq.next; /* at the client's line */
	uint32_t ready = quoit_ring_peek(&ring->sq), index, taken;
	struct session *outer;
	int credits;

	if (!ready)
		return false;
	if (looks)
		sample_look(ring, ready);
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
	ring->stalled = !ready; /* for want of credits */
	/* The pass may have begun before the client put them in, and who has stamps, or records it,
	 * would see it.
	 */
	ring->fetched = ring->stamps || record_has_room(s) ? tsc_now() : r->now;
	outer = guard_enter(s);
	index = fetch_burst(ring, ring->sq.next, ring->sq.next + ready);
	taken = index - ring->sq.next;
	guard_leave(outer);
	if (!taken)
		return false;
	probe_fetch(ring, taken);
	quoit_ring_release(&ring->sq, taken);
	s->jobs_fetched += taken;
	r->count[QUOIT_REACTOR_JOBS] += taken;
	ring->last_work = r->now;
	return true;
}
