/* SPDX-License-Identifier: MIT */
/* backend_exec_late.c - jobs that executors have for too long */
#include "backend_exec_late.h"

#include <errno.h>

#include "backend_exec.h"
#include "job.h"
#include "optable.h"
#include "tsc.h"

/*
 * A job whose deadline passed while it waited in the executor has its CQE.  It is looked at
 * again so many times a second, and may run for such a part of a second.
 */
#define OVERDUE_LOOKS 100u
#define OVERDUE_GRACE 10u

static void kill_late(struct exec_port *p, struct job *job)
{
	if (!job->failed) {
		job->failed = -ETIME;
		job->error = (struct quoit_error){.field = QUOIT_FIELD_DEADLINE};
	}
	exec_port_kill(p, KILL_LATE);
}

/* It says that it works neither at a job of ours nor at another reactor's. */
static bool is_idle(const struct exec_port *p)
{
	uint64_t hint = exec_port_running(p);

	return !exec_port_flight(p) && (!hint || hint >> 32 == p->channel);
}

/*
 * Whatever deadline it has, a job keeps the module from all others.  Its time begins when it is
 * first seen to run, and we look at least once a second.  Who has requests and works at nothing
 * has no more time than that.
 */
void exec_end_hung(struct reactor *r, struct exec_port *p)
{
	const struct exec_flight *f = p->pending ? exec_port_flight(p) : NULL;
	bool idle = p->pending && is_idle(p);

	if (f != p->watched || p->answered != p->watched_answered || (!f && !idle)) {
		p->watched = f;
		p->watched_answered = p->answered;
		p->watched_since = r->now;
	} else if ((r->now - p->watched_since) / (tsc_hz() / 1000) < p->job_ms) {
		return;
	} else if (f) {
		kill_late(p, &f->session->jobs[f->job]);
	} else {
		exec_port_kill(p, KILL_FAULT);
	}
}

/* It runs although its deadline has passed.  If its CQE said so already, let it finish if it can.
 */
static bool is_to_be_killed(struct exec_flight *f, const struct job *job, uint64_t now)
{
	if (!f->overdue)
		f->overdue = now;
	return !job->posted || now - f->overdue >= tsc_hz() / OVERDUE_GRACE;
}

uint64_t exec_overdue(struct reactor *r, struct session *s, struct job *job, bool *ret_posted)
{
	struct exec_port *p = r->executor[optable_find(job->sqe.opcode)->module];
	struct exec_flight *f = &p->flight[job->work];

	*ret_posted = false;
	if (exec_port_flight(p) == f && is_to_be_killed(f, job, r->now)) {
		kill_late(p, job);
	} else if (!job->failed) {
		job_fail_early(s, job, -ETIME, r->now);
		*ret_posted = true;
	}
	return r->now + tsc_hz() / OVERDUE_LOOKS;
}

void exec_abandon(struct reactor *r, struct session *s)
{
	if (!s->dead || !r->executors)
		return;
	if (!s->exec.dead_since)
		s->exec.dead_since = r->now;
	if (r->now - s->exec.dead_since < tsc_hz())
		return;
	for (uint32_t i = 0; i < r->executors; i++) {
		const struct exec_flight *f = exec_port_flight(r->executor[i]);

		if (f && f->session == s)
			exec_port_kill(r->executor[i], KILL_LATE);
	}
}
