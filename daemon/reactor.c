/* SPDX-License-Identifier: MIT */
/*
 * reactor.c - the flow of a job, from its SQE to its CQE
 *
 *	fetch -> validate -> deps, memory -> sched -> backend -> complete
 *
 * This is the one file that names the stages in order; they do not know each other.
 */
#include "reactor.h"

#include <errno.h>
#include <string.h>

#include "backend_cpu.h"
#include "completion.h"
#include "deps.h"
#include "guard.h"
#include "job.h"
#include "log.h"
#include "memory.h"
#include "optable.h"
#include "reactor_idle.h"
#include "reactor_mail.h"
#include "sched.h"
#include "tensor.h"
#include "tsc.h"

/* SQEs taken from one ring before the next ring has its turn. */
#define FETCH_BURST 64u

/* Predicted nanoseconds of jobs run in one turn of a ring or session, about. */
#define TURN_NS 50000u

/* ---- complete ---- */

static void touch(struct reactor *r, struct ring *ring)
{
	if (ring->dirty && !ring->queued) {
		ring->queued = true;
		ring->next_dirty = r->dirty;
		r->dirty = ring;
	}
}

static void flush(struct reactor *r)
{
	struct ring *next;

	for (struct ring *ring = r->dirty; ring; ring = next) {
		next = ring->next_dirty;
		ring->queued = false;
		if (!ring->session->dead)
			completion_flush(ring);
	}
	r->dirty = NULL;
}

static void on_ready(struct session *s, struct job *job)
{
	sched_push(s, job);
}

void reactor_end_job(struct reactor *r, struct session *s, struct job *job, int32_t res)
{
	struct ring *ring = s->rings[job->ring];

	job_end(s, job, res, tsc_now(), on_ready);
	touch(r, ring);
	r->count[QUOIT_REACTOR_JOBS]++;
}

/* ---- fetch ---- */

/* An SQE that never becomes a job has ended: with its CQE, or silently. */
static void end_at_fetch(struct ring *ring, const struct quoit_sqe *sqe, int32_t res,
			 const struct fault *fault)
{
	struct session *s = ring->session;
	struct quoit_error error = {.code = res};
	struct quoit_stamps stamps = {.fetch = s->reactor->now, .post = s->reactor->now};

	if (fault && res < 0) {
		error.field = fault->field;
		error.value[0] = fault->value[0];
		error.value[1] = fault->value[1];
	}
	if (res < 0) {
		s->jobs_failed++;
		s->jobs_refused += fault != NULL;
	} else {
		s->jobs_done++;
	}
	completion_post(ring, sqe, res, &error, &stamps);
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
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (plan->writes & 1u << i)
			view_written(s, &s->views[plan->view[i]], plan->reads & 1u << i, res,
				     &cause);
}

static int control(struct session *s, const struct quoit_sqe *sqe, struct fault *fault)
{
	switch (sqe->opcode) {
	case QUOIT_OP_CREATE:
		return tensor_create(s, sqe, fault);
	case QUOIT_OP_VIEW:
		return tensor_view(s, sqe, fault);
	default:
		return tensor_free(s, sqe, fault);
	}
}

/*
 * Can it run at this very moment?  Short, with nobody before it on its bytes, and the
 * bytes there.  Bits of *ret_zero: buffers to clear first.
 */
static bool can_run_now(struct session *s, const struct quoit_sqe *sqe, const struct plan *plan,
			uint8_t *ret_zero)
{
	const struct op_row *row = optable_find(sqe->opcode);

	*ret_zero = 0;
	if (sqe->flags & (QUOIT_SQE_LINK | QUOIT_SQE_AFTER_ALL) || plan->cost >= SCHED_INLINE_NS ||
	    row->flags & (OP_FILE | OP_MODULE))
		return false;
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const struct view *v;
		struct buffer *b;

		if (!(plan->tensors & 1u << i))
			continue;
		v = &s->views[plan->view[i]];
		b = &s->buffers[v->buffer];
		if (deps_conflict(s, v, plan->writes & 1u << i))
			return false;
		if (!b->reserved && !memory_take_now(s, b))
			return false;
		if (b->zeroed)
			continue;
		if (plan->writes & 1u << i && !(plan->reads & 1u << i) && v->covers && !v->lo &&
		    v->hi == b->size)
			continue;
		if (b->size > MEMORY_INLINE_BYTES)
			return false;
		*ret_zero |= (uint8_t)(1u << i);
	}
	return true;
}

