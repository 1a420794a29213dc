/* SPDX-License-Identifier: MIT */
/* service_queue.c - queues the calls of a service, and hands them to its servers */
#include "service_queue.h"

#include <assert.h>
#include <errno.h>

#include "backend/program/call_entry.h"
#include "base/tsc.h"
#include "call_queue.h"
#include "exchange.h"
#include "key_watch.h"
#include "object_calls.h"

/* Calls that a server has ahead of their turn are at most so many for each thread. */
#define AHEAD_MOST 16u

/* Slots of a server's CQ that calls leave free. */
#define SLOTS_KEPT 8u

/* Interval of looks at calls that wait though nobody serves the service. */
#define LOOK_NS 10000000u

/* ---- the queue ---- */

/* Where a call waits: with its user's others, or with those whose function no server has. */
static struct call_queue *queue_of(struct service *service, const struct service_call *call)
{
	return call->stranded ? &service->stranded : &call->caller->guest->waiting[call->priority];
}

static void enqueue(struct service *service, struct service_call *call)
{
	call->stranded = false;
	call->waits = true;
	call_queue_put(queue_of(service, call), call);
	COUNT_BY(service->waiting, 1);
	COUNT_BY(call->caller->queued, 1);
}

static void dequeue(struct service *service, struct service_call *call)
{
	call_queue_remove(queue_of(service, call), call);
	call->waits = false;
	COUNT_DOWN(service->waiting);
	COUNT_DOWN(call->caller->queued);
}

static void move(struct service *service, struct service_call *call, bool stranded)
{
	call_queue_remove(queue_of(service, call), call);
	call->stranded = stranded;
	call_queue_put(queue_of(service, call), call);
}

static struct service_call *most_urgent(const struct guest *g)
{
	static const enum quoit_priority by_urgency[] = {QUOIT_PRIO_HIGH, QUOIT_PRIO_NORMAL,
							 QUOIT_PRIO_LOW};

	for (unsigned i = 0; i < QUOIT_PRIO_NR; i++)
		if (g->waiting[by_urgency[i]].oldest)
			return g->waiting[by_urgency[i]].oldest;
	return NULL;
}

static struct service_call *choose_call(struct service *service)
{
	struct guest *best = NULL;

	for (struct guest *g = atomic_load(&service->guests); g; g = atomic_load(&g->next))
		if (most_urgent(g) && (!best || ledger_lead(&g->page, &service->clock) <
							ledger_lead(&best->page, &service->clock)))
			best = g;
	return best ? most_urgent(best) : NULL;
}

/* ---- servers ---- */

/*
 * How many calls a server may have beyond its threads: they stay with it if the process is stopped,
 * so they are not many.
 */
static uint64_t most_ahead(const struct service *service, uint64_t lanes)
{
	uint64_t brief = service->run_ticks ? tsc_from_ns(CALL_AHEAD_NS) / service->run_ticks : 0;

	if (!brief)
		return service->serving_count == 1;
	return brief < lanes * AHEAD_MOST ? brief : lanes * AHEAD_MOST;
}

static uint32_t within_room(const struct server *server, uint64_t most)
{
	uint32_t room = server->entries - SLOTS_KEPT;

	return most < room ? (uint32_t)most : room;
}

static uint32_t most_of(const struct service *service, const struct server *server)
{
	uint64_t lanes = COUNT_OF(server->lanes);

	return within_room(server, lanes ? lanes + most_ahead(service, lanes) : 1);
}

/* Calls that it could begin at once; negative: so many would have to wait. */
static int64_t free_lanes(const struct server *server)
{
	return (int64_t)COUNT_OF(server->lanes) - server->has;
}

/* One that was there before the service had the function does not have it. */
static bool can_take(const struct server *s, const struct service_call *call, uint32_t most)
{
	return !atomic_load_explicit(&s->closed, memory_order_relaxed) &&
	       call->entry.function < s->functions && s->has < most;
}

/*
 * A server with a thread whose function waits; it may wait for this very call.  The thread runs the
 * call before it goes on with that function, which delays the function.  So this is the last choice.
 */
static struct server *choose_suspended(const struct service *service,
				       const struct service_call *call)
{
	struct server *best = NULL;

	for (struct server *s = service->serving; s; s = s->next_serving) {
		const uint64_t suspended = COUNT_OF(s->suspended);
		const uint64_t most = suspended ? COUNT_OF(s->lanes) + suspended : 0;

		if (can_take(s, call, within_room(s, most)) &&
		    (!best || free_lanes(s) + (int64_t)suspended >
				      free_lanes(best) + (int64_t)COUNT_OF(best->suspended)))
			best = s;
	}
	return best;
}

