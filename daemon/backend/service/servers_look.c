/* SPDX-License-Identifier: MIT */
/* servers_look.c - how servers begin, and what is looked at again and again while they serve */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "backend/program/call_entry.h"
#include "base/tsc.h"
#include "exchange.h"
#include "servers.h"
#include "servers_private.h"

#define ENTRIES_LEAST 32u

/* Interval of looks at the CQs while there is something to post that one has no room for. */
#define ROOM_NS 5000000u

/* Servers whose threads are looked at in one pass, in turn. */
#define LOOKS 4u

/* ---- beginning ---- */

static int refuse_ask(struct serve_ask *ask, int err, const char *why)
{
	snprintf(ask->text, sizeof ask->text, "ring %u %s", ask->ring, why);
	return err;
}

static bool has_own_calls(const struct session *s, const struct ring *ring)
{
	for (uint32_t i = s->oldest; i != NIL; i = s->jobs[i].newer)
		if (s->jobs[i].sqe.opcode == QUOIT_OP_CALL && s->jobs[i].sqe.team == ring->index)
			return true;
	return false;
}

int server_ask(struct session *s, struct serve_ask *ask)
{
	struct ring *ring = ask->ring < QUOIT_MAX_RINGS ? team_ring(s, (uint8_t)ask->ring) : NULL;

	if (!ring || ring->closing || !ring->team->functions)
		return refuse_ask(ask, -EBADF, "is no team's, or its team has no functions");
	if (ring->team->serves)
		return refuse_ask(ask, -EBUSY, "serves a service already");
	if (has_own_calls(s, ring))
		return refuse_ask(ask, -EBUSY, "has calls of its own session: wait for them");
	if (ring->layout.cq_entries < ENTRIES_LEAST)
		return refuse_ask(ask, -EINVAL, "has a CQ of fewer than 32 entries");
	ring->team->serves = true;
	ask->entries = ring->layout.cq_entries;
	ask->count = ring->team->functions;
	memcpy(ask->function, ring->team->function, ask->count * sizeof ask->function[0]);
	return 0;
}

static uint32_t bounded(uint32_t lanes)
{
	return lanes < CALL_LANES_MOST ? lanes : CALL_LANES_MOST;
}

static uint32_t lanes_of(const struct ring *ring)
{
	return bounded(__atomic_load_n(&ring->client->lanes, __ATOMIC_RELAXED));
}

static uint32_t suspended_of(const struct ring *ring)
{
	return bounded(__atomic_load_n(&ring->client->suspended, __ATOMIC_RELAXED));
}

void server_begin(struct reactor *r, struct session *s, uint32_t index, struct server *server)
{
	struct ring *ring = s->rings[index];

	if (!server) {
		if (ring && ring->team)
			ring->team->serves = false;
		return;
	}
	if (!ring) { /* the client has closed it meanwhile */
		mailbox_send(r->outbox, &(struct mail){.type = MAIL_SERVER_GONE, .server = server});
		return;
	}
	server->ring = ring;
	server->here = r->servers;
	r->servers = server;
	s->services.servers++;
	ring->team->server = server;
	atomic_store_explicit(&server->lanes, lanes_of(ring), memory_order_relaxed);
	exchange_send(r, server->service->home, &server->begin_letter, LETTER_COMES);
}

/* ---- threads ---- */

void server_look_at_lanes(struct reactor *r, struct server *server)
{
	uint32_t lanes = lanes_of(server->ring), suspended = suspended_of(server->ring);

	if (lanes == COUNT_OF(server->lanes) && suspended == COUNT_OF(server->suspended))
		return;
	atomic_store(&server->lanes, lanes);
	atomic_store(&server->suspended, suspended);
	if (!atomic_exchange(&server->lanes_told, true))
		exchange_send(r, server->service->home, &server->lanes_letter, LETTER_LANES);
}

void server_has_rung(struct reactor *r, struct ring *ring)
{
	struct server *server = ring->team->server;

	if (server && !COUNT_OF(server->closed))
		server_look_at_lanes(r, server);
}

/* ---- callers that have left ---- */

bool server_tell_left(struct reactor *r, struct server *server)
{
	uint32_t count = atomic_load_explicit(&server->left_count, memory_order_acquire);
	uint32_t told = COUNT_OF(server->left_told);
	bool any = false;

	for (; told != count && server_has_room(r, server->ring, 1); told++) {
		struct ring *ring = server->ring;
		uint32_t slot = ring->cq.next++ & (server->entries - 1);

		ring->cqes[slot] = (struct quoit_cqe){
			.user_data = server->left[told % SERVER_CALLERS], .res = QUOIT_CALLER_LEFT};
		ring->dirty = any = true;
		reactor_touch(r, ring);
	}
	if (any)
		atomic_store_explicit(&server->left_told, told, memory_order_release);
	return any;
}

static bool tell_all(struct reactor *r)
{
	bool any = false;

	r->callers_told = atomic_load_explicit(&r->callers_left, memory_order_acquire);
	for (struct server *s = r->servers; s; s = s->here)
		any |= server_tell_left(r, s);
	return any;
}

/* ---- CQs without room ---- */

void server_lacks_room(struct reactor *r)
{
	if (!r->lacks_room)
		r->look_at_room = tsc_now() + tsc_from_ns(ROOM_NS);
	r->lacks_room = true;
}

/*
 * Its threads wait for a CQE and submit nothing, so no bell says that they have read those that
 * tell of callers.
 */
static bool look_at_room(struct reactor *r)
{
	bool any = false;

	r->lacks_room = false;
	for (struct server *s = r->servers; s; s = s->here) {
		const struct service_call *first = s->pending;

		server_post_pending(r, s);
		any |= s->pending != first;
		any |= server_tell_left(r, s);
	}
	return any;
}

uint64_t servers_sleep_ns(const struct reactor *r)
{
	return r->lacks_room ? ROOM_NS : UINT64_MAX;
}

/* ---- all of that ---- */

bool servers_look(struct reactor *r)
{
	bool any = r->lacks_room && r->now >= r->look_at_room && look_at_room(r);

	for (unsigned i = 0; i < LOOKS && r->servers; i++) {
		struct server *s = r->next_look ? r->next_look : r->servers;

		r->next_look = s->here;
		server_look_at_lanes(r, s);
	}
	if (r->callers_told != COUNT_OF(r->callers_left))
		any |= tell_all(r);
	return any;
}

bool servers_may_sleep(struct reactor *r)
{
	return !r->servers || r->callers_told == atomic_load(&r->callers_left);
}