/* Run a job that waits for nothing, without making an entry for it. */
static void run_now(struct ring *ring, const struct quoit_sqe *sqe, const struct plan *plan,
		    uint8_t zero)
{
	struct session *s = ring->session;
	struct quoit_error error = {0};
	int32_t res = 0;

	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		if (!(plan->tensors & 1u << i))
			continue;
		s->buffers[s->views[plan->view[i]].buffer].zeroed = true;
		if (plan->reads & 1u << i && !res &&
		    view_is_poisoned(s, &s->views[plan->view[i]], &error))
			res = -QUOIT_EPOISON;
	}
	if (!res)
		res = cpu_run(s, sqe, plan->tensors, plan->view, zero, &error);
	if (plan->writes && (res < 0 || s->any_poison)) {
		s->any_poison = true;
		poison_outputs(s, ring, sqe, plan, res, error);
	}
	if (res < 0)
		s->jobs_failed++;
	else
		s->jobs_done++;
	s->jobs_inline++;
	if (ring->stamps || res < 0 || !(sqe->flags & QUOIT_SQE_QUIET)) {
		struct quoit_stamps stamps = {.fetch = s->reactor->now};

		if (ring->stamps) {
			stamps.start = s->reactor->now;
			stamps.end = stamps.post = tsc_now();
		}
		completion_post(ring, sqe, res, &error, &stamps);
	}
}

/* Was this SQ index cancelled before it was fetched? */
static bool take_cancel(struct ring *ring, uint32_t sq_index)
{
	for (uint32_t i = 0; i < ring->cancels; i++)
		if (ring->cancel[i] == sq_index) {
			ring->cancel[i] = ring->cancel[--ring->cancels];
			return true;
		}
	return false;
}

/* One SQE.  -EAGAIN: a table of the session is full; nothing was done, try again later. */
static int fetch_one(struct ring *ring, const struct quoit_sqe *sqe, uint32_t sq_index,
		     uint64_t *cost)
{
	struct session *s = ring->session;
	struct fault fault = {0};
	struct plan plan;
	uint8_t zero;
	int err;

	if (sqe->opcode >= QUOIT_OP_CREATE && sqe->opcode <= QUOIT_OP_FREE) {
		err = control(s, sqe, &fault);
		if (err != -EAGAIN)
			end_at_fetch(ring, sqe, err, &fault);
		return err == -EAGAIN ? err : 0;
	}
	err = validate_job(s, sqe, &plan, &fault);
	if (!err && ring->cancels && take_cancel(ring, sq_index))
		err = -ECANCELED;
	if (err) {
		if (err == -ECANCELED)
			poison_outputs(s, ring, sqe, &plan, err, (struct quoit_error){0});
		end_at_fetch(ring, sqe, err, &fault);
		return 0;
	}
	if (can_run_now(s, sqe, &plan, &zero)) {
		run_now(ring, sqe, &plan, zero);
		*cost += plan.cost;
		return 0;
	}
	return job_admit(ring, sqe, &plan, sq_index, s->reactor->now, on_ready);
}