/* Is the process on the node of the caller's memory?  It was when it opened its session. */
static bool is_near(const struct server *server, const struct service_call *call)
{
	return server->reactor->node == call->caller->reactor->node;
}

/*
 * Of two servers that could begin the call at once, the one near its data is better: it reads them
 * over no link between nodes.  Else it is the one with more free threads.
 */
static bool is_better(const struct server *s, const struct server *than,
		      const struct service_call *call)
{
	if (free_lanes(s) > 0 && free_lanes(than) > 0 && is_near(s, call) != is_near(than, call))
		return is_near(s, call);
	return free_lanes(s) > free_lanes(than);
}

/*
 * The server for this call; NULL: none takes it now.  One without threads comes behind all that have
 * some: a thread of the program's own may come.
 */
static struct server *choose_server(const struct service *service, const struct service_call *call)
{
	struct server *best = NULL;

	for (struct server *s = service->serving; s; s = s->next_serving)
		if (can_take(s, call, most_of(service, s)) && (!best || is_better(s, best, call)))
			best = s;
	return best ? best : choose_suspended(service, call);
}

/* Does any server have this call's function? */
static bool is_served(const struct service *service, const struct service_call *call)
{
	for (const struct server *s = service->serving; s; s = s->next_serving)
		if (call->entry.function < s->functions)
			return true;
	return false;
}

/* A call that no server can take holds up no other. */
static struct service_call *choose_call_to_serve(struct service *service)
{
	struct service_call *call;

	while ((call = choose_call(service)) != NULL && service->serving &&
	       !is_served(service, call))
		move(service, call, true);
	return call;
}

static void dispatch(struct reactor *r, struct service *service)
{
	struct service_call *call;
	struct server *server;

	while (COUNT_OF(service->waiting) && (call = choose_call_to_serve(service)) != NULL &&
	       (server = choose_server(service, call)) != NULL) {
		ledger_choose(&call->caller->guest->page, &service->clock);
		dequeue(service, call);
		call->server = server;
		server->has++;
		COUNT_BY(service->running, 1);
		exchange_send(r, server->reactor, &call->letter, LETTER_POST);
	}
}

/* For the tools, and for those who call it: how many serve it, and with how many threads. */
static void show(struct service *service)
{
	uint32_t lanes = 0;

	for (const struct server *s = service->serving; s; s = s->next_serving)
		lanes += COUNT_OF(s->lanes);
	atomic_store_explicit(&service->shown_lanes, lanes, memory_order_relaxed);
	atomic_store_explicit(&service->shown_servers, service->serving_count,
			      memory_order_relaxed);
}

/* A server has come: perhaps it has the functions that no other one had. */
static void revive(struct service *service)
{
	struct service_call *call;

	while ((call = service->stranded.oldest) != NULL)
		move(service, call, false);
}

/* ---- calls that wait though nobody serves the service ---- */

static void watch(struct reactor *r, struct service *service)
{
	const bool any = service->serving ? service->stranded.oldest != NULL
					  : COUNT_OF(service->waiting) != 0;

	if (!any || service->is_bereft)
		return;
	if (!r->bereft)
		r->look_at_bereft = 0;
	service->is_bereft = true;
	service->bereft = r->bereft;
	r->bereft = service;
}

static void give_back(struct reactor *r, struct service_call *call)
{
	ledger_close(&call->caller->guest->page);
	exchange_send(r, call->caller->reactor, &call->letter, LETTER_DONE);
}

static void fail(struct reactor *r, struct service_call *call, int32_t result, uint64_t value)
{
	call->result = result;
	call->error = (struct quoit_error){.field = QUOIT_FIELD_SERVICE,
					   .value = {call->caller->index, value}};
	give_back(r, call);
}

static bool is_due(const struct reactor *r, const struct service *service,
		   const struct service_call *call)
{
	uint64_t since =
		call->submitted > service->bereft_since ? call->submitted : service->bereft_since;

	return r->now >= since &&
	       r->now - since >= tsc_from_ns(call->caller->wait_ms * UINT64_C(1000000));
}

static bool expire_queue(struct reactor *r, struct service *service, struct call_queue *q)
{
	bool any = false;

	for (struct service_call *c = q->oldest, *next; c; c = next) {
		next = c->newer;
		if (!is_due(r, service, c))
			continue;
		dequeue(service, c);
		fail(r, c, -ENOENT, c->caller->wait_ms);
		any = true;
	}
	return any;
}

static bool expire(struct reactor *r, struct service *service)
{
	bool any = expire_queue(r, service, &service->stranded);

	for (struct guest *g = service->serving ? NULL : atomic_load(&service->guests); g;
	     g = atomic_load(&g->next))
		for (unsigned i = 0; i < QUOIT_PRIO_NR; i++)
			any |= expire_queue(r, service, &g->waiting[i]);
	return any;
}

