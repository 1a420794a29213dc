/* SPDX-License-Identifier: MIT */
/* service_queue.c - queues the calls of a service, and hands them to servers */
#include "service_queue.h"

#include <assert.h>
#include <errno.h>

#include "backend/program/call_entry.h"
#include "base/tsc.h"
#include "call_queue.h"
#include "exchange.h"
#include "key_watch.h"
#include "object_calls.h"
#include "server_choice.h"

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

/* ---- to servers ---- */

/* A call that no server can take holds up no other. */
static struct service_call *choose_call_to_serve(struct service *service)
{
	struct service_call *call;

	while ((call = choose_call(service)) != NULL && service->serving &&
	       !server_choice_exists(service, call))
		move(service, call, true);
	return call;
}

static void dispatch(struct reactor *r, struct service *service)
{
	struct service_call *call;
	struct server *server;

	while (COUNT_OF(service->waiting) && (call = choose_call_to_serve(service)) != NULL &&
	       (server = server_choose(service, call)) != NULL) {
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
