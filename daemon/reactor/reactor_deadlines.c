/* SPDX-License-Identifier: MIT */
/* reactor_deadlines.c - ends jobs whose deadline has passed */
#include "reactor_deadlines.h"

#include <errno.h>

#include "backend/backend.h"
#include "base/tsc.h"
#include "job/sched.h"
#include "memory/memory.h"

/* Time until a job whose tensors are being cleared is looked at again. */
#define CLEARED_NS 1000000u

/* Its tensors are being cleared, and then its backend gets it, which ends late jobs? */
static bool will_be_given(const struct backend *b, const struct job *job)
{
	return b->can_be_late && !job->failed && job_host_zero(job);
}

/* Look at a job with a deadline.  Returns the TSC of the next look; UINT64_MAX: never. */
static uint64_t look_at_deadline(struct reactor *r, struct session *s, struct job *job)
{
	const struct backend *b = backend_of(job);
	bool can_be_late = b->can_be_late && b->can_be_late(job), posted = true;
	uint64_t again = UINT64_MAX;

	if (!can_be_late && (job->failed || job->state == JOB_RUNNING))
		return will_be_given(b, job) ? r->now + tsc_from_ns(CLEARED_NS) : UINT64_MAX;
	if (job->deadline > r->now)
		return job->deadline;
	if (can_be_late)
		again = b->late(r, s, job, &posted);
	else
		job_fail_late(s, job, 0, r->now);
	if (posted)
		reactor_touch(r, s->rings[job->ring]);
	return again;
}

static void expire(struct reactor *r, struct session *s)
{
	uint64_t next = UINT64_MAX;

	reactor_charge(r, s);
	for (uint32_t i = s->oldest; i != NIL; i = s->jobs[i].newer) {
		uint64_t again =
			s->jobs[i].deadline ? look_at_deadline(r, s, &s->jobs[i]) : UINT64_MAX;

		if (again < next)
			next = again;
	}
	s->next_deadline = next;
	memory_advance(s, sched_push);
}

/* Sessions that are left over have their turn in the next pass. */
void reactor_expire(struct reactor *r)
{
	struct session *next;
	bool over = false;
	uint64_t until;

	if (r->now < r->next_deadline)
		return;
	until = tsc_now() + tsc_from_ns(REACTOR_TURN_NS);
	r->next_deadline = UINT64_MAX;
	for (struct session *s = r->with_deadlines; s; s = next) {
		next = s->with_deadlines.next;
		if (!s->deadlines) {
			LINKS_REMOVE(s, with_deadlines);
			continue;
		}
		if (s->next_deadline <= r->now && !over) {
			expire(r, s);
			over = tsc_now() >= until;
		}
		reactor_meet_deadlines(r, s);
	}
}
