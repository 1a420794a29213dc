/* SPDX-License-Identifier: MIT */
/* fetch_job.c - SQEs that need more than fetch.c does: refused, run here, or made a job */
#include "fetch_job.h"

#include <errno.h>

#include "backend/cpu/backend_cpu.h"
#include "backend/service/callers.h"
#include "base/tsc.h"
#include "job/bytes_moved.h"
#include "job/completion.h"
#include "job/deps.h"
#include "job/hold.h"
#include "job/job.h"
#include "job/probes.h"
#include "job/sched.h"
#include "memory/memory.h"
#include "observe/latency.h"
#include "observe/refusal_counter.h"
#include "ops/optable.h"
#include "reactor.h"
#include "reactor_mail.h"
#include "reactor_rings.h"
#include "session/poison.h"
#include "session/tensor_bits.h"

/* When the client says it submitted this SQE; only with QUOIT_RING_STAMPS. */
static uint64_t submit_time(const struct ring *ring, uint32_t sq_index)
{
	return ring->notes[sq_index & (ring->layout.sq_entries - 1)].submit;
}

static struct quoit_error error_of(const struct fault *fault)
{
	return (struct quoit_error){.code = (int16_t)fault->code,
				    .field = fault->field,
				    .value = {fault->value[0], fault->value[1]}};
}

/* Post the CQE of an SQE that does not become a job, or of a refused one. */
static void post_at_fetch(struct ring *ring, const struct quoit_sqe *sqe, uint32_t sq_index,
			  const struct quoit_error *error)
{
	uint64_t now = ring->fetched;
	struct quoit_stamps stamps = {.fetch = now, .start = now, .end = now, .post = now};

	if (ring->stamps)
		stamps.submit = submit_time(ring, sq_index);
	completion_post(ring, sqe, error->code, error, &stamps);
}

/* Poison the outputs of a valid job that does not run, so that no reader takes old bytes. */
static void poison_outputs(struct session *s, const struct ring *ring, const struct quoit_sqe *sqe,
			   const struct plan *plan, int32_t res, struct quoit_error cause)
{
	if (res != -QUOIT_EPOISON) {
		cause.code = (int16_t)res;
		completion_name_cause(&cause, ring, sqe);
	}
	for_each_tensor (i, plan->writes)
		view_written(s, plan->t[i], plan->reads & 1u << i, res, &cause);
}

static void count_refusal(struct session *s, int32_t code)
{
	s->jobs_refused++;
	s->reactor->count[refusal_counter(code)]++;
}

/* ---- CREATE, VIEW, FREE ---- */