bool service_expire(struct reactor *r)
{
	struct service *all = r->bereft, *next;
	bool any = false;

	if (!all || r->now < r->look_at_bereft)
		return false;
	r->look_at_bereft = r->now + tsc_from_ns(LOOK_NS);
	r->bereft = NULL;
	for (struct service *s = all; s; s = next) {
		next = s->bereft;
		s->is_bereft = false;
		any |= expire(r, s);
		watch(r, s);
	}
	return any;
}

uint64_t service_sleep_ns(struct reactor *r)
{
	return r->bereft ? LOOK_NS : UINT64_MAX;
}

void service_end(struct reactor *r, struct service *service)
{
	struct service **at = &r->bereft;

	while (*at && *at != service)
		at = &(*at)->bereft;
	if (*at)
		*at = service->bereft;
	if (service->object && service->object->keyspace)
		key_watch_end(r, service->object->keyspace);
	mailbox_send(r->outbox, &(struct mail){.type = MAIL_SERVICE_END, .service = service});
}

/* ---- letters ---- */

void service_submit(struct reactor *r, struct service_call *call)
{
	struct service *service = call->caller->service;

	if (service->object) {
		object_submit(r, call);
		return;
	}
	ledger_open(&call->caller->guest->page, &service->clock);
	call->withdrawn = false;
	call->unserved = !service->serving;
	enqueue(service, call);
	dispatch(r, service);
	watch(r, service);
}

static void count(struct service *service, const struct service_call *call)
{
	uint64_t ticks = call->ended - call->began;

	COUNT_BY(service->calls, 1);
	COUNT_BY(service->failed, call->result < 0);
	COUNT_BY(service->ticks, ticks);
	ledger_count(&call->caller->guest->page, (int64_t)ticks, call->share);
	call_learn(&service->run_ticks, ticks);
}

/* If nothing of the server is used any more, the control thread can free it. */
static void settle(struct reactor *r, struct server *server)
{
	if (!server->has_ended || server->has)
		return;
	mailbox_send(r->outbox, &(struct mail){.type = MAIL_SERVER_GONE, .server = server});
}

void service_return(struct reactor *r, struct service_call *call)
{
	struct service *service = call->caller->service;
	struct server *server = call->server;

	assert(server->has > 0);
	server->has--;
	COUNT_DOWN(service->running);
	if (!call->again) {
		count(service, call);
		give_back(r, call);
	} else if (call->withdrawn) {
		call->again = false;
		fail(r, call, -ECANCELED, 0);
	} else {
		call->again = false;
		COUNT_BY(service->again, 1);
		enqueue(service, call);
	}
	dispatch(r, service);
	watch(r, service);
	settle(r, server);
}

void service_withdraw(struct reactor *r, struct service_call *call)
{
	struct service *service = call->caller->service;

	call->withdrawn = true;
	if (service->object) {
		object_withdraw(call);
	} else if (call->waits) {
		dequeue(service, call);
		fail(r, call, -ECANCELED, 0);
		dispatch(r, service); /* it may have been in the way of others */
	}
	exchange_send(r, call->caller->reactor, &call->withdrawal, LETTER_WITHDRAWN);
}

void service_moved(struct service_call *call)
{
	object_moved(call);
	exchange_post(call->caller->reactor, &call->letter, LETTER_FREE);
}

void service_caller_leaves(struct reactor *r, struct caller *caller)
{
	object_caller_leaves(caller);
	exchange_send(r, caller->reactor, &caller->leave_letter, LETTER_LEFT);
}

void service_comes(struct reactor *r, struct server *server)
{
	struct service *service = server->service;

	server->next_serving = service->serving;
	service->serving = server;
	service->serving_count++;
	show(service);
	revive(service);
	dispatch(r, service);
	mailbox_send(r->outbox, &(struct mail){.type = MAIL_SERVE, .server = server});
}

void service_lanes(struct reactor *r, struct server *server)
{
	(void)atomic_exchange(&server->lanes_told,
			      false); /* what is loaded next is at least as new */
	show(server->service);
	dispatch(r, server->service);
}

void service_goes(struct reactor *r, struct server *server)
{
	struct service *service = server->service;
	struct server **at = &service->serving;

	while (*at != server)
		at = &(*at)->next_serving;
	*at = server->next_serving;
	service->serving_count--;
	show(service);
	if (!service->serving)
		service->bereft_since = r->now;
	dispatch(r, service); /* what only this one could have served waits apart from now on */
	watch(r, service);
}

void service_server_ends(struct reactor *r, struct server *server)
{
	server->has_ended = true;
	settle(r, server);
}
