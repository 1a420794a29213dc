/* SPDX-License-Identifier: MIT */
/* start.c - moves ready jobs from their queues to a backend */
#include "start.h"

#include <errno.h>

#include "backend/backend.h"
#include "backend/cpu/backend_cpu.h"
#include "base/tsc.h"
#include "job/hold.h"
#include "job/probes.h"
#include "job/sched.h"
#include "memory/memory.h"
#include "memory/memory_pinned.h"
#include "memory/sigbus_guard.h"
#include "reactor_deadlines.h"
#include "reactor_mail.h"
#include "session/poison.h"
#include "session/run_queue.h"
#include "session/tensor_bits.h"

static bool clear_is_long(const struct session *s, const struct job *job)
{
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (job_host_zero(job) & 1u << i &&
		    s->buffers[s->views[job->view[i]].buffer].size > MEMORY_INLINE_BYTES)
			return true;
	return false;
}

/* Predicted nanoseconds. */
static uint64_t clear_cost(const struct session *s, const struct job *job)
{
	uint64_t bytes = 0;

	for_each_tensor (i, job_host_zero(job))
		bytes += s->buffers[s->views[job->view[i]].buffer].size;
	return bytes / SCHED_CLEAR_BYTES_PER_NS;
}

/* 0, or why a job that is about to start must not run. */
static int32_t verdict(struct session *s, struct job *job, uint64_t now)
{
	if (job->failed)
		return job->failed;
	if (job->reads && !job->waits && job_is_poisoned(s, job))
		return -QUOIT_EPOISON;
	if (job->deadline && now >= job->deadline) {
		job->error = job_missed_deadline(job, 0, now);
		return -ETIME;
	}
	if (job->tensors && memory_lacking(s, job))
		return -ENOMEM;
	return 0;
}

/* Run a job here and now; res < 0: only clear the buffers that it still has to clear. */
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
	const struct backend *b = backend_of(job);
	int32_t res = verdict(s, job, r->now);

	if (res < 0)
		job->failed = res;
	if (res < 0 && job->waits) { /* jobs before it are on a device: it ends after them */
		job_become(s, job, JOB_WAITING);
		return 0;
	}
	if (job_host_zero(job) && (clear_is_long(s, job) || b != &cpu_backend))
		return s->published < SCHED_PUBLISHED ? cpu_backend.start(r, s, job) : -EBUSY;
	/* A failed job may still have to clear what others will read. */
	if (b != &cpu_backend && (!res || job->zero))
		return b->start(r, s, job);
	if (res < 0 || job->cost < SCHED_INLINE_NS) {
		run_inline(r, s, job, res);
		return 0;
	}
	return cpu_backend.start(r, s, job);
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

	if (s->holds.due && s->memory.tidying <= TIDY_WAITS) {
		reactor_charge(r, s);
		hold_settle(s, r->now, sched_push);
	}
	if (s->memory.tidying || s->memory.more) {
		memory_advance(s, sched_push);
		any |= s->memory.more;
		if (s->memory.tidying == TIDY_WAITS) /* no job has a pinned address now */
			memory_pinned_tidy(s);
	}
	if (!s->memory.tidying && s->ready_jobs != s->ready_long) {
		reactor_charge(r, s);
		any |= start_short(r, s);
		any |= start_files(r, s);
	}
	if (s->may_follow)
		reactor_charge_only(r, s);
	for_each_backend (b)
		if ((*b)->advance)
			any |= (*b)->advance(r, s);
	if (sigbus_guard_has_hit(s) && !s->stopped)
		reactor_kill(r, s, QUOIT_DAEMON_KILL_MEM_VANISHED);
	return any;
}

/* May it have something to start or to continue next time, even if nothing happens to it? */
static bool is_busy(const struct session *s)
{
	bool any = s->ready_jobs != s->ready_long || s->memory.tidying || s->memory.more;

	for_each_backend (b)
		any |= (*b)->has_waiting && (*b)->has_waiting(s);
	return any;
}

/* If there are fewer places than sessions, the next turn begins after the last session served. */
static bool start_sessions(struct reactor *r, struct tenant *t)
{
	struct run_queue *turns = &t->turns[TURN_START];
	struct session *last = NULL;
	bool any = false, one, over = false;

	for (uint32_t n = turns->count; n && !over; n--) {
		struct session *s = run_queue_take(turns, TURN_START);

		reactor_meet_deadlines(r, s);
		one = start_session(r, s);
		any |= one;
		if (is_busy(s))
			run_queue_add(turns, TURN_START, s);
		if (s->ready_long)
			run_queue_add(&t->turns[TURN_PUBLISH], TURN_PUBLISH, s);
		if (one && s->has_turn[TURN_START])
			last = s;
		over = one && n > 1 && reactor_turn_is_over(r, t);
	}
	if (last)
		run_queue_rotate(turns, TURN_START, last);
	return any;
}

/* Start a long job of each session, round and round, while there is room for them. */
static bool publish_turns(struct reactor *r, struct tenant *t)
{
	struct run_queue *turns = &t->turns[TURN_PUBLISH];
	bool any = false, room = true;
	uint32_t without_room = 0; /* sessions in a row for which there was no room */

	while (room && without_room < turns->count) {
		struct session *s = run_queue_take(turns, TURN_PUBLISH);
		bool one = start_long(r, s);

		if (s->ready_long)
			run_queue_add(turns, TURN_PUBLISH, s);
		without_room = one ? 0 : without_room + 1;
		room = one || s->published || s->memory.tidying;
		any |= one;
	}
	return any;
}

void start_await(struct reactor *r, struct tenant *t)
{
	bool awaits = t->turns[TURN_PUBLISH].count > 0;

	if (awaits != t->awaits)
		worker_await(r->port, t->user->number, awaits);
	t->awaits = awaits;
}

bool start_turns(struct reactor *r, struct tenant *t)
{
	bool any = start_sessions(r, t);

	any |= publish_turns(r, t);
	start_await(r, t);
	return any;
}
