/* SPDX-License-Identifier: MIT */
/* callers.c - sends the calls of a session to services */
#include "callers.h"

#include <errno.h>

#include "backend/program/call_entry.h"
#include "base/tsc.h"
#include "callers_private.h"
#include "dense.h"
#include "exchange.h"
#include "key_caller.h"
#include "job/message_order.h"
#include "job/probes.h"
#include "job/sched.h"
#include "memory/sigbus_guard.h"
#include "observe/named_waits.h"
#include "session/named_tensor.h"
#include "session/objects.h"
#include "session/poison.h"

/* ---- where a job's call is ---- */

struct caller *caller_of(const struct session *s, const struct job *job)
{
	return s->services.caller[job->sqe.team - QUOIT_TEAM_SERVICE];
}

bool caller_is_of_queue(const struct caller *c)
{
	return c->service->object && c->service->object->kind == QUOIT_SYNC_QUEUE;
}

bool caller_is_of_keyspace(const struct caller *c)
{
	return c->keys;
}

struct service_call *caller_call_of(const struct session *s, const struct job *job)
{
	return &caller_of(s, job)->call[job->call];
}

/* ---- sending ---- */

/* Its turn comes, and it ends without running. */
void caller_cancel_job(struct session *s, struct job *job)
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
	call->sends = job->is_message && message_way(job->sqe.function) == MESSAGE_SENT;
	call->moves = call->sends ? 1 : job->writes;
	call->bytes = dense_bytes(s, job, call->moves);
	call->submitted = tsc_now();
	call->token = token_of(s, job);
	call->poisoned = job->keeps_poison && call->token &&
			 view_is_poisoned(s, &s->views[job->view[0]], &job->error);
	call->again = call->ran = call->is_late = false;
	call->began = call->ended = call->submitted;
	call->unserved = false;
	call->stalled = 0;
	call->from = NULL;
	call->message = NULL;
	call->dense = NULL;
	call->text[0] = '\0';
}

static void submit(struct reactor *r, struct caller *c, struct job *job)
{
	struct session *s = c->session;
	struct service_call *call = &c->call[c->free];

	c->free = call->next;
	c->out++;
	if (caller_is_of_queue(c)) {
		c->out_way[message_way(job->sqe.function)]++;
		message_order_leave(s, c, job);
	}
	COUNT_BY(c->running, 1);
	s->services.out++;
	job->call = (uint8_t)call->number;
	call->job = job_index(s, job);
	fill(s, job, call);
	c->latest = call->submitted;
	c->latest_way = named_way(c, call->entry.function);
	job_become(s, job, JOB_RUNNING);
	job->start = call->submitted;
	probe_start(s, job);
	if (caller_is_of_keyspace(c))
		key_call_begin(s, job, call);
	exchange_send(r, c->service->home, &call->letter, LETTER_SUBMIT);
}

static struct job_queue *first_queue(struct caller *c)
{
	return c->prompt.head != NIL ? &c->prompt : sched_most_urgent(c->ready);
}

/* What waits at an object must not keep away what it waits for. */
static bool has_free_call(const struct caller *c, const struct job_queue *q)
{
	if (caller_is_of_queue(c))
		return c->out_way[q - c->ready] < CALLER_WAY_CALLS;
	if (caller_is_of_keyspace(c) && q == &c->prompt && !key_caller_has_place(c))
		return false;
	return c->free != NIL &&
	       (q == &c->prompt || !c->service->object || c->out < CALLER_CALLS - CALLER_KEPT);
}

/* Is there a job that has a free call?  One that has failed meanwhile needs none. */
static bool can_send(const struct caller *c, const struct job_queue *q)
{
	return q->head != NIL && (c->session->jobs[q->head].failed || has_free_call(c, q));
}

/* NULL: nothing can be sent now. */
static struct job_queue *next_queue(struct caller *c)
{
	struct job_queue *q;

