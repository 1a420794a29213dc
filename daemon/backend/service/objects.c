/* SPDX-License-Identifier: MIT */
/* objects.c - does what calls ask of locks, flags, semaphores and barriers */
#include "object_calls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/tsc.h"
#include "call_queue.h"
#include "exchange.h"
#include "session/owner.h"

/* ---- ends of calls ---- */

/*
 * The call ends.  Its reactor hears of it later, even if it is this one: else the jobs behind it
 * could ask for the same object again in the midst of this, one in the other.  One that is answered
 * while it is submitted is told when that is done.
 */
static void answer(struct service_call *call, int32_t result)
{
	struct service *service = call->caller->service;

	COUNT_BY(service->calls, 1);
	COUNT_BY(service->failed, result < 0 && result != -ECANCELED);
	call->ran = true;
	call->began = call->ended = tsc_now();
	call->result = result;
	if (call->submits)
		call->submits = false;
	else
		exchange_post(call->caller->reactor, &call->letter, LETTER_DONE);
}

static void refuse(struct service_call *call, int32_t error, const char *why)
{
	call->error = (struct quoit_error){0};
	snprintf(call->text, sizeof call->text, "%s", why);
	answer(call, error);
}

static void wait_in(struct call_queue *q, struct service_call *call)
{
	call->waits_in = q;
	call->waits = true;
	call_queue_put(q, call);
	COUNT_BY(call->caller->service->waiting, 1);
	COUNT_BY(call->caller->queued, 1);
}

static void stop_waiting(struct service_call *call)
{
	call_queue_remove(call->waits_in, call);
	call->waits = false;
	COUNT_DOWN(call->caller->service->waiting);
	COUNT_DOWN(call->caller->queued);
}

static struct service_call *take_oldest(struct call_queue *q)
{
	struct service_call *call = q->oldest;

	if (call)
		stop_waiting(call);
	return call;
}

/* ---- locks ---- */

static void hold(struct object *o, struct service_call *call)
{
	int32_t result = o->owner_died ? QUOIT_OWNER_DIED : 0;

	o->owner_died = false;
	o->holder = call->caller;
	o->held_with[o->depth++] = call->token;
	answer(call, result);
}

static void lock(struct object *o, struct service_call *call)
{
	if (!o->holder)
		hold(o, call);
	else if (!o->recursive || o->holder != call->caller)
		wait_in(&o->waiting, call);
	else if (o->depth < OBJECT_DEPTH)
		hold(o, call);
	else
		refuse(call, -EAGAIN, "the session has this lock 16 times already");
}

/* What else the holder of a recursive lock has asked for while another one had it. */
static void hold_again(struct object *o)
{
	for (unsigned i = 0; i < CALLER_CALLS && o->depth < OBJECT_DEPTH; i++) {
		struct service_call *call = &o->holder->call[i];

		if (!call->waits || call->waits_in != &o->waiting)
			continue;
		stop_waiting(call);
		hold(o, call);
	}
}

/* The holder has it no more; the next one gets it. */
static void free_lock(struct object *o)
{
	struct service_call *next;

	o->holder = NULL;
	o->depth = 0;
	next = take_oldest(&o->waiting);
	if (!next)
		return;
	hold(o, next);
	if (o->recursive)
		hold_again(o);
}

/*
 * How often the session had locked it, when it locked it with this call's tensor; 0: never.  A call
 * without a tensor may be for any hold of a lock that is held once.
 */
static uint32_t find_hold(const struct object *o, const struct service_call *call)
{
	uint32_t depth = o->holder == call->caller ? o->depth : 0;

	if (depth && !call->token && !o->recursive)
		return depth;
	while (depth && o->held_with[depth - 1] != call->token)
		depth--;
	return depth;
}

/* False: it is refused. */
static bool is_held(const struct object *o, struct service_call *call)
{
	if (find_hold(o, call))
		return true;
	refuse(call, -EPERM,
	       o->holder == call->caller
		       ? "the session has locked it with another tensor: name that one"
		       : "the session does not hold the lock");
	return false;
}

static void unlock(struct object *o, struct service_call *call)
{
	uint32_t depth;

	if (!is_held(o, call))
		return;
	depth = find_hold(o, call);
	o->depth--;
	memmove(&o->held_with[depth - 1], &o->held_with[depth],
		(o->depth - (depth - 1)) * sizeof *o->held_with);
	answer(call, 0);
	if (!o->depth)
		free_lock(o);
}

