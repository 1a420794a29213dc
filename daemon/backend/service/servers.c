/* SPDX-License-Identifier: MIT */
/* servers.c - posts calls to the rings that serve them, and ends them when they return */
#include "servers.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "backend/program/call_entry.h"
#include "base/tsc.h"
#include "exchange.h"
#include "job/completion.h"
#include "memory/sigbus_guard.h"
#include "servers_private.h"

/* Slots of the CQ that calls leave free, for returns that are refused and callers that leave. */
#define CREDITS_KEPT 4

/* ---- posting ---- */

static void give_back(struct reactor *r, struct service_call *call)
{
	exchange_send(r, call->caller->service->home, &call->letter, LETTER_RETURN);
}

static void give_back_unbegun(struct reactor *r, struct service_call *call)
{
	call->again = true;
	give_back(r, call);
}

/*
 * A client that lies about its CQ is ended.  A client whose session leaves does not read it any more,
 * so there is no room.
 */
bool server_has_room(struct reactor *r, struct ring *ring, int kept)
{
	int credits;

	if (ring->no_completions)
		return false;
	credits = quoit_ring_refresh(&ring->cq) ? completion_credits(ring) : -EPROTO;
	if (credits < 0)
		reactor_kill(r, ring->session, QUOIT_DAEMON_KILL_CQ_HEAD);
	else if (credits <= kept)
		server_lacks_room(r);
	return credits > kept;
}

/* Calls return in any order, so they have a table of their own, beside the CQ. */
static void enter(struct server *server, struct service_call *call)
{
	call->at = server->spare[--server->spares];
	call->serial = ++server->serial;
	call->pid = server->pid;
	server->at[call->at] = call;
	server->posted++;
	server->ring->session->services.serving++;
}

/* It was returned, or goes back; its number may still be in use (give_number_back). */
static void leave(struct server *server, const struct service_call *call)
{
	server->at[call->at] = NULL;
	server->posted--;
	server->ring->session->services.serving--;
}

/* The process's memory of that number is its own again. */
static void give_number_back(struct server *server, const struct service_call *call)
{
	struct ring *ring = server->ring;

	if (ring)
		__atomic_store_n(&ring->team->results[call->at], call->serial, __ATOMIC_RELEASE);
	server->spare[server->spares++] = call->at;
}

static void post(struct reactor *r, struct server *server, struct service_call *call)
{
	struct ring *ring = server->ring;
	uint32_t slot = ring->cq.next & (server->entries - 1);

	enter(server, call);
	call->slot = ring->cq.next++;
	call->began = tsc_now();
	ring->team->entries[slot] = call->entry;
	ring->cqes[slot] = (struct quoit_cqe){.user_data = (uint64_t)call->serial << 32 | call->at,
					      .res = call->entry.function};
	ring->dirty = true;
	reactor_touch(r, ring);
}

void server_post_pending(struct reactor *r, struct server *server)
{
	struct service_call *call;

	while ((call = server->pending) != NULL && server->spares &&
	       server_has_room(r, server->ring, CREDITS_KEPT)) {
		server->pending = call->next_pending;
		post(r, server, call);
	}
}

void server_post(struct reactor *r, struct service_call *call)
{
	struct server *server = call->server;

	if (COUNT_OF(server->closed)) {
		give_back_unbegun(r, call);
		return;
	}
	call->next_pending = NULL;
	if (server->pending)
		server->pending_last->next_pending = call;
	else
		server->pending = call;
	server->pending_last = call;
	server_post_pending(r, server);
}

/* ---- what a RETURN says ---- */

static struct service_call *find(const struct server *server, uint64_t id)
{
	uint32_t at = (uint32_t)id;
	struct service_call *call = at < server->entries ? server->at[at] : NULL;

	return call && call->serial == id >> 32 ? call : NULL;
}

/* The bytes that RETURN names; NULL: they do not lie within the process's memory. */
static uint8_t *find_results(const struct session *s, uint64_t results, uint64_t bytes)
{
	uint64_t place = results - 1;

	if (place > s->arena_bytes || bytes > s->arena_bytes - place || place % QUOIT_LINE)
		return NULL;
	return s->arena + place;
}

/*
 * Another user's program may print it, so nothing in it may control a terminal: no ASCII control, no
 * C1 control as UTF-8 or alone.
 */
static bool is_control(uint8_t c, uint8_t before)
{
	const bool is_c1 = c >= 0x80 && c < 0xa0;

	return (c && c < ' ') || c == 0x7f || (is_c1 && (before < 0x80 || before == 0xc2));
}

static void copy_text(struct service_call *call, const uint8_t *from)
{
	uint8_t before = 0;

	for (unsigned i = 0; i < sizeof call->text; i++) {
		const uint8_t c = from[i];

		call->text[i] = is_control(c, before) ? '?' : (char)c;
		before = (uint8_t)call->text[i];
	}
	call->text[sizeof call->text - 1] = '\0';
}

static void take_text(struct session *s, struct service_call *call, const uint8_t *from)
{
	struct session *outer = sigbus_guard_enter(s);

	copy_text(call, from);
	sigbus_guard_leave(outer);
}

