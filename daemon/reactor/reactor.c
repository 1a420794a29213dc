/* SPDX-License-Identifier: MIT */
/*
 * reactor.c - the flow of a job, from its SQE to its CQE
 *
 *	fetch -> validate -> deps, memory -> sched -> backend -> complete
 *
 * This file names the stages in order; fetch.c and fetch_job.c have what happens at an SQE's fetch.
 */
#include "reactor.h"

#include <errno.h>
#include <string.h>

#include "completion.h"
#include "executors/backend_exec.h"
#include "executors/backend_kernels.h"
#include "executors/bridge.h"
#include "fetch.h"
#include "host/tsc.h"
#include "io/backend_io.h"
#include "job.h"
#include "memory/guard.h"
#include "memory/memory.h"
#include "memory/memory_pinned.h"
#include "optable.h"
#include "probes.h"
#include "reactor_deadlines.h"
#include "reactor_idle.h"
#include "reactor_mail.h"
#include "reactor_rings.h"
#include "sched.h"
#include "session/tensor_bits.h"
#include "session/turns.h"
#include "workers/backend_cpu.h"

void reactor_attend(struct reactor *r, struct session *s)
{
	turns_add(&reactor_tenant(r, s)->turns[TURN_START], TURN_START, s);
	if (!s->told)
		return;
	s->told = false;
	s->untold = r->untold;
	r->untold = s;
}

/* ---- complete ---- */

void reactor_touch(struct reactor *r, struct ring *ring)
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

void reactor_end_job(struct reactor *r, struct session *s, struct job *job, int32_t res)
{
	struct ring *ring = s->rings[job->ring];
	uint64_t now = tsc_now();

	reactor_attend(r, s);
	reactor_unstall_all(r, s);
	job_end(s, job, res, now, sched_push);
	depth_leave(&r->open, now);
	reactor_touch(r, ring);
}

/* ---- whose time it is ---- */

static void settle(struct reactor *r, uint64_t now)
{
	if (r->payer) {
		r->payer->core_ticks += now - r->charged;
		tenant_charge(reactor_tenant(r, r->payer), now - r->charged);
	}
	r->charged = now;
}

/* The time is read only where it changes hands: one session alone pays at the end of the pass. */
void reactor_charge(struct reactor *r, struct session *s)
{
	if (r->payer && r->payer != s)
		settle(r, tsc_now());
	r->payer = s;
	reactor_attend(r, s);
}

void reactor_discharge(struct reactor *r, const struct session *s)
{
	if (r->payer != s)
		return;
	settle(r, tsc_now());
	r->payer = NULL;
}

static bool turn_is_over(struct reactor *r, const struct tenant *t)
{
	if (r->tenancy.count == 1)
		return false;
	settle(r, tsc_now());
	return tenancy_turn_is_over(&r->tenancy, t);
}

/* A reading of the clock takes as long as many a job: the end of one pass is the start of the next.
 */
static void begin_pass(struct reactor *r)
{
	r->now = r->charged = r->passed ? r->passed : tsc_now();
	r->passed = 0;
	r->payer = NULL;
	tenancy_begin(&r->tenancy);
}

static void end_pass(struct reactor *r)
{
	uint64_t now = tsc_now();

	r->count[QUOIT_REACTOR_WORK_TICKS] += now - r->now;
	depth_blink(&r->open, r->now, now);
	settle(r, now);
	r->passed = now;
}

/* One stage of a pass for all who may have something done; true: something was. */
static inline bool for_tenants(struct reactor *r, bool (*stage)(struct reactor *, struct tenant *))
{
	struct tenancy *all = &r->tenancy;
	struct tenant *t = all->first;
	bool any = false;

	if (!t)
		return false;
	do {
		if (tenancy_admits(all, t)) {
			tenancy_give_turn(all, t);
			any |= stage(r, t);
		}
		t = t->next;
	} while (t != all->first);
	all->served |= any;
	return any;
}

/* ---- fetch ---- */

