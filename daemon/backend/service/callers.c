/* SPDX-License-Identifier: MIT */
/* callers.c - sends the calls of a session to services, and ends its jobs when they come back */
#include "callers.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/program/call_entry.h"
#include "base/tsc.h"
#include "callers_private.h"
#include "exchange.h"
#include "job/probes.h"
#include "job/sched.h"
#include "memory/sigbus_guard.h"
#include "results.h"
#include "session/objects.h"
#include "session/poison.h"

/* Results of so many bytes are copied when they come; larger ones in the passes that follow. */
#define COPY_INLINE_BYTES 4096u

/* ---- where a job's call is ---- */

struct caller *caller_of(const struct session *s, const struct job *job)
{
	return s->services.caller[job->sqe.team - QUOIT_TEAM_SERVICE];
}

static struct service_call *call_of(const struct session *s, const struct job *job)
{
	return &caller_of(s, job)->call[job->call];
}

/* ---- sending ---- */

/* Its turn comes, and it ends without running. */
static void cancel(struct session *s, struct job *job)
{
	if (!job->failed)
		job->failed = -ECANCELED;
	sched_push(s, job);
}

/* So that a lock is unlocked with what it was locked with. */
static uint32_t token_of(const struct session *s, const struct job *job)
{
	return job->tensors & 1 ? 1 + s->views[job->view[0]].buffer : 0;
}

static void fill(const struct session *s, struct job *job, struct service_call *call)
{
	call_entry_fill(s, job, &call->entry);
	call->entry.caller = call->caller->number;
	call->entry.uid = s->uid;
	call->entry.pid = (uint32_t)s->pid;
	call->share = user_share(s->user);
	call->priority = job->sqe.priority;
	call->bytes = results_bytes(s, job);
	call->submitted = tsc_now();
	call->token = token_of(s, job);
	call->poisoned = job->keeps_poison && call->token &&
			 view_is_poisoned(s, &s->views[job->view[0]], &job->error);
	call->again = call->ran = call->is_late = false;
	call->began = call->ended = call->submitted;
	call->from = NULL;
	call->results = NULL;
	call->text[0] = '\0';
}

static void submit(struct reactor *r, struct caller *c, struct job *job)
{
	struct session *s = c->session;
	struct service_call *call = &c->call[c->free];

	c->free = call->next;
	c->out++;
	COUNT_BY(c->running, 1);
	s->services.out++;
	job->call = (uint8_t)call->number;
	call->job = job_index(s, job);
	fill(s, job, call);
	job_become(s, job, JOB_RUNNING);
	job->start = call->submitted;
	probe_start(s, job);
	exchange_send(r, c->service->home, &call->letter, LETTER_SUBMIT);
}

static struct job_queue *next_queue(struct caller *c)
{
	return c->prompt.head != NIL ? &c->prompt : sched_most_urgent(c->ready);
}

/* What waits at an object must not keep away what it waits for. */
static bool has_free_call(const struct caller *c, const struct job_queue *q)
{
	return c->free != NIL &&
	       (q == &c->prompt || !c->service->object || c->out < CALLER_CALLS - CALLER_KEPT);
}

/*
 * Send what there are free calls for.  Jobs that have failed meanwhile need none.  While pieces of
 * memory are moved, no call has a place to name.
 */
static void send_ready(struct reactor *r, struct caller *c)
{
	struct session *s = c->session;
	struct job_queue *q;

	if (s->memory.tidying && !c->service->object) {
		s->services.held = true;
		return;
	}
	while ((q = next_queue(c)) != NULL) {
		struct job *job = &s->jobs[q->head];

		if (!job->failed && !has_free_call(c, q))
			return;
		q->head = job->next;
		s->services.ready--;
		COUNT_DOWN(c->waiting);
		if (job->failed)
			cancel(s, job);
		else
			submit(r, c, job);
	}
}

/* What gives back is done though a job under the lock has failed; then its home looks at the rest. */
static bool gives_back(const struct caller *c, const struct job *job)
{
	return c->service->object &&
	       (job->sqe.function == QUOIT_SYNC_UNLOCK || job->sqe.function == QUOIT_SYNC_GIVE);
}

void callers_enter(struct session *s, struct job *job)
{
	const struct caller *c = caller_of(s, job);

	job->caller = c->number;
	if (!gives_back(c, job))
		return;
	job->reads = 0;
	job->keeps_poison = true;
}

static struct job_queue *queue_for(struct caller *c, const struct job *job)
{
	const bool prompt = c->service->object && object_is_prompt(job->sqe.function);

	return prompt ? &c->prompt : &c->ready[job->sqe.priority];
}