	if (caller_is_of_queue(c)) /* if those that send cannot go on, those that receive may */
		q = &c->ready[can_send(c, &c->ready[MESSAGE_SENT]) ? MESSAGE_SENT
								   : MESSAGE_RECEIVED];
	else
		q = first_queue(c);
	return q && can_send(c, q) ? q : NULL;
}

/*
 * While pieces of memory are moved, none has a place to name, or to copy from.  Calls of other objects
 * name none, and messages are copied later.
 */
static bool must_hold(const struct session *s, const struct caller *c)
{
	if (caller_is_of_keyspace(c))
		return s->memory.tidying > TIDY_WAITS;
	return s->memory.tidying && !c->service->object;
}

/* Send what there are free calls for. */
void caller_send_ready(struct reactor *r, struct caller *c)
{
	struct session *s = c->session;
	struct job_queue *q;

	if (must_hold(s, c)) {
		s->services.held = true;
		return;
	}
	while ((q = next_queue(c)) != NULL) {
		struct job *job = &s->jobs[q->head];

		q->head = job->next;
		s->services.ready--;
		COUNT_DOWN(c->waiting);
		if (job->failed)
			caller_cancel_job(s, job);
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
	struct caller *c = caller_of(s, job);

	job->caller = c->number;
	if (caller_is_of_queue(c))
		message_order_enter(s, c, job);
	/* A send waits also for readers of its second tensor, and so counts as its writer till here. */
	if (caller_is_of_queue(c) && message_way(job->sqe.function) == MESSAGE_SENT)
		job->writes = 0;
	if (!gives_back(c, job))
		return;
	job->reads = 0;
	job->keeps_poison = true;
}

static struct job_queue *queue_for(struct caller *c, const struct job *job)
{
	const bool prompt = c->service->object && object_is_prompt(job->sqe.function);

	if (caller_is_of_queue(c))
		return &c->ready[message_way(job->sqe.function)];
	return prompt ? &c->prompt : &c->ready[job->sqe.priority];
}

int callers_start(struct reactor *r, struct session *s, struct job *job)
{
	struct caller *c = caller_of(s, job);

	/* Its number in the session may be another service's by now. */
	if (!c || c->closing || c->number != job->caller || s->dead || s->cut) {
		caller_cancel_job(s, job);
		return 0;
	}
	s->services.ready++;
	COUNT_BY(c->waiting, 1);
	if (message_order_waits(job)) {
		job->waits_turn = true;
		return 0;
	}
	sched_append(s, queue_for(c, job), job);
	caller_send_ready(r, c);
	return 0;
}

static void cancel_ready(struct session *s, struct caller *c, struct job *job)
{
	s->services.ready--;
	COUNT_DOWN(c->waiting);
	caller_cancel_job(s, job);
}

/* Those of one ring that are ready, but for their turn. */
static void cancel_order(struct session *s, struct caller *c, uint32_t first)
{
	for (uint32_t i = first; i != NIL; i = s->jobs[i].behind)
		if (s->jobs[i].waits_turn) {
			s->jobs[i].waits_turn = false;
			cancel_ready(s, c, &s->jobs[i]);
		}
}

void caller_cancel_ready(struct session *s, struct caller *c)
{
	struct job_queue *q;

	while ((q = first_queue(c)) != NULL) {
		struct job *job = &s->jobs[q->head];

		q->head = job->next;
		cancel_ready(s, c, job);
	}
	for (uint32_t i = 0; caller_is_of_queue(c) && i < QUOIT_MAX_RINGS; i++)
		for (unsigned way = 0; way < MESSAGE_WAYS; way++)
			cancel_order(s, c, c->order[way][i].head);
}

/* ---- coming ---- */

void caller_add(struct session *s, struct caller *c)
{
	c->session = s;
	s->services.caller[c->index] = c;
	s->services.callers++;
	if (c->service->object && c->service->object->tensor)
		sigbus_guard_name(s, c->index, c->service->object->tensor);
	COUNT_SHARED(c->service->attached, 1);
}