static bool fetch(struct reactor *r, struct tenant *t)
{
	bool any = false, one, over = false;

	for (uint32_t n = t->ring_count; n && !over; n--) {
		struct ring *ring = t->rings;

		t->rings = ring->next;
		one = !ring->session->stopped && fetch_ring(r, ring);
		any |= one;
		if (ring->dirty && !ring->queued)
			completion_flush(ring); /* its client waits for nothing else */
		else if (ring->dirty)
			flush(r);
		over = one && n > 1 && turn_is_over(r, t);
	}
	return any;
}

/* ---- start: from the queues of ready jobs to a backend ---- */

static bool clear_is_long(const struct session *s, const struct job *job)
{
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (job_host_zero(job) & 1u << i &&
		    s->buffers[s->views[job->view[i]].buffer].size > MEMORY_INLINE_BYTES)
			return true;
	return false;
}

/* ns, as predicted. */
static uint64_t clear_cost(const struct session *s, const struct job *job)
{
	uint64_t bytes = 0;

	for_each_tensor (i, job_host_zero(job))
		bytes += s->buffers[s->views[job->view[i]].buffer].size;
	return bytes / SCHED_CLEAR_BYTES_PER_NS;
}

/* What is known about a job before it starts: 0, or why it does not. */
static int32_t verdict(struct session *s, struct job *job, uint64_t now)
{
	if (job->failed)
		return job->failed;
	if (job->reads && !job->waits && job_is_poisoned(s, job))
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
	job_become(s, job, JOB_RUNNING);
	job->start = r->now;
	probe_start(s, job);
	s->published++;
	s->jobs_tiled++;
	return 0;
}

/* Here and now; res < 0: only what is left to do then. */
static void run_inline(struct reactor *r, struct session *s, struct job *job, int32_t res)
{
	uint8_t zero = job_host_zero(job);

	job->start = tsc_now();
	probe_start(s, job);
	if (!res)
		res = cpu_run(s, &job->sqe, job->tensors, job->view, zero, &job->error);
	else if (zero)
		cpu_clear(s, job->view, zero);
	job->end = tsc_now();
	s->jobs_inline++;
	reactor_end_job(r, s, job, res);
}

/* Start a ready job.  -EBUSY: its backend has no room. */
static int start(struct reactor *r, struct session *s, struct job *job)
{
	bool is_file = job_names_file(job);
	bool elsewhere = is_file || job->executor != NO_EXECUTOR;
	int32_t res = verdict(s, job, r->now);

	if (res < 0)
		job->failed = res;
	if (res < 0 && job->waits) { /* a device has jobs before it: it ends behind them */
		job_become(s, job, JOB_WAITING);
		return 0;
	}
	if (job_host_zero(job) && (clear_is_long(s, job) || elsewhere))
		return s->published < SCHED_PUBLISHED ? publish(r, s, job) : -EBUSY;
	if (!res && is_file)
		return io_start(r, s, job);
	/* One that has failed may still have to clear what others will read. */
	if (job->executor != NO_EXECUTOR && (!res || job->zero)) {
		exec_start(s, job);
		return 0;
	}
	if (res < 0 || job->cost < SCHED_INLINE_NS) {
		run_inline(r, s, job, res);
		return 0;
	}
	return publish(r, s, job);
}