static struct call_queue *condition_of(struct object *o, struct service_call *call)
{
	if (call->entry.arg < QUOIT_CONDITIONS)
		return &o->condition[call->entry.arg];
	refuse(call, -EINVAL, "a lock has conditions 0 to 7");
	return NULL;
}

/* Give the lock up, and get it again once notified. */
static void wait_for_condition(struct object *o, struct service_call *call)
{
	struct call_queue *q = condition_of(o, call);

	if (!q || !is_held(o, call))
		return;
	if (o->depth > 1) {
		refuse(call, -EDEADLK,
		       "the session has the lock more than once, and would keep it");
		return;
	}
	call->token = o->held_with[0]; /* it is had again as it was */
	wait_in(q, call);
	free_lock(o);
}

static void notify(struct object *o, struct service_call *call)
{
	struct call_queue *q = condition_of(o, call);
	struct service_call *one;

	if (!q || !is_held(o, call))
		return;
	for (uint64_t left = call->entry.scalar[0]; left && (one = take_oldest(q)); left--) {
		one->notified = call->entry.arg + 1;
		wait_in(&o->waiting, one);
	}
	answer(call, 0);
}

/* It was notified, and does not want the lock any more: another one is notified in its place. */
static void notify_another(struct object *o, const struct service_call *call)
{
	struct service_call *one = take_oldest(&o->condition[call->notified - 1]);

	if (!one)
		return;
	one->notified = call->notified;
	wait_in(&o->waiting, one);
}

/* ---- flags ---- */

static void set_flag(struct object *o, struct service_call *call)
{
	struct service_call *one;

	o->is_set = true;
	while ((one = take_oldest(&o->waiting)) != NULL)
		answer(one, 0);
	answer(call, 0);
}

static void clear_flag(struct object *o, struct service_call *call)
{
	o->is_set = false;
	answer(call, 0);
}

static void wait_for_flag(struct object *o, struct service_call *call)
{
	if (o->is_set)
		answer(call, 0);
	else
		wait_in(&o->waiting, call);
}

/* ---- semaphores ---- */

/* The first one that waits gets what it wants before any other: large wishes do not starve. */
static void serve_takers(struct object *o)
{
	struct service_call *call;

	while ((call = o->waiting.oldest) != NULL && call->entry.scalar[0] <= o->count) {
		uint64_t n = call->entry.scalar[0], *taken = &call->caller->taken;

		stop_waiting(call);
		o->count -= n;
		*taken = n < UINT64_MAX - *taken ? *taken + n : UINT64_MAX;
		call->took = true;
		answer(call, 0);
	}
}

static void take(struct object *o, struct service_call *call)
{
	if (call->entry.scalar[0] > o->most) {
		refuse(call, -EINVAL, "the semaphore never has as many");
		return;
	}
	wait_in(&o->waiting, call);
	serve_takers(o);
}

/* Never above the most, whatever was given meanwhile. */
static void put_back(struct object *o, uint64_t n)
{
	o->count += n < o->most - o->count ? n : o->most - o->count;
	serve_takers(o);
}

static void give(struct object *o, struct service_call *call)
{
	uint64_t n = call->entry.scalar[0], *taken = &call->caller->taken;

	if (call->poisoned && n > *taken) { /* else it gives what a job before took */
		refuse(call, -EPERM, "the session has not taken as many");
		return;
	}
	if (n > o->most - o->count) {
		refuse(call, -EOVERFLOW, "the semaphore would have more than it may");
		return;
	}
	*taken -= n < *taken ? n : *taken;
	answer(call, 0);
	put_back(o, n);
}

/* ---- barriers ---- */

/* All parties have come: each is told its number, in the order in which they came. */
static void open_barrier(struct object *o)
{
	struct service_call *call;
	int32_t number = 0;

	o->arrived = 0;
	while ((call = take_oldest(&o->waiting)) != NULL)
		answer(call, number++);
}

/* A party does not come any more: those who wait for it are told. */
static void break_barrier(struct object *o, int32_t error, const char *why)
{
	struct service_call *call;

	o->arrived = 0;
	while ((call = take_oldest(&o->waiting)) != NULL) {
		call->caller->seen_deaths = COUNT_OF(o->deaths);
		refuse(call, error, why);
	}
}

static void arrive(struct object *o, struct service_call *call)
{
	const uint32_t deaths = COUNT_OF(o->deaths);

	if (call->caller->seen_deaths != deaths) {
		call->caller->seen_deaths = deaths;
		refuse(call, -EOWNERDEAD, "a session that had the barrier open has died");
		return;
	}
	wait_in(&o->waiting, call);
	if (++o->arrived == o->parties)
		open_barrier(o);
}

