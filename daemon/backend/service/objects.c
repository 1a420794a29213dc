/* SPDX-License-Identifier: MIT */
/* objects.c - does what calls ask of locks, flags, semaphores, barriers, queues and keyspaces */
#include "object_calls.h"

#include <errno.h>
#include <stdio.h>

#include "answers.h"
#include "exchange.h"
#include "key_watch.h"
#include "keys.h"
#include "locks.h"
#include "messages.h"
#include "session/named_tensor.h"

/* ---- flags ---- */

static void set_flag(struct object *o, struct service_call *call)
{
	struct service_call *one;

	o->is_set = true;
	while ((one = call_take_oldest(&o->waiting)) != NULL)
		call_answer(one, 0);
	call_answer(call, 0);
}

static void clear_flag(struct object *o, struct service_call *call)
{
	o->is_set = false;
	call_answer(call, 0);
}

static void wait_for_flag(struct object *o, struct service_call *call)
{
	if (o->is_set)
		call_answer(call, 0);
	else
		call_wait_in(&o->waiting, call);
}

/* ---- semaphores ---- */

/* The first one that waits gets what it wants before any other: large wishes do not starve. */
static void serve_takers(struct object *o)
{
	struct service_call *call;

	while ((call = o->waiting.oldest) != NULL && call->entry.scalar[0] <= o->count) {
		uint64_t n = call->entry.scalar[0], *taken = &call->caller->taken;

		call_stop_waiting(call);
		o->count -= n;
		*taken = n < UINT64_MAX - *taken ? *taken + n : UINT64_MAX;
		call->took = true;
		call_answer(call, 0);
	}
}

static void take(struct object *o, struct service_call *call)
{
	if (call->entry.scalar[0] > o->most) {
		call_refuse(call, -EINVAL, "the semaphore never has as many");
		return;
	}
	call_wait_in(&o->waiting, call);
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
		call_refuse(call, -EPERM, "the session has not taken as many");
		return;
	}
	if (n > o->most - o->count) {
		call_refuse(call, -EOVERFLOW, "the semaphore would have more than it may");
		return;
	}
	*taken -= n < *taken ? n : *taken;
	call_answer(call, 0);
	put_back(o, n);
}

/* ---- barriers ---- */

/* All parties have come: each is told its number, in the order in which they came. */
static void open_barrier(struct object *o)
{
	struct service_call *call;
	int32_t number = 0;

	o->arrived = 0;
	while ((call = call_take_oldest(&o->waiting)) != NULL)
		call_answer(call, number++);
}

/* Tell all who wait at the barrier that the round is over without them. */
static void break_barrier(struct object *o, int32_t error, const char *why)
{
	struct service_call *call;

	o->arrived = 0;
	while ((call = call_take_oldest(&o->waiting)) != NULL) {
		call->caller->seen_deaths = COUNT_OF(o->deaths);
		call_refuse(call, error, why);
	}
}

static void arrive(struct object *o, struct service_call *call)
{
	const uint32_t deaths = COUNT_OF(o->deaths);

	if (call->caller->seen_deaths != deaths) {
		call->caller->seen_deaths = deaths;
		call_refuse(call, -EOWNERDEAD, "a session that had the barrier open has died");
		return;
	}
	call_wait_in(&o->waiting, call);
	if (++o->arrived == o->parties)
		open_barrier(o);
}

/* ---- what the queue asks for ---- */

typedef void do_fn(struct object *o, struct service_call *call);

static do_fn *const ops[QUOIT_SYNC_OP_NR] = {
	[QUOIT_SYNC_LOCK_IT] = lock_take,
	[QUOIT_SYNC_UNLOCK] = lock_unlock,
	[QUOIT_SYNC_WAIT_CONDITION] = lock_wait,
	[QUOIT_SYNC_NOTIFY] = lock_notify,
	[QUOIT_SYNC_SET_FLAG] = set_flag,
	[QUOIT_SYNC_CLEAR_FLAG] = clear_flag,
	[QUOIT_SYNC_WAIT_FLAG] = wait_for_flag,
	[QUOIT_SYNC_TAKE] = take,
	[QUOIT_SYNC_GIVE] = give,
	[QUOIT_SYNC_ARRIVE] = arrive,
	[QUOIT_SYNC_SEND] = message_send,
	[QUOIT_SYNC_SEND_ROWS] = message_send,
	[QUOIT_SYNC_RECEIVE] = message_receive,
	[QUOIT_SYNC_RECEIVE_ROWS] = message_receive,
	[QUOIT_SYNC_PEEK] = message_receive,
	[QUOIT_SYNC_PUT] = keys_put,
	[QUOIT_SYNC_GET] = keys_get,
	[QUOIT_SYNC_DELETE] = keys_delete,
	[QUOIT_SYNC_LIST] = keys_list,
	[QUOIT_SYNC_WATCH] = key_watch,
};

/* What the tools show of it. */
static void show(struct object *o)
{
	const uint64_t value = o->kind == QUOIT_SYNC_FLAG        ? o->is_set
			       : o->kind == QUOIT_SYNC_TENSOR    ? o->tensor->bytes
			       : o->kind == QUOIT_SYNC_SEMAPHORE ? o->count
			       : o->kind == QUOIT_SYNC_QUEUE     ? messages_waiting(o->queue)
			       : o->kind == QUOIT_SYNC_KEYSPACE  ? o->keyspace->table.nodes.used
								 : o->arrived;
	const uint64_t bytes = o->kind == QUOIT_SYNC_QUEUE ? o->queue->tail - o->queue->head
			       : o->kind == QUOIT_SYNC_KEYSPACE
				       ? key_table_used(&o->keyspace->table)
				       : 0;

	atomic_store_explicit(&o->shown_value, value, memory_order_relaxed);
	atomic_store_explicit(&o->shown_bytes, bytes, memory_order_relaxed);
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
	call_refuse(call, -EINVAL, why);
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

/* A session has died.  Tell those who wait now; the others are told when they arrive. */
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
		call_refuse(call, -ENOLCK,
			    "it was late or cancelled, and the session has given the lock up");
	else
		call_answer(call, -ECANCELED);
}

void object_withdraw(struct service_call *call)
{
	struct object *o = call->caller->service->object;

	if (!call->waits)
		return;
	call_stop_waiting(call);
	answer_withdrawn(call);
	if (call->notified)
		lock_notify_another(o, call);
	else if (o->kind == QUOIT_SYNC_BARRIER)
		give_up(o, call->caller);
	else if (o->kind == QUOIT_SYNC_SEMAPHORE)
		serve_takers(o); /* it may have been in the way of others */
	else if (o->kind == QUOIT_SYNC_QUEUE)
		messages_go_on(o->queue);
	else if (o->kind == QUOIT_SYNC_KEYSPACE)
		key_watch_stopped(o->keyspace, call);
	show(o);
}

void object_moved(struct service_call *call)
{
	struct object *o = call->caller->service->object;

	message_moved(o->queue, call);
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

	if (o->holder == caller)
		lock_holder_leaves(o);
	if (o->kind == QUOIT_SYNC_SEMAPHORE)
		put_back(o, o->undoes ? caller->taken : caller->unheard);
	if (o->kind == QUOIT_SYNC_BARRIER)
		leave_barrier(o, caller);
	show(o);
}
