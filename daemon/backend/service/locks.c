/* SPDX-License-Identifier: MIT */
/* locks.c - does what calls ask of locks and their conditions */
#include "locks.h"

#include <errno.h>
#include <string.h>

#include "answers.h"

static void hold(struct object *o, struct service_call *call)
{
	int32_t result = o->owner_died ? QUOIT_OWNER_DIED : 0;

	o->owner_died = false;
	o->holder = call->caller;
	o->held_with[o->depth++] = call->token;
	call_answer(call, result);
}

void lock_take(struct object *o, struct service_call *call)
{
	if (!o->holder)
		hold(o, call);
	else if (!o->recursive || o->holder != call->caller)
		call_wait_in(&o->waiting, call);
	else if (o->depth < OBJECT_DEPTH)
		hold(o, call);
	else
		call_refuse(call, -EAGAIN, "the session has this lock 16 times already");
}

/* What else the holder of a recursive lock has asked for while another one had it. */
static void hold_again(struct object *o)
{
	for (unsigned i = 0; i < CALLER_CALLS && o->depth < OBJECT_DEPTH; i++) {
		struct service_call *call = &o->holder->call[i];

		if (!call->waits || call->waits_in != &o->waiting)
			continue;
		call_stop_waiting(call);
		hold(o, call);
	}
}

/* The holder has it no more; the next one gets it. */
static void free_lock(struct object *o)
{
	struct service_call *next;

	o->holder = NULL;
	o->depth = 0;
	next = call_take_oldest(&o->waiting);
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

/* The same; 0: the call is refused. */
static uint32_t need_hold(const struct object *o, struct service_call *call)
{
	uint32_t depth = find_hold(o, call);

	if (depth)
		return depth;
	call_refuse(call, -EPERM,
		    o->holder == call->caller
			    ? "the session has locked it with another tensor: name that one"
			    : "the session does not hold the lock");
	return 0;
}

void lock_unlock(struct object *o, struct service_call *call)
{
	uint32_t depth = need_hold(o, call);

	if (!depth)
		return;
	o->depth--;
	memmove(&o->held_with[depth - 1], &o->held_with[depth],
		(o->depth - (depth - 1)) * sizeof *o->held_with);
	call_answer(call, 0);
	if (!o->depth)
		free_lock(o);
}

static struct call_queue *condition_of(struct object *o, struct service_call *call)
{
	if (call->entry.arg < QUOIT_CONDITIONS)
		return &o->condition[call->entry.arg];
	call_refuse(call, -EINVAL, "a lock has conditions 0 to 7");
	return NULL;
}

/* Give the lock up, and get it again once notified. */
void lock_wait(struct object *o, struct service_call *call)
{
	struct call_queue *q = condition_of(o, call);

	if (!q || !need_hold(o, call))
		return;
	if (o->depth > 1) {
		call_refuse(call, -EDEADLK,
			    "the session has the lock more than once, and would keep it");
		return;
	}
	call->token = o->held_with[0]; /* it is had again as it was */
	call_wait_in(q, call);
	free_lock(o);
}

void lock_notify(struct object *o, struct service_call *call)
{
	struct call_queue *q = condition_of(o, call);
	struct service_call *one;

	if (!q || !need_hold(o, call))
		return;
	for (uint64_t left = call->entry.scalar[0]; left && (one = call_take_oldest(q)); left--) {
		one->notified = call->entry.arg + 1;
		call_wait_in(&o->waiting, one);
	}
	call_answer(call, 0);
}

void lock_notify_another(struct object *o, const struct service_call *call)
{
	struct service_call *one = call_take_oldest(&o->condition[call->notified - 1]);

	if (!one)
		return;
	one->notified = call->notified;
	call_wait_in(&o->waiting, one);
}

void lock_holder_leaves(struct object *o)
{
	o->owner_died = true;
	free_lock(o);
}