static bool start_short(struct reactor *r, struct session *s)
{
	uint64_t cost = 0;
	struct job *job;
	bool any = false;

	while (cost < SCHED_TURN_NS && (job = sched_next_short(s)) != NULL) {
		cost += job->cost + SCHED_JOB_NS + clear_cost(s, job);
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
	struct job *job = s->memory.tidying ? NULL : sched_next_long(s);

	if (!job)
		return false;
	reactor_charge(r, s);
	if (start(r, s, job) == 0)
		return true;
	sched_put_back(s, job);
	return false;
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

static bool start_session(struct reactor *r, struct session *s)
{
	bool any = false;

	if (s->memory.tidying || s->memory.more) {
		memory_advance(s, sched_push);
		any |= s->memory.more;
		if (s->memory.tidying == TIDY_WAITS) /* nobody holds a pinned address */
			memory_pinned_tidy(s);
	}
	if (!s->memory.tidying && s->ready_jobs != s->ready_long) {
		reactor_charge(r, s);
		any |= start_short(r, s);
		any |= start_files(r, s);
	}
	if ((s->exec.jobs_waiting || s->drops || kernels_wait(s)) && !s->memory.tidying)
		any |= exec_send(r, s);
	if (s->bridge.fd >= 0)
		any |= bridge_advance(r, s);
	if (guard_has_hit(s) && !s->stopped)
		reactor_kill(r, s, QUOIT_DAEMON_KILL_MEM_VANISHED);
	return any;
}

/* May there be something to start, or to go on with, although nothing happens to it? */
static bool is_busy(const struct session *s)
{
	return s->ready_jobs != s->ready_long || s->memory.tidying || s->memory.more ||
	       s->exec.jobs_waiting || s->drops || kernels_wait(s) || s->bridge.fd >= 0;
}

/* Where there are fewer places than sessions, those behind the last one that got some are next. */
static bool start_turns(struct reactor *r, struct tenant *t)
{
	struct turns *turns = &t->turns[TURN_START];
	struct session *last = NULL;
	bool any = false, one, over = false;

	for (uint32_t n = turns->count; n && !over; n--) {
		struct session *s = turns_take(turns, TURN_START);

		reactor_meet_deadlines(r, s);
		one = start_session(r, s);
		any |= one;
		if (is_busy(s))
			turns_add(turns, TURN_START, s);
		if (s->ready_long)
			turns_add(&t->turns[TURN_PUBLISH], TURN_PUBLISH, s);
		if (one && s->has_turn[TURN_START])
			last = s;
		over = one && n > 1 && turn_is_over(r, t);
	}
	if (last)
		turns_rotate(turns, TURN_START, last);
	return any;
}

/* A long job of each, again and again, while there are places for them. */
static bool publish_turns(struct reactor *r, struct tenant *t)
{
	struct turns *turns = &t->turns[TURN_PUBLISH];
	bool any = false, room = true;
	uint32_t vain = 0; /* so many in a row had no room of their own */

	while (room && vain < turns->count) {
		struct session *s = turns_take(turns, TURN_PUBLISH);
		bool one = start_long(r, s);

		if (s->ready_long)
			turns_add(turns, TURN_PUBLISH, s);
		vain = one ? 0 : vain + 1;
		room = one || s->published || s->memory.tidying;
		any |= one;
	}
	return any;
}

static bool start_ready(struct reactor *r, struct tenant *t)
{
	bool any = start_turns(r, t);

	return publish_turns(r, t) | any;
}

/* ---- answers: of workers, of the memory thread, of the kernel, of executors ---- */

/* The tiles are done.  A job that also needs another backend only had its buffers cleared. */
static void finish_work(struct reactor *r, struct work *work)
{
	struct session *s = work->session;
	struct job *job = &s->jobs[work->job];
	uint64_t started = atomic_load(&work->started);
	uint64_t ticks = atomic_load(&work->ticks);
	int32_t res = job->failed;

	reactor_charge(r, s);
	if (started)
		job->start = started;
	job->end = tsc_now();
	s->core_ticks += ticks;
	r->count[QUOIT_REACTOR_TILE_TICKS] += ticks;
	s->published--;
	if (!res && guard_has_hit(s))
		res = -EFAULT;
	if (!res)
		res = cpu_result(work, &job->error);
	worker_retire(r->port, work);
	job->failed = res < 0 ? res : 0;
	if (job->executor != NO_EXECUTOR || (!res && job_names_file(job))) {
		job->zero &= job->on_device;
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
		reactor_attend(r, m->session);
		reactor_unstall_all(r, m->session);
		memory_answer(m->session, m, sched_push);
		memory_answer_done(r->memory);
		any = true;
	}
	any |= io_poll(r);
	any |= exec_poll(r);
	return any;
}

/* ---- the loop ---- */

bool reactor_pass(struct reactor *r)
{
	bool work = false;

	begin_pass(r);
	/* First: what was posted since the last pass waits for nothing else. */
	work |= for_tenants(r, fetch);
	work |= reactor_mail(r);
	work |= collect(r);
	work |= for_tenants(r, start_ready);
	work |= tenancy_end(&r->tenancy);
	io_submit(r);
	reactor_expire(r);
	flush(r);
	worker_call(r->port);
	if (work)
		end_pass(r);
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