/* Take what the ring has, up to a burst; true: something was done. */
static bool fetch_ring(struct reactor *r, struct ring *ring)
{
	struct session *s = ring->session;
	uint32_t ready = quoit_ring_peek(&ring->sq), taken = 0;
	uint64_t cost = 0;
	int credits;

	if (!ready)
		return false;
	if (ready > ring->layout.sq_entries) {
		reactor_kill(r, s, QUOIT_DAEMON_KILL_RING_TAIL);
		return true;
	}
	credits = completion_credits(ring);
	if (credits < 0) {
		reactor_kill(r, s, QUOIT_DAEMON_KILL_CQ_HEAD);
		return true;
	}
	if (ready > (uint32_t)credits)
		ready = (uint32_t)credits;
	if (ready > FETCH_BURST)
		ready = FETCH_BURST;
	guard_enter(s);
	while (taken < ready && cost < TURN_NS) {
		uint32_t index = ring->sq.next + taken;
		struct quoit_sqe sqe;

		quoit_ring_copy(
			(uint64_t *)&sqe,
			(const uint64_t *)&ring->sqes[index & (ring->layout.sq_entries - 1)],
			sizeof sqe / sizeof(uint64_t));
		if (fetch_one(ring, &sqe, index, &cost) < 0)
			break;
		taken++;
	}
	guard_leave();
	ring->stalled = taken < ready || ready == 0;
	if (!taken)
		return false;
	quoit_ring_release(&ring->sq, taken);
	s->jobs_fetched += taken;
	ring->last_work = r->now;
	touch(r, ring);
	return true;
}

static bool fetch(struct reactor *r)
{
	bool any = false;

	for (uint32_t i = 0; i < r->active_count; i++) {
		struct ring *ring = r->rings[i];

		if (!ring->session->stopped)
			any |= fetch_ring(r, ring);
		if (ring->dirty && r->active_count > 1)
			flush(r); /* the first client need not wait for the last one's turn */
	}
	return any;
}

/* ---- start: from the queues of ready jobs to a backend ---- */

static bool clear_is_long(const struct session *s, const struct job *job)
{
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (job->zero & 1u << i &&
		    s->buffers[s->views[job->view[i]].buffer].size > MEMORY_INLINE_BYTES)
			return true;
	return false;
}

/* What is known about a job before it starts: 0, or why it does not. */
static int32_t verdict(struct session *s, struct job *job, uint64_t now)
{
	if (job->failed)
		return job->failed;
	if (job->reads && job_is_poisoned(s, job))
		return -QUOIT_EPOISON;
	if (job->deadline && now >= job->deadline)
		return -ETIME;
	if (job->tensors && memory_lacking(s, job))
		return -ENOMEM;
	return 0;
}

static int publish(struct reactor *r, struct session *s, struct job *job)
{
	int err = cpu_publish(s, job, r->port);

	if (err < 0)
		return err;
	job->state = JOB_RUNNING;
	job->start = r->now;
	s->published++;
	s->jobs_tiled++;
	return 0;
}

/* Start a ready job.  -EBUSY: its backend has no room. */
static int start(struct reactor *r, struct session *s, struct job *job)
{
	const struct op_row *row = optable_find(job->sqe.opcode);
	int32_t res = verdict(s, job, r->now);

	if (res < 0)
		job->failed = res;
	if (job->zero && (clear_is_long(s, job) || row->flags & (OP_FILE | OP_MODULE)))
		return publish(r, s, job);
	if (res < 0 || sched_is_short(&job->sqe, job->cost)) {
		job->start = tsc_now();
		if (!res)
			res = cpu_run(s, &job->sqe, job->tensors, job->view, job->zero,
				      &job->error);
		job->end = tsc_now();
		s->jobs_inline++;
		reactor_end_job(r, s, job, res);
		return 0;
	}
	return publish(r, s, job);
}

static bool start_short(struct reactor *r, struct session *s)
{
	uint64_t cost = 0;
	struct job *job;
	bool any = false;

	while (cost < TURN_NS && (job = sched_next_short(s)) != NULL) {
		cost += job->cost;
		if (start(r, s, job) < 0) {
			sched_put_back(s, job);
			break;
		}
		any = true;
	}
	return any;
}