/* ---- what the queue asks for ---- */

typedef void do_fn(struct object *o, struct service_call *call);

static do_fn *const ops[QUOIT_SYNC_OP_NR] = {
	[QUOIT_SYNC_LOCK_IT] = lock,
	[QUOIT_SYNC_UNLOCK] = unlock,
	[QUOIT_SYNC_WAIT_CONDITION] = wait_for_condition,
	[QUOIT_SYNC_NOTIFY] = notify,
	[QUOIT_SYNC_SET_FLAG] = set_flag,
	[QUOIT_SYNC_CLEAR_FLAG] = clear_flag,
	[QUOIT_SYNC_WAIT_FLAG] = wait_for_flag,
	[QUOIT_SYNC_TAKE] = take,
	[QUOIT_SYNC_GIVE] = give,
	[QUOIT_SYNC_ARRIVE] = arrive,
};

/* What the tools show of it. */
static void show(struct object *o)
{
	const uint64_t value = o->kind == QUOIT_SYNC_FLAG        ? o->is_set
			       : o->kind == QUOIT_SYNC_SEMAPHORE ? o->count
								 : o->arrived;

	atomic_store_explicit(&o->shown_value, value, memory_order_relaxed);
	atomic_store_explicit(&o->shown_holder, o->holder ? (uint32_t)o->holder->pid : 0,
			      memory_order_relaxed);
}

static void submit(struct service_call *call)
{
	struct object *o = call->caller->service->object;
	const uint8_t op = call->entry.function;
	char why[64];

	call->took = false;
	call->notified = 0;
	if (object_has_op(o, op)) {
		ops[op](o, call);
		show(o);
		return;
	}
	snprintf(why, sizeof why, "it is a %s: it cannot do this", object_kind(o->kind));
	refuse(call, -EINVAL, why);
}

/* A caller's next job may come while it hears of one that has ended: that one is told in a letter. */
static void tell_at_once(struct reactor *r, struct service_call *call)
{
	struct reactor *to = call->caller->reactor;

	if (r->tells) {
		exchange_post(to, &call->letter, LETTER_DONE);
		return;
	}
	r->tells = true;
	exchange_send(r, to, &call->letter, LETTER_DONE);
	r->tells = false;
}

void object_submit(struct reactor *r, struct service_call *call)
{
	call->submits = true;
	submit(call);
	if (call->submits)
		call->submits = false; /* it waits */
	else
		tell_at_once(r, call);
}

/* A party has died: those who wait are told, and others when they arrive. */
static void mourn(struct object *o, struct caller *caller)
{
	if (!caller->is_mourned)
		COUNT_BY(o->deaths, 1);
	caller->is_mourned = true;
	break_barrier(o, -EOWNERDEAD, "a session that had the barrier open has died");
}

static void give_up(struct object *o, struct caller *caller)
{
	if (caller->died)
		mourn(o, caller);
	else
		break_barrier(o, -EPIPE, "another party has given up waiting at the barrier");
}

/* A wait for a condition has given the lock up. */
static void answer_withdrawn(struct service_call *call)
{
	if (call->entry.function == QUOIT_SYNC_WAIT_CONDITION)
		refuse(call, -ENOLCK,
		       "it was late or cancelled, and the session has given the lock up");
	else
		answer(call, -ECANCELED);
}

void object_withdraw(struct service_call *call)
{
	struct object *o = call->caller->service->object;

	if (!call->waits)
		return;
	stop_waiting(call);
	answer_withdrawn(call);
	if (call->notified)
		notify_another(o, call);
	else if (o->kind == QUOIT_SYNC_BARRIER)
		give_up(o, call->caller);
	else if (o->kind == QUOIT_SYNC_SEMAPHORE)
		serve_takers(o); /* it may have been in the way of others */
	show(o);
}

static void leave_barrier(struct object *o, struct caller *caller)
{
	if (caller->died)
		mourn(o, caller);
	else if (o->arrived)
		break_barrier(o, -EOWNERDEAD, "a session that had the barrier open has closed it");
}

void object_caller_leaves(struct caller *caller)
{
	struct object *o = caller->service->object;

	if (o->holder == caller) {
		o->owner_died = true;
		free_lock(o);
	}
	if (o->kind == QUOIT_SYNC_SEMAPHORE)
		put_back(o, o->undoes ? caller->taken : caller->unheard);
	if (o->kind == QUOIT_SYNC_BARRIER)
		leave_barrier(o, caller);
	show(o);
}
