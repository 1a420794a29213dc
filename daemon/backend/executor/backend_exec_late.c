/* SPDX-License-Identifier: MIT */
/* backend_exec_late.c - end executors that work at a job for too long */
#include "backend_exec_late.h"

#include <errno.h>

#include "backend_device.h"
#include "backend_direct.h"
#include "backend_exec.h"
#include "backend_kernels.h"
#include "base/tsc.h"
#include "exec_port.h"
#include "job/job.h"

/*
 * A job whose deadline passed while it waited in the executor has its CQE already.  It is checked
 * OVERDUE_LOOKS times a second, and may run for 1/OVERDUE_GRACE second.
 */
#define OVERDUE_LOOKS 100u
#define OVERDUE_GRACE 10u

/* An executor is checked for hanging at most this many times a second. */
#define HUNG_LOOKS 100u

static void kill_late(struct exec_port *p, const struct exec_flight *f, struct job *job,
		      const struct quoit_error *error)
{
	p->culprit = exec_port_name(p, f);
	if (!job->failed) {
		job->failed = -ETIME;
		job->error = *error;
	}
	exec_port_kill(p, KILL_LATE);
}

/* It has run for as long as any job may. */
static void kill_long(struct exec_port *p, const struct exec_flight *f, struct job *job)
{
	const struct quoit_error error = {.field = QUOIT_FIELD_DEADLINE, .value = {p->job_ms}};

	kill_late(p, f, job, &error);
}

/*
 * What stream i is timed for; 0: nothing.  A job's name may stay for a moment after its answer, so
 * an unknown name counts only if no answer came since the last look.
 */
static uint64_t watched(const struct exec_port *p, const struct exec_flight *f, uint32_t i)
{
	if (f)
		return f->serial;
	if (p->asking.type) /* it has a time limit of its own */
		return 0;
	if (!exec_port_names_unsent(p, i) || p->answered != p->idle_answered)
		return 0;
	return EXEC_NOBODY | exec_port_running(p, i); /* another name is timed anew */
}

/* A job that runs for `most` ticks keeps the module, or its stream, from all others. */
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
		kill_long(p, f, &f->session->jobs[f->job]);
	else
		exec_port_kill(p, KILL_NAME);
}

/* The same for the consumer on a device, which works at the oldest job in its ring. */
static void end_late_direct(struct reactor *r, struct exec_port *p, uint64_t most)
{
	const struct exec_flight *f = p->device ? direct_hung(p, r->now, most) : NULL;

	if (f)
		kill_long(p, f, &f->session->jobs[f->job]);
}

/* Kill an executor that has requests, works at nothing, and has not answered for `most` ticks. */
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

/* A job's time begins when it is first seen to run; the reactor looks at least once a second. */
void exec_end_hung(struct reactor *r, struct exec_port *p)
{
	uint64_t most = p->job_ms * (tsc_hz() / 1000);

	if (r->now - p->last_look < tsc_hz() / HUNG_LOOKS)
		return;
	p->last_look = r->now;
	for (uint32_t i = 0; i < QUOIT_EXEC_STREAMS; i++)
		end_late(r, p, i, most);
	end_late_direct(r, p, most);
	end_idle(r, p, most);
	if (p->asking.type && r->now - p->asking.since >= most)
		exec_port_kill(p, KILL_LATE);
}

/*
 * May the process be killed for this job?  A shared device's process holds all users' memory, and
 * no deadline is worth that.  A kernel that a client brought runs in its user's own process, which
 * may be killed.
 */
static bool may_end(const struct exec_port *p, const struct job *job)
{
	return !p->device || (p->owner && job->sqe.opcode == QUOIT_OP_LAUNCH);
}

/* The job runs past its deadline.  If its CQE was posted already, it gets some time to finish. */
static bool is_to_be_killed(struct exec_flight *f, const struct job *job, uint64_t now)
{
	if (!f->overdue)
		f->overdue = now;
	return !job->posted || now - f->overdue >= tsc_hz() / OVERDUE_GRACE;
}

/* Does the job keep busy a process that may be killed for it?  A copy between devices does not. */
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

		const struct quoit_error error = job_missed_deadline(job, job->start, r->now);

		kill_late(p, &p->flight[job->work], job, &error);
	} else if (!job->failed) {
		job_fail_late(s, job, job->start, r->now);
		*ret_posted = true;
	}
	return r->now + tsc_hz() / OVERDUE_LOOKS;
}

/*
 * A user's own process runs that user's code and may claim anything.  It may keep a dead session's
 * jobs for as long as OWN_JOBS of them, one behind the other in a stream, may take.
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
