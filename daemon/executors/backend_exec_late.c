/* SPDX-License-Identifier: MIT */
/* backend_exec_late.c - jobs that executors have for too long */
#include "backend_exec_late.h"

#include <errno.h>

#include "backend_device.h"
#include "backend_direct.h"
#include "backend_exec.h"
#include "backend_kernels.h"
#include "host/tsc.h"
#include "reactor/job.h"

/*
 * A job whose deadline passed while it waited in the executor has its CQE.  It is looked at
 * again so many times a second, and may run for such a part of a second.
 */
#define OVERDUE_LOOKS 100u
#define OVERDUE_GRACE 10u

/* So many times a second, at most, an executor is looked at whether it hangs. */
#define HUNG_LOOKS 100u

/* ms: what any job may take; 0: its own deadline has passed. */
static void kill_late(struct exec_port *p, const struct exec_flight *f, struct job *job,
		      uint64_t ms)
{
	p->culprit = exec_port_name(p, f);
	if (!job->failed) {
		job->failed = -ETIME;
		job->error = (struct quoit_error){.field = QUOIT_FIELD_DEADLINE, .value = {ms}};
	}
	exec_port_kill(p, KILL_LATE);
}

/* What it says there; a name that was right before its answer came is no lie. */
static uint64_t watched(const struct exec_port *p, const struct exec_flight *f, uint32_t i)
{
	if (f)
		return f->serial;
	if (p->asking.type) /* its own time runs */
		return 0;
	if (!exec_port_is_vain(p, i) || p->answered != p->idle_answered)
		return 0;
	return EXEC_NOBODY | exec_port_running(p, i); /* its next call is another one */
}

/* Whatever deadline it has, a job keeps the module, or its stream, from all others. */
static void end_late(struct reactor *r, struct exec_port *p, uint32_t i, uint64_t most)
{
	const struct exec_flight *f = exec_port_flight(p, i);
	uint64_t serial = watched(p, f, i);
	struct exec_watch *w = &p->watch[i];

	if (!serial || serial != w->serial)
		*w = (struct exec_watch){serial, r->now};
	else if (r->now - w->since < most)
		return;
	else if (f)
		kill_late(p, f, &f->session->jobs[f->job], p->job_ms);
	else
		exec_port_kill(p, KILL_NAME);
}

/* The same of the consumer on a device: the oldest in the ring is what it works at. */
static void end_late_direct(struct reactor *r, struct exec_port *p, uint64_t most)
{
	const struct exec_flight *f = p->device ? direct_hung(p, r->now, most) : NULL;

	if (f)
		kill_late(p, f, &f->session->jobs[f->job], p->job_ms);
}

/* Who has requests and works at nothing, of ours or of others, has no more time than that. */
static void end_idle(struct reactor *r, struct exec_port *p, uint64_t most)
{
	if (!exec_port_owes(p) || exec_port_works(p) || p->answered != p->idle_answered)
		p->idle_since = 0;
	else if (!p->idle_since)
		p->idle_since = r->now;
	else if (r->now - p->idle_since >= most)
		exec_port_kill(p, KILL_SILENT);
	p->idle_answered = p->answered;
}

/* A job's time begins when it is first seen to run, and we look at least once a second. */
void exec_end_hung(struct reactor *r, struct exec_port *p)
{
	uint64_t most = p->job_ms * (tsc_hz() / 1000);

	if (r->now - p->looked < tsc_hz() / HUNG_LOOKS)
		return;
	p->looked = r->now;
	for (uint32_t i = 0; i < QUOIT_EXEC_STREAMS; i++)
		end_late(r, p, i, most);
	end_late_direct(r, p, most);
	end_idle(r, p, most);
	if (p->asking.type && r->now - p->asking.since >= most)
		exec_port_kill(p, KILL_LATE);
}

/*
 * May this job's end be the process's?  Everybody's device memory ends with a device's, and
 * nobody's deadline is worth that; but a kernel that a client has brought is in one of its user's
 * own.
 */
static bool may_end(const struct exec_port *p, const struct job *job)
{
	return !p->device || (p->owner && job->sqe.opcode == QUOIT_OP_LAUNCH);
}

/* It runs although its deadline has passed.  If its CQE said so already, let it finish if it can.
 */
static bool is_to_be_killed(struct exec_flight *f, const struct job *job, uint64_t now)
{
	if (!f->overdue)
		f->overdue = now;
	return !job->posted || now - f->overdue >= tsc_hz() / OVERDUE_GRACE;
}

/* Does it keep a process busy that may be ended for it?  A copy between two devices keeps none. */
static bool keeps_process(struct reactor *r, const struct job *job)
{
	struct exec_port *p;
	struct exec_flight *f;

	if (job->executor == BRIDGE_EXECUTOR)
		return false;
	p = r->executor[job->executor];
	f = &p->flight[job->work];
	return may_end(p, job) && exec_port_runs(p, f) && is_to_be_killed(f, job, r->now);
}

uint64_t exec_overdue(struct reactor *r, struct session *s, struct job *job, bool *ret_posted)
{
	*ret_posted = false;
	if (keeps_process(r, job)) {
		struct exec_port *p = r->executor[job->executor];

		kill_late(p, &p->flight[job->work], job, 0);
	} else if (!job->failed) {
		job_fail_early(s, job, -ETIME, r->now);
		*ret_posted = true;
	}
	return r->now + tsc_hz() / OVERDUE_LOOKS;
}

/*
 * A user's own process may be anything, and say what it likes: it has a dead session's jobs for no
 * longer than so many that are behind each other in a stream may take.
 */
#define OWN_JOBS 4u

static void end_own(struct exec_port *p, const struct session *s, uint64_t ticks)
{
	if (p->device && p->owner && s->exec.in_flight[p->number] &&
	    ticks >= OWN_JOBS * p->job_ms * (tsc_hz() / 1000))
		exec_port_kill(p, KILL_LATE);
}

static void end_abandoned(struct exec_port *p, const struct session *s)
{
	for (uint32_t i = 0; i < QUOIT_EXEC_STREAMS; i++) {
		const struct exec_flight *f = exec_port_flight(p, i);

		if (f && f->session == s && may_end(p, &s->jobs[f->job]))
			exec_port_kill(p, KILL_LATE);
	}
}

void exec_abandon(struct reactor *r, struct session *s)
{
	if (!s->dead || !r->executors)
		return;
	for (uint32_t i = 0; i < r->executors; i++)
		if (r->executor[i]->device)
			device_cancel(r->executor[i], s);
	if (!s->exec.dead_since)
		s->exec.dead_since = r->now;
	if (r->now - s->exec.dead_since < tsc_hz())
		return;
	for (uint32_t i = 0; i < r->executors; i++) {
		end_abandoned(r->executor[i], s);
		end_own(r->executor[i], s, r->now - s->exec.dead_since);
	}
}