int fetch_refuse_control(struct ring *ring, const struct quoit_sqe *sqe, uint32_t sq_index, int err,
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

void fetch_post_control(struct ring *ring, const struct quoit_sqe *sqe, uint32_t sq_index)
{
	post_at_fetch(ring, sqe, sq_index, &(struct quoit_error){0});
}

/* ---- run at once ---- */

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
 * Can the job run at this moment?  It must be short, no job before it may use its bytes, and the
 * bytes must be there.  Bits of *ret_zero: buffers to clear first.
 */
static bool can_run_now(struct session *s, const struct quoit_sqe *sqe, const struct plan *plan,
			uint8_t *ret_zero)
{
	uint8_t unclear = 0, lacking = 0;

	*ret_zero = 0;
	if (sqe->flags & (QUOIT_SQE_LINK | QUOIT_SQE_EVENT | QUOIT_SQE_AFTER_ALL) ||
	    plan->cost >= SCHED_INLINE_NS || plan->row->flags & OP_ELSEWHERE || plan->on_device)
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
	for_each_tensor (i, unclear) /* pages that memory_take_now has brought are zero */
		if (!buffer_of(s, plan, i)->zeroed)
			*ret_zero |= (uint8_t)(1u << i);
	return true;
}

/* Run a job that waits for nothing, without an entry in the table. */
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
		latency_count_bytes(s, sqe->opcode, bytes_moved_at_fetch(s, sqe, plan));
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

/* ---- admit or refuse a job ---- */

/* Was this SQ index cancelled before it was fetched? */
static bool is_cancelled(const struct ring *ring, uint32_t sq_index)
{
	for (uint32_t i = 0; i < ring->cancels; i++)
		if (ring->cancel[i] == sq_index)
			return true;
	return false;
}

/*
 * job_admit, and count the job.  A session with a trace gets an exact time of fetch: the trace may
 * have room when the job ends, and the pass may have begun before the client put the SQE in.
 */
static int admit(struct ring *ring, const struct quoit_sqe *sqe, const struct plan *plan,
		 uint32_t sq_index)
{
	uint64_t fetched = ring->session->trace ? tsc_after_loads() : ring->fetched;
	int err = job_admit(ring, sqe, plan, sq_index, fetched, sched_push);

	if (err)
		return err;
	depth_enter(&ring->session->reactor->open, fetched);
	ring->session->may_follow |= plan->cost >= SCHED_INLINE_NS;
	/* If an acquire fails, what the program would have written is as it was: no poison. */
	if (plan->row && plan->row->flags & OP_ACQUIRE)
		deps_ring_find(ring, sq_index)->writes = 0;
	if (sqe->opcode == QUOIT_OP_CALL && sqe->team >= QUOIT_TEAM_SERVICE)
		callers_enter(ring->session, deps_ring_find(ring, sq_index));
	return 0;
}

/*
 * A cancelled job keeps its place in the order, so that its outputs are poisoned for the jobs
 * behind it and not for those before it.
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
 * Refuse a job and poison what it should have written: at once or, if open jobs use it now, in its
 * place behind them.  -EAGAIN: the tables have no room for that.
 */
static int refuse_job(struct ring *ring, const struct quoit_sqe *sqe, uint32_t sq_index,
		      const struct fault *fault)
{
	/* Of a refused SQE only the opcode and user_data can be trusted. */
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

/* ---- what the program holds ---- */

static int release(struct ring *ring, const struct quoit_sqe *sqe, uint32_t sq_index)
{
	struct session *s = ring->session;
	int err = hold_release(ring, (uint32_t)sqe->scalar[0], ring->fetched, sched_push);
	struct fault fault;

	if (err < 0) {
		refuse(&fault, err, QUOIT_FIELD_SCALAR0, sqe->scalar[0], 0);
		return fetch_refuse_control(ring, sqe, sq_index, err, &fault);
	}
	reactor_attend(s->reactor, s);
	reactor_unstall_all(s->reactor, s);
	s->jobs_done++;
	if (!(sqe->flags & QUOIT_SQE_QUIET))
		fetch_post_control(ring, sqe, sq_index);
	return 0;
}

/*
 * SQEs that one call looks at.  Each may be a RELEASE, which is looked for among all that the
 * session holds.
 */
#define LOOK_AHEAD 64u

/* Is it a RELEASE that its fetch will accept? */
static bool is_release(const struct session *s, const struct quoit_sqe *sqe)
{
	struct fault fault;
	struct plan plan;

	return sqe->opcode == QUOIT_OP_RELEASE && !validate_job(s, sqe, &plan, &fault);
}

/* Carry out the releases among the SQEs before `end`; true: there were some. */
static bool release_ahead(struct ring *ring, uint32_t end)
{
	bool any = false;

	for (; ring->looked_ahead != end; ring->looked_ahead++) {
		uint32_t slot = ring->looked_ahead & (ring->layout.sq_entries - 1);
		struct quoit_sqe sqe;

		quoit_ring_copy((uint64_t *)&sqe, (const uint64_t *)&ring->sqes[slot],
				sizeof sqe / sizeof(uint64_t));
		if (is_release(ring->session, &sqe))
			any |= hold_release_ahead(ring, (uint32_t)sqe.scalar[0], ring->fetched,
						  sched_push);
	}
	return any;
}

bool fetch_releases_ahead(struct ring *ring)
{
	struct session *s = ring->session;
	/* quoit_ring_peek does not load it again while there are SQEs that it knows. */
	uint32_t tail = QUOIT_RING_TAIL(&ring->sq, QUOIT_RING_ACQUIRE); /* A1 */
	uint32_t next = ring->sq.next, left;

	if (ring->looked_ahead - next > ring->layout.sq_entries)
		ring->looked_ahead = next; /* all of those have been fetched */
	if (tail - next > ring->layout.sq_entries || ring->looked_ahead - next > tail - next) {
		reactor_kill(s->reactor, s, QUOIT_DAEMON_KILL_RING_TAIL);
		return true;
	}
	left = tail - ring->looked_ahead;
	if (!left)
		return false;
	reactor_charge(s->reactor, s);
	ring->last_work = s->reactor->now; /* so that it stays polled until all are looked at */
	if (release_ahead(ring, ring->looked_ahead + (left < LOOK_AHEAD ? left : LOOK_AHEAD)))
		reactor_unstall_all(s->reactor, s);
	return true;
}

/* ---- events of other rings ---- */

/*
 * Has the SQE that the event names been fetched?  Only then is its job known, and what was put in
 * before it, such as the CREATE of a tensor.  -EAGAIN: not yet.
 */
static int find_event(struct ring *ring, const struct quoit_sqe *sqe, uint32_t sq_index,
		      struct fault *f)
{
	struct session *s = ring->session;
	const struct ring *of;

	if (sqe->event_ring >= s->ring_count)
		return refuse(f, -EINVAL, QUOIT_FIELD_EVENT, sqe->event_ring, sqe->link);
	of = s->rings[sqe->event_ring];
	if (!of) /* it was closed, when its jobs had ended */
		return 0;
	if (of == ring) /* those that are taken in this burst count as fetched */
		return (int32_t)(sqe->link - sq_index) < 0
			       ? 0
			       : refuse(f, -EINVAL, QUOIT_FIELD_EVENT, sqe->event_ring, sqe->link);
	if ((int32_t)(sqe->link - of->sq.next) < 0)
		return 0;
	if (sqe->link - of->sq.next >= of->layout.sq_entries)
		return refuse(f, -EINVAL, QUOIT_FIELD_EVENT, sqe->event_ring, sqe->link);
	s->awaits_fetch = true;
	return -EAGAIN;
}

int fetch_job(struct ring *ring, const struct quoit_sqe *sqe, uint32_t sq_index, uint64_t *cost)
{
	struct session *s = ring->session;
	struct fault fault; /* set where something is refused */
	struct plan plan;
	bool cancelled = ring->cancels && is_cancelled(ring, sq_index);
	uint8_t zero;
	int err = 0;

	if (__builtin_expect(sqe->flags & QUOIT_SQE_EVENT, 0) && !cancelled)
		err = find_event(ring, sqe, sq_index, &fault);
	if (err == -EAGAIN)
		return err;
	if (!err)
		err = validate_job(s, sqe, &plan, &fault);
	if (err) {
		*cost += SCHED_JOB_NS;
		return refuse_job(ring, sqe, sq_index, &fault);
	}
	if (cancelled && !(plan.row->flags & OP_RELEASE))
		return admit_cancelled(ring, sqe, &plan, sq_index);
	if (can_run_now(s, sqe, &plan, &zero)) {
		run_now(ring, sqe, sq_index, &plan, zero);
		*cost += plan.cost;
		for_each_tensor (i, zero)
			*cost += buffer_of(s, &plan, i)->size / SCHED_CLEAR_BYTES_PER_NS;
		return 0;
	}
	*cost += SCHED_JOB_NS;
	if (plan.row->flags & OP_RELEASE)
		return release(ring, sqe, sq_index);
	return admit(ring, sqe, &plan, sq_index);
}
