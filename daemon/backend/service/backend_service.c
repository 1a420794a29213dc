/* SPDX-License-Identifier: MIT */
/*
 * backend_service.c - runs calls of services, and lets other sessions call those of this one
 *
 * callers.c has a session's calls, servers.c its rings that serve, service_queue.c what lies between
 * the two; exchange.c carries calls from one to the other.
 */
#include "backend/backend.h"
#include "base/tsc.h"
#include "callers.h"
#include "callers_private.h"
#include "exchange.h"
#include "key_watch.h"
#include "servers.h"
#include "service_queue.h"

/* After CLOSE, calls that have not returned hold the session up for so long. */
#define CLOSE_NS UINT64_C(900000000)

/* Interval of looks at sessions that wait for that. */
#define LEAVERS_NS 50000000u

static bool has_waiting(const struct session *s)
{
	return s->services.copies.head != NIL;
}

/* ---- sessions that leave ---- */

/* They send no message when the time has come. */
static void look_at_leavers(struct reactor *r)
{
	r->look_at_leavers = r->now + tsc_from_ns(LEAVERS_NS);
	for_each_session (s, r->sessions, at_reactor)
		if (s->services.leaves)
			reactor_attend(r, s);
}

static void count_leaver(struct reactor *r, struct session *s, bool leaves)
{
	r->leavers += leaves - s->services.leaves;
	s->services.leaves = leaves;
}

/* What the ring serves.  NULL: it serves nothing, or its session has no such ring. */
static struct server *server_of(const struct ring *ring)
{
	return ring && ring->team ? ring->team->server : NULL;
}

static void for_servers(struct reactor *r, struct session *s,
			void (*what)(struct reactor *, struct ring *))
{
	for (uint32_t i = 0; s->services.servers && i < s->ring_count; i++)
		if (server_of(s->rings[i]))
			what(r, s->rings[i]);
}

/* The session's client has died, or quoitd cuts its jobs off: nothing of it is served any more. */
static void abandon(struct reactor *r, struct session *s)
{
	callers_abandon(r, s);
	for_servers(r, s, server_end);
}

/* The process uses its memory again when the ring has gone: not while results are copied from it. */
static bool ring_may_go(struct reactor *r, struct ring *ring)
{
	if (!server_of(ring))
		return true;
	server_quit(r, ring);
	return !server_of(ring)->lent;
}

static void ring_closes(struct reactor *r, struct ring *ring)
{
	if (server_of(ring))
		server_end(r, ring);
}

static bool is_over(const struct reactor *r, const struct session *s)
{
	return s->dead || s->cut || (s->services.leaves_by && r->now >= s->services.leaves_by);
}

/*
 * After CLOSE the session serves nothing new, and what has begun ends in time: its own calls, and
 * those of others.  While quoitd ends, all go on.
 */
static void leaving(struct reactor *r, struct session *s)
{
	struct session_services *all = &s->services;

	if (!s->ending || !(all->out || all->ready || all->servers))
		return;
	if (s->ending == MAIL_CLOSE) {
		for_servers(r, s, server_quit);
		if (!all->leaves_by) /* it is stopped if what it has not begun is not wanted */
			all->leaves_by = r->now + (s->stopped ? 0 : tsc_from_ns(CLOSE_NS));
		count_leaver(r, s, true);
	}
	if (is_over(r, s))
		abandon(r, s);
}

/* Has it calls that have begun?  While quoitd ends: or are there others that may call? */
static bool still_serves(const struct session *s, bool drains)
{
	for (uint32_t i = 0; s->services.servers && i < s->ring_count; i++) {
		const struct server *server = server_of(s->rings[i]);

		if (server && (server->posted || (drains && COUNT_OF(server->service->attached))))
			return true;
	}
	return false;
}

static bool leave(struct reactor *r, struct session *s)
{
	callers_leave(r, s);
	if (!is_over(r, s) && still_serves(s, s->ending == MAIL_DRAIN)) {
		count_leaver(r, s, true);
		return false;
	}
	for_servers(r, s, server_end);
	if (s->services.lent)
		return false;
	count_leaver(r, s, false);
	return true;
}

/* ---- every pass ---- */

/* One branch for all of them: most reactors never have any. */
static inline bool has_any(const struct reactor *r)
{
	return (uintptr_t)atomic_load_explicit(&r->letters, memory_order_relaxed) |
	       (uintptr_t)r->to_read | (uintptr_t)r->to_withdraw | (uintptr_t)r->servers |
	       (uintptr_t)r->bereft | (uintptr_t)r->woken_keyspaces | r->leavers | r->lacks_room;
}

static bool look(struct reactor *r)
{
	bool any = exchange_read(r);

	if (r->to_withdraw)
		any |= callers_withdraw(r);
	if (r->servers || r->lacks_room)
		any |= servers_look(r);
	if (r->woken_keyspaces)
		any |= key_watch_look(r);
	if (r->bereft)
		any |= service_expire(r);
	if (r->leavers && r->now >= r->look_at_leavers)
		look_at_leavers(r);
	return any;
}

static bool poll(struct reactor *r)
{
	return has_any(r) && look(r);
}

/* The longest sleep: some of these wait for a time. */
static uint64_t sleep_ns(struct reactor *r)
{
	const uint64_t bereft = service_sleep_ns(r), room = servers_sleep_ns(r);
	uint64_t most = r->leavers ? LEAVERS_NS : UINT64_MAX;

	most = bereft < most ? bereft : most;
	return room < most ? room : most;
}

static bool may_sleep(struct reactor *r)
{
	return exchange_may_sleep(r) && !r->to_withdraw && !r->woken_keyspaces &&
	       servers_may_sleep(r);
}

const struct backend service_backend = {
	.start = callers_start,
	.poll = poll,
	.advance = callers_advance,
	.has_waiting = has_waiting,
	.may_sleep = may_sleep,
	.sleep_ns = sleep_ns,
	.can_be_late = callers_can_be_late,
	.late = callers_late,
	.cancel = callers_cancel,
	.abandon = abandon,
	.ring_may_go = ring_may_go,
	.ring_closes = ring_closes,
	.leaving = leaving,
	.leave = leave,
};
