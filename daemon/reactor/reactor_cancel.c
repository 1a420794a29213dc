/* SPDX-License-Identifier: MIT */
/* reactor_cancel.c - cancels jobs, before they have started or while they run */
#include "reactor_cancel.h"

#include <errno.h>

#include "backend/backend.h"
#include "job/completion.h"
#include "job/deps.h"
#include "job/hold.h"
#include "job/job.h"
#include "job/sched.h"
#include "memory/memory.h"
#include "reactor_rings.h"

/* Post -ECANCELED as the end of a job that has none yet. */
static void cancel_job(struct reactor *r, struct session *s, struct job *job)
{
	struct ring *ring = s->rings[job->ring];

	job_fail_early(s, job, -ECANCELED, r->now);
	reactor_touch(r, ring);
}

/*
 * Has no backend begun it?  What runs for an acquire only clears the tensor: that goes on, but the
 * program does not get it.
 */
static bool has_not_begun(struct reactor *r, struct session *s, struct job *job)
{
	if (job->failed || (job->state == JOB_RUNNING && !job_is_acquire(job)))
		return false;
	return !job->follows || backend_of(job)->take_back(r, s, job);
}

/* False: it cannot be cancelled any more. */
static bool try_cancel(struct reactor *r, struct session *s, struct job *job)
{
	const struct backend *b = backend_of(job);

	if (has_not_begun(r, s, job)) {
		cancel_job(r, s, job);
		return true;
	}
	return !job->failed && job->state == JOB_RUNNING && b->cancel && b->cancel(r, s, job);
}

void reactor_cancel_all(struct reactor *r, struct session *s)
{
	for (uint32_t i = s->oldest; i != NIL; i = s->jobs[i].newer)
		(void)try_cancel(r, s, &s->jobs[i]);
	memory_advance(s, sched_push);
}

int32_t reactor_cancel(struct reactor *r, struct session *s, uint32_t index, uint32_t sq_index)
{
	struct ring *ring = index < s->ring_count ? s->rings[index] : NULL;
	struct job *job;

	if (!ring || ring->team) /* a team's SQEs are no jobs */
		return -EINVAL;
	job = deps_ring_find(ring, sq_index);
	if (job) {
		if (!try_cancel(r, s, job))
			return -EALREADY;
		memory_advance(s, sched_push);
		return 0;
	}
	if (s->holds.count) {
		reactor_charge(r, s); /* many jobs may wait for it */
		if (hold_cancel(ring, sq_index, r->now, sched_push)) {
			reactor_unstall_all(r, s);
			return 0;
		}
	}
	if (sq_index - ring->sq.next >= ring->layout.sq_entries)
		return -EALREADY; /* fetched, and it has ended */
	if (ring->cancels == CANCEL_SLOTS)
		return -EBUSY;
	ring->cancel[ring->cancels++] = sq_index;
	return 0;
}

uint32_t reactor_cancel_rest(struct reactor *r, struct session *s)
{
	uint32_t n = 0;

	for (uint32_t i = s->oldest; i != NIL; i = s->jobs[i].newer)
		if (!s->jobs[i].posted) {
			cancel_job(r, s, &s->jobs[i]);
			n++;
		}
	for (uint32_t i = 0; i < s->ring_count; i++)
		if (s->rings[i] && s->rings[i]->dirty)
			completion_flush(s->rings[i]);
	memory_advance(s, sched_push);
	return n;
}