static bool start_long(struct reactor *r, struct session *s)
{
	struct job *job;
	bool any = false;

	while ((job = sched_next_long(s)) != NULL) {
		if (start(r, s, job) < 0) {
			sched_put_back(s, job);
			break;
		}
		any = true;
	}
	return any;
}

static bool start_ready(struct reactor *r)
{
	bool any = false;

	for (struct session *s = r->sessions; s; s = s->next) {
		if (s->ready_jobs) {
			any |= start_short(r, s);
			any |= start_long(r, s);
		}
		if (s->vanished && !s->stopped)
			reactor_kill(r, s, QUOIT_DAEMON_KILL_MEM_VANISHED);
	}
	return any;
}

/* ---- answers: of workers, of the memory thread ---- */

/* The tiles are done.  A job that also needs another backend only had its buffers cleared. */
static void finish_work(struct reactor *r, struct work *work)
{
	struct session *s = work->session;
	struct job *job = &s->jobs[work->job];
	uint64_t started = atomic_load(&work->started);
	int32_t res = job->failed;

	if (started)
		job->start = started;
	job->end = tsc_now();
	s->core_ticks += atomic_load(&work->ticks);
	s->published--;
	if (!res && s->vanished)
		res = -EFAULT;
	if (!res)
		res = cpu_result(work, &job->error);
	worker_retire(r->port, work);
	if (!res && optable_find(job->sqe.opcode)->flags & (OP_FILE | OP_MODULE)) {
		job->zero = 0;
		sched_push(s, job);
		return;
	}
	reactor_end_job(r, s, job, res);
}

static bool collect(struct reactor *r)
{
	const struct memory_message *m;
	struct work *work;
	bool any = false;

	while ((work = worker_finished(r->port)) != NULL) {
		finish_work(r, work);
		any = true;
	}
	while ((m = memory_next_answer(r->memory)) != NULL) {
		memory_answer(m->session, m, on_ready);
		memory_answer_done(r->memory);
		any = true;
	}
	return any;
}

/* ---- deadlines ---- */

static void expire(struct reactor *r, struct session *s)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = s->oldest; i != NIL; i = s->jobs[i].newer) {
		struct job *job = &s->jobs[i];

		if (!job->deadline || job->failed || job->state == JOB_RUNNING)
			continue;
		if (job->deadline <= r->now) {
			job_fail_early(s, job, -ETIME, r->now);
			touch(r, s->rings[job->ring]);
		} else if (job->deadline < next) {
			next = job->deadline;
		}
	}
	s->next_deadline = next;
	memory_advance(s, on_ready);
}

static void expire_all(struct reactor *r)
{
	for (struct session *s = r->sessions; s; s = s->next)
		if (s->deadlines && s->next_deadline <= r->now)
			expire(r, s);
}

/* ---- the loop ---- */

bool reactor_pass(struct reactor *r)
{
	bool work = false;

	r->now = tsc_now();
	work |= reactor_mail(r);
	work |= collect(r);
	work |= fetch(r);
	work |= start_ready(r);
	expire_all(r);
	flush(r);
	return work;
}

static void *run(void *arg)
{
	struct reactor *r = arg;

	reactor_settle(r);
	while (!__atomic_load_n(&r->stop, __ATOMIC_RELAXED))
		reactor_idle(r, reactor_pass(r));
	return NULL;
}

struct memory_link *reactor_memory_link(struct reactor *r)
{
	return r->memory;
}

int reactor_start(struct reactor *r)
{
	int err = reactor_idle_init(r);

	if (!err)
		err = -pthread_create(&r->thread, NULL, run, r);
	return err;
}

void reactor_stop(struct reactor *r)
{
	__atomic_store_n(&r->stop, 1, __ATOMIC_RELAXED);
	reactor_wake(r);
	pthread_join(r->thread, NULL);
	reactor_idle_done(r);
}
