/* SPDX-License-Identifier: MIT */
/* callers_back.c - ends the jobs of a session whose calls come back from services */
#include "callers.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "backend/backend.h"
#include "callers_private.h"
#include "dense.h"
#include "exchange.h"
#include "key_caller.h"
#include "job/message_order.h"
#include "job/record.h"
#include "job/sched.h"
#include "memory/sigbus_guard.h"
#include "observe/named_waits.h"

/* Results of so many bytes are copied when they come; larger ones in the passes that follow. */
#define COPY_INLINE_BYTES 4096u

void caller_free_call(struct reactor *r, struct service_call *call)
{
	struct caller *c = call->caller;

	call->from = NULL;
	if (caller_is_of_keyspace(c))
		key_call_end(call);
	call->next = c->free;
	c->free = call->number;
	assert(c->out > 0);
	c->out--;
	if (caller_is_of_queue(c))
		c->out_way[message_way(call->entry.function)]--;
	COUNT_DOWN(c->running);
	if (c->session && !c->closing) {
		caller_send_ready(r, c);
		return;
	}
	if (c->out)
		return;
	if (c->session)
		caller_detach(c);
	caller_goes(r, c);
}

/*
 * Nothing needs the call any more, except that its server may wait to use its memory again, or its
 * queue to hear what has become of the message.
 */
static void finish(struct reactor *r, struct service_call *call)
{
	call->job = NIL;
	if (call->message)
		exchange_send(r, call->caller->service->home, &call->letter, LETTER_MOVED);
	else if (call->from)
		exchange_send(r, call->server->reactor, &call->letter, LETTER_TAKEN);
	else
		caller_free_call(r, call);
}

/* ---- the ends of jobs ---- */

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
		r->count[QUOIT_REACTOR_CALLS]++;
	}
	record_named(s, job, call);
	reactor_end_job(r, s, job, res);
	finish(r, call);
}

static bool source_is_gone(const struct service_call *call)
{
	return call->from && sigbus_guard_has_hit(call->from);
}

/* All is copied, or cannot be. */
static void end_collect(struct reactor *r, struct session *s, struct job *job,
			struct service_call *call)
{
	job->collects = false;
	if (source_is_gone(call)) { /* zeros, where the results should be */
		service_call_dies(call);
	} else if (call->message && call->copied < call->bytes) { /* a part of a message is none */
		call->result = -ECANCELED;
	} else {
		struct quoit_error error = {0};
		int err = sigbus_guard_result(s, call->moves, job->view, &error);

		call->result = err ? err : call->result;
		call->error = err ? error : call->error;
	}
	end_job(r, s, job, call);
}

/* Copy the results to the job's tensors, or a message to or from them. */
static void collect(struct reactor *r, struct session *s, struct job *job,
		    struct service_call *call)
{
	call->copied = 0;
	job->collects = true;
	if (call->bytes <= COPY_INLINE_BYTES && dense_copy_part(s, job, call))
		end_collect(r, s, job, call);
	else
		sched_append(s, &s->services.copies, job);
}

/* Copy a part for the first job.  A client that has died needs none: its job ends as it is. */
static bool copy_first(struct reactor *r, struct session *s)
{
	struct job_queue *q = &s->services.copies;
	struct service_call *call;
	struct job *job;

	if (q->head == NIL)
		return false;
	reactor_charge(r, s);
	job = &s->jobs[q->head];
	call = caller_call_of(s, job);
	if (!s->dead && !source_is_gone(call) && !dense_copy_part(s, job, call))
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

void callers_end_held_back(struct reactor *r, struct session *s)
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
	callers_end_held_back(r, s);
	for (uint32_t i = 0; i < QUOIT_MAX_SERVICES; i++)
		if (s->services.caller[i])
			caller_send_ready(r, s->services.caller[i]);
	return true;
}

bool callers_advance(struct reactor *r, struct session *s)
{
	bool any = send_held(r, s);

	any |= callers_let_go(r, s);
	return copy_first(r, s) || any;
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
		call->result = -ECANCELED; /* no job is left that could copy a message */
		finish(r, call);
		return;
	}
	reactor_charge(r, s);
	named_waits_return(s, call, r->now);
	job = &s->jobs[call->job];
	job->start = call->began;
	job->end = call->ended;
	if (call->message && job->failed)
		call->result = -ECANCELED;
	if (call->result >= 0 && call->dense && !job->failed)
		collect(r, s, job, call);
	else
		end_job(r, s, job, call);
}
