/* SPDX-License-Identifier: MIT */
/* line.c - chooses the job that follows a running one, and takes it back */
#include "line.h"

#include <assert.h>

#include "backend_cpu.h"
#include "job/job.h"
#include "job/sched.h"
#include "memory/memory.h"
#include "memory/sigbus_guard.h"
#include "ops/optable.h"
#include "session/poison.h"

/* Jobs behind one that are looked at: the others become ready when it ends. */
#define LOOKS 16u

/* Does it run as tiles, with nothing before or after them? */
static bool only_computes(const struct job *job)
{
	return job->executor == NO_EXECUTOR && !job_names_file(job) && !job->failed &&
	       optable_find(job->sqe.opcode)->impl;
}

/* It may be poison that the job ahead overwrites, so the record stays empty. */
static bool reads_poison(const struct session *s, struct job *job)
{
	const bool any = job->reads && job_is_poisoned(s, job);

	job->error = (struct quoit_error){0};
	return any;
}

/*
 * May a worker begin it the moment the job ahead has ended?  Not if it has a deadline: the reactor
 * checks that when it starts a job itself, and a worker does not.
 */
static bool may_follow(struct session *s, struct job *job)
{
	return job->state == JOB_WAITING && job->waits == 1 && !job->follows && !job->deadline &&
	       job->cost >= SCHED_INLINE_NS && only_computes(job) && !memory_lacking(s, job) &&
	       !reads_poison(s, job);
}

static struct job *choose(struct session *s, const struct job *ahead)
{
	struct job *best = NULL;
	unsigned looks = 0;

	for (uint32_t e = ahead->edges; e != NIL && looks < LOOKS; e = s->edges[e].next, looks++) {
		struct job *job = &s->jobs[s->edges[e].job];

		if (may_follow(s, job) && (!best || sched_is_before(job, best)))
			best = job;
	}
	return best;
}

static bool extend(struct reactor *r, struct session *s, struct work *ahead)
{
	const struct job *job = &s->jobs[ahead->job];
	struct job *behind;

	if (ahead->ahead || ahead->behind || !only_computes(job))
		return false;
	behind = choose(s, job);
	if (!behind || cpu_publish_behind(s, behind, r->port, ahead) < 0)
		return false;
	behind->follows = true;
	s->published++;
	return true;
}

bool line_extend(struct reactor *r, struct session *s)
{
	bool any = false;

	s->may_follow = false;
	/* What is ready goes first, and no address may be kept while pieces are moved. */
	if (s->dead || s->ready_long || s->memory.tidying || sigbus_guard_has_hit(s))
		return false;
	for (uint32_t i = 0; i < WORKER_SLOTS && s->published < SCHED_PUBLISHED; i++)
		if (worker_has(r->port, i, s))
			any |= extend(r, s, &r->port->work[i]);
	return any;
}

static void leave(struct session *s, struct job *job)
{
	job->follows = false;
	assert(s->published > 0);
	s->published--;
}

struct work *line_advance(struct reactor *r, const struct work *ahead)
{
	struct work *work = ahead->behind;
	struct session *s = ahead->session;

	if (!work)
		return NULL;
	if (!worker_goes_on(ahead)) {
		leave(s, &s->jobs[work->job]);
		worker_retire(r->port, work);
		return NULL;
	}
	s->jobs[work->job].follows = false;
	cpu_begin(s, &s->jobs[work->job], r->now);
	return work;
}

bool line_take_back(struct reactor *r, struct session *s, struct job *job)
{
	struct work *work = &r->port->work[job->work];

	assert(job->follows);
	/* After a failure ahead no worker begins this job, and line_advance takes it out. */
	if (!worker_take_back(r->port, work))
		return !worker_goes_on(work->ahead);
	leave(s, job);
	return true;
}