static void lend(struct session *s, struct server *server, struct service_call *call,
		 uint8_t *results)
{
	call->dense = results;
	call->from = s;
	server->lent++;
	s->services.lent++;
}

/* Take what the call has come to; false: it cannot be. */
static bool judge(struct session *s, struct server *server, struct service_call *call,
		  const struct quoit_sqe *sqe)
{
	uint64_t bytes = sqe->result < 0 ? sizeof call->text : call->bytes;
	uint8_t *from = NULL;

	call->result = call_return_result(sqe);
	call->error = call_return_error(sqe);
	if (sqe->results)
		from = find_results(s, sqe->results, bytes);
	if (!from && (sqe->results || (sqe->result >= 0 && call->bytes))) {
		call->result = -EPROTO;
		call->error = (struct quoit_error){0};
		return false;
	}
	if (from && sqe->result < 0)
		take_text(s, call, from);
	else if (from && call->bytes)
		lend(s, server, call, from);
	return true;
}

/* A call that was given back when the ring closed may still be returned. */
static int refuse_unknown(struct reactor *r, const struct server *server, struct session *s,
			  struct fault *f)
{
	if (!COUNT_OF(server->closed))
		reactor_kill(r, s, QUOIT_DAEMON_KILL_RETURN);
	return refuse(f, -ENOENT, QUOIT_FIELD_NONE, 0, 0);
}

int server_return(struct reactor *r, struct ring *ring, const struct quoit_sqe *sqe, uint64_t now,
		  struct fault *f)
{
	struct server *server = ring->team->server;
	struct session *s = ring->session;
	struct service_call *call;
	int err = call_return_check(sqe, f);

	if (err)
		return err;
	call = find(server, sqe->user_data);
	if (!call)
		return refuse_unknown(r, server, s, f);
	leave(server, call);
	call_return_stamps(sqe, now, &call->began, &call->ended);
	call->ran = true;
	if (!judge(s, server, call, sqe))
		reactor_kill(r, s, QUOIT_DAEMON_KILL_RETURN);
	if (!call->from)
		give_number_back(server, call);
	s->services.served++;
	s->services.serve_ticks += call->ended - call->began;
	server_look_at_lanes(r, server);
	give_back(r, call);
	if (!COUNT_OF(server->closed))
		server_post_pending(r, server);
	server_tell_left(r, server);
	reactor_charge(r, s); /* the end of the call has charged its caller: what follows is ours */
	return 0;
}

void server_taken(struct reactor *r, struct service_call *call)
{
	struct server *server = call->server;
	struct session *s = call->from;

	assert(server->lent > 0 && s->services.lent > 0);
	give_number_back(server, call);
	server->lent--;
	s->services.lent--;
	reactor_attend(r, s); /* it may be leaving */
	if (sigbus_guard_has_hit(s) && !s->stopped)
		reactor_kill(r, s, QUOIT_DAEMON_KILL_MEM_VANISHED);
	if (!COUNT_OF(server->closed))
		server_post_pending(r, server);
	exchange_send(r, call->caller->reactor, &call->letter, LETTER_FREE);
	if (!server->ring && !server->lent)
		exchange_send(r, server->service->home, &server->end_letter, LETTER_ENDS);
}

/* ---- the end ---- */

static void fail(struct reactor *r, struct service_call *call)
{
	call->ran = true;
	call->ended = tsc_now();
	service_call_dies(call);
	give_back(r, call);
}

/* What no thread has taken has not begun: the CQ's head says so. */
static void give_untaken_back(struct reactor *r, struct server *server)
{
	uint32_t head = __atomic_load_n(&server->ring->client->cq_head, __ATOMIC_ACQUIRE);
	struct service_call *call;

	for (uint32_t i = 0; server->posted && i < server->entries; i++) {
		call = server->at[i];
		if (!call || (int32_t)(call->slot - head) < 0)
			continue;
		leave(server, call);
		give_number_back(server, call);
		give_back_unbegun(r, call);
	}
	while ((call = server->pending) != NULL) {
		server->pending = call->next_pending;
		give_back_unbegun(r, call);
	}
}

static void unlist(struct reactor *r, struct server *server)
{
	struct server **at = &r->servers;

	if (r->next_look == server)
		r->next_look = server->here;
	while (*at != server)
		at = &(*at)->here;
	*at = server->here;
}

void server_quit(struct reactor *r, struct ring *ring)
{
	struct server *server = ring->team->server;

	if (COUNT_OF(server->closed))
		return;
	atomic_store(&server->closed, true);
	unlist(r, server);
	give_untaken_back(r, server);
	exchange_send(r, server->service->home, &server->go_letter, LETTER_GOES);
}

void server_end(struct reactor *r, struct ring *ring)
{
	struct server *server = ring->team->server;

	server_quit(r, ring);
	for (uint32_t i = 0; server->posted && i < server->entries; i++) {
		struct service_call *call = server->at[i];

		if (!call)
			continue;
		leave(server, call);
		fail(r, call);
	}
	ring->team->server = NULL;
	ring->session->services.servers--;
	server->ring = NULL;
	if (!server->lent)
		exchange_send(r, server->service->home, &server->end_letter, LETTER_ENDS);
}
