/* SPDX-License-Identifier: MIT */
/* callers_leave.c - withdraws calls of services that are not wanted, and lets go of callers */
#include "callers.h"

#include "backend/backend.h"
#include "callers_private.h"
#include "exchange.h"
#include "job/sched.h"
#include "memory/sigbus_guard.h"
#include "observe/named_waits.h"
#include "session/objects.h"

/* ---- withdrawing ---- */

/* Not at once: the job may end by it, and the caller of this may be looking at all jobs. */
static void withdraw(struct reactor *r, struct service_call *call)
{
	if (call->withdrawing)
		return;
	call->withdrawing = true;
	call->withdraws = r->to_withdraw;
	r->to_withdraw = call;
}

bool callers_withdraw(struct reactor *r)
{
	struct service_call *call;
	bool any = false;

	while ((call = r->to_withdraw) != NULL) {
		r->to_withdraw = call->withdraws;
		exchange_send(r, call->caller->service->home, &call->withdrawal, LETTER_WITHDRAW);
		any = true;
	}
	return any;
}

void caller_withdrawn(struct reactor *r, struct service_call *call)
{
	call->withdrawing = false;
	if (!call->is_done)
		return;
	call->is_done = false;
	caller_done(r, call);
}

/* ---- jobs that are late or cancelled ---- */

bool callers_can_be_late(const struct job *job)
{
	return job->state == JOB_RUNNING && !job->failed && !job->collects && !job_host_zero(job);
}

/*
 * Its home says whether it was in time.  What an object answers at once cannot be taken back, nor
 * what a thread of a process has taken.
 */
static bool recall(struct reactor *r, struct session *s, struct job *job)
{
	struct service_call *call = caller_call_of(s, job);
	const bool is_object = caller_of(s, job)->service->object;

	if (call->withdrawing || (is_object && object_is_prompt(job->sqe.function)))
		return false;
	withdraw(r, call);
	return true;
}

bool callers_cancel(struct reactor *r, struct session *s, struct job *job)
{
	return callers_can_be_late(job) && recall(r, s, job);
}

uint64_t callers_late(struct reactor *r, struct session *s, struct job *job, bool *ret_posted)
{
	if (caller_of(s, job)->service->object) {
		caller_call_of(s, job)->is_late |= recall(r, s, job);
		*ret_posted = false;
		return UINT64_MAX;
	}
	job_fail_late(s, job, job->start, r->now);
	withdraw(r, caller_call_of(s, job));
	*ret_posted = true;
	return UINT64_MAX;
}

/* ---- letting go ---- */

/* Callers of which one letter tells: the control thread has others to serve, too. */
#define TELL_MOST 16u

/* One letter at a time: all sessions of a reactor may leave at once. */
static void tell_gone(struct reactor *r)
{
	struct mail m = {.type = MAIL_CALLERS_GONE, .caller = r->callers_gone};
	struct caller *last = r->callers_gone;

	if (!last || r->callers_letter)
		return;
	for (unsigned n = 1; n < TELL_MOST && last->goes; n++)
		last = last->goes;
	r->callers_gone = last->goes;
	last->goes = NULL;
	r->callers_letter = true;
	mailbox_send(r->outbox, &m);
}

void callers_heard(struct reactor *r)
{
	r->callers_letter = false;
	tell_gone(r);
}

/* Nothing uses it any more. */
void caller_left(struct reactor *r, struct caller *c)
{
	c->goes = r->callers_gone;
	r->callers_gone = c;
	tell_gone(r);
}

/*
 * All its calls have come back, and no session has it.  Only now does the home of an object give
 * back what the session held: none of its jobs runs any more, so none does what it did under a lock.
 */
void caller_goes(struct reactor *r, struct caller *c)
{
	if (c->service->object)
		exchange_send(r, c->service->home, &c->leave_letter, LETTER_LEAVES);
	else
		caller_left(r, c);
}

void caller_detach(struct caller *c)
{
	struct session *s = c->session;

	named_waits_closed(s, c->index);
	if (c->service->object && c->service->object->tensor)
		sigbus_guard_name(s, c->index, NULL);
	s->services.caller[c->index] = NULL;
	s->services.callers--;
	c->session = NULL;
	COUNT_SHARED(c->service->attached, -1u);
}

/* ---- sessions that leave ---- */

/*
 * The session does not want the caller's jobs any more.  They end now, and the service is told of
 * their calls.  A job whose results are being copied ends when these are copied.
 */
static void abandon(struct reactor *r, struct session *s, struct caller *c)
{
	caller_cancel_ready(s, c);
	c->died = s->dead;
	for (uint32_t i = 0; i < CALLER_CALLS; i++) {
		struct service_call *call = &c->call[i];
		struct job *job = call->job != NIL ? &s->jobs[call->job] : NULL;

		if (!job || job->collects)
			continue;
		call->job = NIL;
		s->services.out--;
		caller_cancel_job(s, job);
		withdraw(r, call);
	}
}

void callers_abandon(struct reactor *r, struct session *s)
{
	for (uint32_t i = 0; s->services.callers && i < QUOIT_MAX_SERVICES; i++)
		if (s->services.caller[i])
			abandon(r, s, s->services.caller[i]);
	reactor_attend(r, s);
}

void callers_leave(struct reactor *r, struct session *s)
{
	callers_end_held_back(r, s);
	for (uint32_t i = 0; s->services.callers && i < QUOIT_MAX_SERVICES; i++) {
		struct caller *c = s->services.caller[i];

		if (!c)
			continue;
		c->out -= c->buffer != NIL; /* which goes with the session's tables */
		caller_detach(c);
		if (!c->out)
			caller_goes(r, c);
	}
}

void caller_close(struct reactor *r, struct session *s, uint32_t index)
{
	struct caller *c = s->services.caller[index];

	if (!c || c->closing)
		return;
	c->closing = true;
	caller_cancel_ready(s, c);
	reactor_attend(r, s);
	for (uint32_t i = 0; c->out && i < CALLER_CALLS; i++)
		if (c->call[i].job != NIL && !s->jobs[c->call[i].job].collects)
			withdraw(r, &c->call[i]);
	if (c->out)
		return;
	caller_detach(c);
	caller_goes(r, c);
}

bool callers_let_go(struct reactor *r, struct session *s)
{
	if (!s->services.unused)
		return false;
	s->services.unused = false;
	for (uint32_t i = 0; i < QUOIT_MAX_SERVICES; i++) {
		struct caller *c = s->services.caller[i];

		if (!c || !c->closing || c->out)
			continue;
		caller_detach(c);
		caller_goes(r, c);
	}
	return true;
}