int callers_start(struct reactor *r, struct session *s, struct job *job)
{
	struct caller *c = caller_of(s, job);

	/* Its number in the session may be another service's by now. */
	if (!c || c->closing || c->number != job->caller || s->dead || s->cut) {
		cancel(s, job);
		return 0;
	}
	sched_append(s, queue_for(c, job), job);
	s->services.ready++;
	COUNT_BY(c->waiting, 1);
	send_ready(r, c);
	return 0;
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
static void is_gone(struct reactor *r, struct caller *c)
{
	c->goes = r->callers_gone;
	r->callers_gone = c;
	tell_gone(r);
}

void caller_left(struct reactor *r, struct caller *c)
{
	is_gone(r, c);
}

/*
 * All its calls have come back, and no session has it.  Only now does the home of an object give
 * back what the session held: none of its jobs runs any more, so none does what it did under a lock.
 */
static void goes(struct reactor *r, struct caller *c)
{
	if (c->service->object)
		exchange_send(r, c->service->home, &c->leave_letter, LETTER_LEAVES);
	else
		is_gone(r, c);
}

static void detach(struct caller *c)
{
	struct session *s = c->session;

	s->services.caller[c->index] = NULL;
	s->services.callers--;
	c->session = NULL;
	COUNT_SHARED(c->service->attached, -1u);
}

void caller_free_call(struct reactor *r, struct service_call *call)
{
	struct caller *c = call->caller;

	call->from = NULL;
	call->next = c->free;
	c->free = call->number;
	assert(c->out > 0);
	c->out--;
	COUNT_DOWN(c->running);
	if (c->session && !c->closing) {
		send_ready(r, c);
		return;
	}
	if (c->out)
		return;
	if (c->session)
		detach(c);
	goes(r, c);
}

/* Nothing needs the call any more, except that its server may wait to use its memory again. */
static void finish(struct reactor *r, struct service_call *call)
{
	call->job = NIL;
	if (call->from)
		exchange_send(r, call->server->reactor, &call->letter, LETTER_TAKEN);
	else
		caller_free_call(r, call);
}

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

/* ---- coming back ---- */

static void count(struct caller *c, const struct service_call *call)
{
	uint64_t ran = call->ended - call->began, waited = call->began - call->submitted;

	COUNT_BY(c->calls, 1);
	COUNT_BY(c->failed, call->result < 0);
	COUNT_BY(c->ticks, ran);
	COUNT_BY(c->wait, waited);
	if (ran > COUNT_OF(c->longest))
		atomic_store_explicit(&c->longest, ran, memory_order_relaxed);
}

/* What the function said, beside the CQE that is about to come. */
static void keep_text(struct ring *ring, const struct service_call *call)
{
	struct quoit_call_text *to = &ring->texts[ring->text_next++ % QUOIT_RING_TEXTS];

	to->user_data = call->entry.user_data;
	memcpy(to->text, call->text, sizeof to->text);
}

/* Of an object: it was withdrawn in time, or its lock was never locked since a job had failed. */
static void see_why(struct reactor *r, struct session *s, struct job *job,
		    const struct service_call *call)
{
	if (call->result == -ECANCELED && call->is_late)
		job_fail_late(s, job, 0, r->now); /* it never began */
	else if (call->result == -EPERM && call->poisoned)
		job->failed =
			-QUOIT_EPOISON; /* job->error has been the cause since it was filled */
}

static void end_job(struct reactor *r, struct session *s, struct job *job,
		    struct service_call *call)
{
	int32_t res;

	if (call->caller->service->object && !job->failed)
		see_why(r, s, job, call);
	res = job->failed ? job->failed : call->result;
	if (res < 0 && !job->failed)
		job->error =
			(struct quoit_error){.field = call->error.field,
					     .value = {call->error.value[0], call->error.value[1]}};
	if (res < 0 && res == call->result && *call->text)
		keep_text(s->rings[job->ring], call);
	assert(s->services.out > 0);
	s->services.out--;
	if (call->ran) {
		s->calls.returned++;
		s->calls.ticks += call->ended - call->began;
	}
	reactor_end_job(r, s, job, res);
	finish(r, call);
}

/* All results are copied, or cannot be. */
static void end_collect(struct reactor *r, struct session *s, struct job *job,
			struct service_call *call)
{
	job->collects = false;
	if (sigbus_guard_has_hit(call->from)) { /* zeros, where the results should be */
		service_call_dies(call);
	} else if (sigbus_guard_has_hit(s)) {
		call->result = -EFAULT;
		call->error = (struct quoit_error){0};
	}
	end_job(r, s, job, call);
}

static void collect(struct reactor *r, struct session *s, struct job *job,
		    struct service_call *call)
{
	call->copied = 0;
	job->collects = true;
	if (call->bytes <= COPY_INLINE_BYTES && results_copy_part(s, job, call))
		end_collect(r, s, job, call);
	else
		sched_append(s, &s->services.results, job);
}

/* Copy a part of the first job's results.  A client that has died needs none: its job ends as it is. */
static bool copy_results(struct reactor *r, struct session *s)
{
	struct job_queue *q = &s->services.results;
	struct service_call *call;
	struct job *job;

	if (q->head == NIL)
		return false;
	reactor_charge(r, s);
	job = &s->jobs[q->head];
	call = call_of(s, job);
	if (!s->dead && !sigbus_guard_has_hit(call->from) && !results_copy_part(s, job, call))
		return true;
	q->head = job->next;
	end_collect(r, s, job, call);
	return true;
}

/* While pieces of memory are moved, no job ends: it might free one. */
static void hold_back(struct session *s, struct service_call *call)
{
	call->held_back = s->services.held_back;
	s->services.held_back = call;
	s->services.held = true;
}

static void end_held_back(struct reactor *r, struct session *s)
{
	struct service_call *call;

	while ((call = s->services.held_back) != NULL) {
		s->services.held_back = call->held_back;
		caller_done(r, call);
	}
}

static bool send_held(struct reactor *r, struct session *s)
{
	if (!s->services.held || s->memory.tidying)
		return false;
	s->services.held = false;
	end_held_back(r, s);
	for (uint32_t i = 0; i < QUOIT_MAX_SERVICES; i++)
		if (s->services.caller[i])
			send_ready(r, s->services.caller[i]);
	return true;
}

bool callers_advance(struct reactor *r, struct session *s)
{
	bool any = send_held(r, s);

	return copy_results(r, s) || any;
}

void caller_done(struct reactor *r, struct service_call *call)
{
	struct caller *c = call->caller;
	struct session *s = c->session;
	struct job *job;

	if (call->withdrawing) {
		call->is_done = true;
		return;
	}
	if (s && call->job != NIL && c->service->object && s->memory.tidying > TIDY_WAITS) {
		hold_back(s, call);
		return;
	}
	if (call->ran)
		count(c, call);
	if (!s || call->job == NIL) {
		c->unheard += call->took ? call->entry.scalar[0] : 0;
		finish(r, call);
		return;
	}
	reactor_charge(r, s);
	job = &s->jobs[call->job];
	job->start = call->began;
	job->end = call->ended;
	if (call->result >= 0 && call->from && !job->failed)
		collect(r, s, job, call);
	else
		end_job(r, s, job, call);
}

/* ---- late jobs, and sessions that leave ---- */

bool callers_can_be_late(const struct job *job)
{
	return job->state == JOB_RUNNING && !job->failed && !job->collects && !job_host_zero(job);
}

/* Its home says whether it was in time.  What it answers at once cannot be taken back. */
static bool recall(struct reactor *r, struct session *s, struct job *job)
{
	struct service_call *call = call_of(s, job);

	if (call->withdrawing || object_is_prompt(job->sqe.function))
		return false;
	withdraw(r, call);
	return true;
}

bool callers_cancel(struct reactor *r, struct session *s, struct job *job)
{
	return callers_can_be_late(job) && caller_of(s, job)->service->object && recall(r, s, job);
}

uint64_t callers_late(struct reactor *r, struct session *s, struct job *job, bool *ret_posted)
{
	if (caller_of(s, job)->service->object) {
		call_of(s, job)->is_late |= recall(r, s, job);
		*ret_posted = false;
		return UINT64_MAX;
	}
	job_fail_late(s, job, job->start, r->now);
	withdraw(r, call_of(s, job));
	*ret_posted = true;
	return UINT64_MAX;
}

static void cancel_ready(struct session *s, struct caller *c)
{
	struct job_queue *q;

	while ((q = next_queue(c)) != NULL) {
		struct job *job = &s->jobs[q->head];

		q->head = job->next;
		s->services.ready--;
		COUNT_DOWN(c->waiting);
		cancel(s, job);
	}
}

/*
 * End the caller's jobs now, though their calls are still under way.  A job whose results are being
 * copied is left alone: it ends when that is done.
 */
static void abandon(struct reactor *r, struct session *s, struct caller *c)
{
	cancel_ready(s, c);
	c->died = s->dead;
	for (uint32_t i = 0; i < CALLER_CALLS; i++) {
		struct service_call *call = &c->call[i];
		struct job *job = call->job != NIL ? &s->jobs[call->job] : NULL;

		if (!job || job->collects)
			continue;
		call->job = NIL;
		s->services.out--;
		cancel(s, job);
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
	end_held_back(r, s);
	for (uint32_t i = 0; s->services.callers && i < QUOIT_MAX_SERVICES; i++) {
		struct caller *c = s->services.caller[i];

		if (!c)
			continue;
		detach(c);
		if (!c->out)
			goes(r, c);
	}
}

void caller_add(struct session *s, struct caller *c)
{
	c->session = s;
	s->services.caller[c->index] = c;
	s->services.callers++;
	COUNT_SHARED(c->service->attached, 1);
}

void caller_close(struct reactor *r, struct session *s, uint32_t index)
{
	struct caller *c = s->services.caller[index];

	if (!c || c->closing)
		return;
	c->closing = true;
	cancel_ready(s, c);
	reactor_attend(r, s);
	for (uint32_t i = 0; c->out && i < CALLER_CALLS; i++)
		if (c->call[i].job != NIL && !s->jobs[c->call[i].job].collects)
			withdraw(r, &c->call[i]);
	if (c->out)
		return;
	detach(c);
	goes(r, c);
}
