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
#include "backend_exec.h"
#include "backend_io.h"
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

/* Slots are asked for so many SQEs ahead: each is a line in the client's cache. */
#define FETCH_AHEAD 8u

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

/* When the client says it submitted this SQE; only with QUOIT_RING_STAMPS. */
static uint64_t submit_time(const struct ring *ring, uint32_t sq_index)
{
	return ring->notes[sq_index & (ring->layout.sq_entries - 1)].submit;
}

/* An SQE that never becomes a job has ended: with its CQE, or silently. */
static void end_at_fetch(struct ring *ring, const struct quoit_sqe *sqe, uint32_t sq_index,
			 int32_t res, const struct fault *fault)
{
	struct session *s = ring->session;
	uint64_t now = s->reactor->now;
	struct quoit_stamps stamps = {.fetch = now, .start = now, .end = now, .post = now};
	struct quoit_error error = {.code = res, .field = fault->field};

	if (res >= 0 && sqe->flags & QUOIT_SQE_QUIET) {
		s->jobs_done++;
		return;
	}
	if (res >= 0) {
		s->jobs_done++;
	} else {
		error.value[0] = fault->value[0];
		error.value[1] = fault->value[1];
		s->jobs_failed++;
		s->jobs_refused++;
	}
	if (ring->stamps)
		stamps.submit = submit_time(ring, sq_index);
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

static struct buffer *buffer_of(const struct session *s, const struct plan *plan, unsigned i)
{
	return &s->buffers[s->views[plan->view[i]].buffer];
}

/* Does the job write all of the tensor's buffer, without reading it? */
static bool overwrites(const struct session *s, const struct plan *plan, unsigned i)
{
	const struct view *v = &s->views[plan->view[i]];

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
	const struct op_row *row = optable_find(sqe->opcode);
	uint8_t unclear = 0, lacking = 0;

	*ret_zero = 0;
	if (sqe->flags & (QUOIT_SQE_LINK | QUOIT_SQE_AFTER_ALL) || plan->cost >= SCHED_INLINE_NS ||
	    row->flags & (OP_FILE | OP_MODULE))
		return false;
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const struct buffer *b;

		if (!(plan->tensors & 1u << i))
			continue;
		b = buffer_of(s, plan, i);
		if (deps_conflict(s, &s->views[plan->view[i]], plan->writes & 1u << i))
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
	for (unsigned i = 0; unclear >> i; i++) /* new pages are zero */
		if (unclear & 1u << i && !buffer_of(s, plan, i)->zeroed)
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

	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		if (!(plan->tensors & 1u << i))
			continue;
		buffer_of(s, plan, i)->zeroed = true;
		if (plan->reads & 1u << i && !res &&
		    view_is_poisoned(s, &s->views[plan->view[i]], &error))
			res = -QUOIT_EPOISON;
	}
	if (!res)
		res = cpu_run(s, sqe, plan->tensors, plan->view, zero, &error);
	else if (zero)
		cpu_clear(s, plan->view, zero);
	if (plan->writes && (res < 0 || s->any_poison))
		poison_outputs(s, ring, sqe, plan, res, error);
	if (res < 0)
		s->jobs_failed++;
	else
		s->jobs_done++;
	s->jobs_inline++;
	if (ring->stamps || res < 0 || !(sqe->flags & QUOIT_SQE_QUIET)) {
		struct quoit_stamps stamps = {.fetch = s->reactor->now};

		if (ring->stamps) {
			stamps.submit = submit_time(ring, sq_index);
			stamps.start = s->reactor->now;
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
	for (uint32_t i = 0; i < ring->cancels; i++)
		if (ring->cancel[i] == sq_index)
			ring->cancel[i] = ring->cancel[--ring->cancels];
}

/*
 * A cancelled job takes its place in the order of things all the same, so that its outputs
 * are poisoned for those behind it and not for those before it.
 */
static int admit_cancelled(struct ring *ring, const struct quoit_sqe *sqe, const struct plan *plan,
			   uint32_t sq_index)
{
	struct session *s = ring->session;
	int err = job_admit(ring, sqe, plan, sq_index, s->reactor->now, on_ready);

	if (err)
		return err;
	job_fail_early(s, deps_ring_find(ring, sq_index), -ECANCELED, s->reactor->now);
	memory_advance(s, on_ready);
	return 0;
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
			end_at_fetch(ring, sqe, sq_index, err, &fault);
		return err == -EAGAIN ? err : 0;
	}
	err = validate_job(s, sqe, &plan, &fault);
	if (err) {
		end_at_fetch(ring, sqe, sq_index, err, &fault);
		return 0;
	}
	if (ring->cancels && is_cancelled(ring, sq_index))
		return admit_cancelled(ring, sqe, &plan, sq_index);
	if (can_run_now(s, sqe, &plan, &zero)) {
		run_now(ring, sqe, sq_index, &plan, zero);
		*cost += plan.cost;
		return 0;
	}
	return job_admit(ring, sqe, &plan, sq_index, s->reactor->now, on_ready);
}

/*
 * A NOP that asks for nothing but its CQE: all words zero but user_data, and QUIET at most.
 * Every word of the slot is loaded once, here.
 */
static bool is_plain_nop(const struct quoit_sqe *sqe)
{
	const uint64_t *word = (const uint64_t *)sqe;

	return !(word[0] & ~((uint64_t)QUOIT_SQE_QUIET << 8)) &&
	       !(word[2] | word[3] | word[4] | word[5] | word[6] | word[7]);
}

static const struct quoit_sqe *slot_of(const struct ring *ring, uint32_t index)
{
	return &ring->sqes[index & (ring->layout.sq_entries - 1)];
}

/* Take what the ring has, up to a burst; true: something was done. */
static bool fetch_ring(struct reactor *r, struct ring *ring)
{
	struct session *s = ring->session;
	uint32_t ready = quoit_ring_peek(&ring->sq), taken = 0, nops = 0;
	struct session *outer;
	uint64_t cost = 0;
	int credits;

	if (!ready)
		return false;
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
	if (ready > (uint32_t)credits)
		ready = (uint32_t)credits;
	if (ready > FETCH_BURST)
		ready = FETCH_BURST;
	ring->stalled = !ready; /* for want of credits */
	outer = guard_enter(s);
	while (taken < ready && cost < TURN_NS) {
		uint32_t index = ring->sq.next + taken;
		struct quoit_sqe sqe;

		__builtin_prefetch(slot_of(ring, index + FETCH_AHEAD));
		quoit_ring_copy((uint64_t *)&sqe, (const uint64_t *)slot_of(ring, index),
				sizeof sqe / sizeof(uint64_t));
		if (is_plain_nop(&sqe) && !ring->cancels && !ring->stamps) {
			completion_post(ring, &sqe, 0, NULL, NULL);
			nops++;
		} else if (fetch_one(ring, &sqe, index, &cost) < 0) {
			ring->stalled = true;
			break;
		}
		if (ring->cancels)
			forget_cancel(ring, index);
		taken++;
	}
	guard_leave(outer);
	if (!taken)
		return false;
	quoit_ring_release(&ring->sq, taken);
	s->jobs_fetched += taken;
	s->jobs_done += nops;
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
	if (!res && row->flags & OP_FILE)
		return io_start(r, s, job);
	if (!res && row->flags & OP_MODULE) {
		exec_start(s, job);
		return 0;
	}
	if (res < 0 || sched_is_short(&job->sqe, job->cost)) {
		job->start = tsc_now();
		if (!res)
			res = cpu_run(s, &job->sqe, job->tensors, job->view, job->zero,
				      &job->error);
		else if (job->zero)
			cpu_clear(s, job->view, job->zero);
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

static bool start_files(struct reactor *r, struct session *s)
{
	struct job *job;
	bool any = false;

	while ((job = sched_next_file(s)) != NULL) {
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
		if (s->memory.tidying) {
			memory_advance(s, on_ready);
		} else if (s->ready_jobs) {
			any |= start_short(r, s);
			any |= start_files(r, s);
			any |= start_long(r, s);
		}
		if (s->exec.jobs_waiting && !s->memory.tidying)
			any |= exec_send(r, s);
		if (guard_has_hit(s) && !s->stopped)
			reactor_kill(r, s, QUOIT_DAEMON_KILL_MEM_VANISHED);
	}
	return any;
}

/* ---- answers: of workers, of the memory thread, of the kernel, of executors ---- */

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
	if (!res && guard_has_hit(s))
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
	any |= io_poll(r);
	any |= exec_poll(r);
	return any;
}

/* ---- deadlines ---- */

/* Look at a job with a deadline; when to look at it again (TSC), UINT64_MAX: never. */
static uint64_t look_at_deadline(struct reactor *r, struct session *s, struct job *job)
{
	bool in_executor = exec_has(job), posted = true;
	uint64_t again = UINT64_MAX;

	if (!in_executor && (job->failed || job->state == JOB_RUNNING))
		return UINT64_MAX;
	if (job->deadline > r->now)
		return job->deadline;
	if (in_executor)
		again = exec_overdue(r, s, job, &posted);
	else
		job_fail_early(s, job, -ETIME, r->now);
	if (posted)
		touch(r, s->rings[job->ring]);
	return again;
}

static void expire(struct reactor *r, struct session *s)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = s->oldest; i != NIL; i = s->jobs[i].newer) {
		uint64_t again =
			s->jobs[i].deadline ? look_at_deadline(r, s, &s->jobs[i]) : UINT64_MAX;

		if (again < next)
			next = again;
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
	io_submit(r);
	expire_all(r);
	flush(r);
	return work;
}

static void *run(void *arg)
{
	struct reactor *r = arg;

	reactor_settle(r);
	guard_rings(r->rings, &r->ring_count);
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
