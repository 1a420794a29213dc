/* SPDX-License-Identifier: MIT */
/* backend_exec_late.c - jobs that executors have for too long */
#include "backend_exec_late.h"

#include <errno.h>

#include "backend_exec.h"
#include "job.h"
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

/* Whatever deadline it has, a job keeps the module, or its stream, from all others. */
static void end_late(struct reactor *r, struct exec_port *p, uint32_t i, uint64_t most)
{
	const struct exec_flight *f = exec_port_flight(p, i);
	struct exec_watch *w = &p->watch[i];

	if (!f || f->serial != w->serial)
		*w = (struct exec_watch){f ? f->serial : 0, r->now};
	else if (r->now - w->since >= most)
		kill_late(p, &f->session->jobs[f->job]);
}

/* Who has requests and works at nothing, of ours or of others, has no more time than that. */
static void end_idle(struct reactor *r, struct exec_port *p, uint64_t most)
{
	if (!exec_port_owes(p) || exec_port_works(p) || p->answered != p->idle_answered)
		p->idle_since = 0;
	else if (!p->idle_since)
		p->idle_since = r->now;
	else if (r->now - p->idle_since >= most)
		exec_port_kill(p, KILL_FAULT);
	p->idle_answered = p->answered;
}

/* A job's time begins when it is first seen to run, and we look at least once a second. */
void exec_end_hung(struct reactor *r, struct exec_port *p)
{
	uint64_t most = p->job_ms * (tsc_hz() / 1000);

	for (uint32_t i = 0; p->pending && i < QUOIT_EXEC_STREAMS; i++)
		end_late(r, p, i, most);
	end_idle(r, p, most);
}

/* It runs although its deadline has passed.  If its CQE said so already, let it finish if it can.
 */
static bool is_to_be_killed(struct exec_flight *f, const struct job *job, uint64_t now)
{
	if (!f->overdue)
		f->overdue = now;
	return !job->posted || now - f->overdue >= tsc_hz() / OVERDUE_GRACE;
}

/* Everybody's device memory ends with its executor: nobody's deadline is worth that. */
static bool keeps_module(struct reactor *r, const struct job *job)
{
	struct exec_port *p;
	struct exec_flight *f;

	if (job->on_device)
		return false;
	p = r->executor[job->executor];
	f = &p->flight[job->work];
	return exec_port_flight(p, 0) == f && is_to_be_killed(f, job, r->now);
}

uint64_t exec_overdue(struct reactor *r, struct session *s, struct job *job, bool *ret_posted)
{
	*ret_posted = false;
	if (keeps_module(r, job)) {
		kill_late(r->executor[job->executor], job);
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
		const struct exec_flight *f = exec_port_flight(r->executor[i], 0);

		if (f && f->session == s && !r->executor[i]->device)
			exec_port_kill(r->executor[i], KILL_LATE);
	}
}
