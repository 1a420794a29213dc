/* SPDX-License-Identifier: MIT */
/* reactor_leave.c - lets rings and sessions go, each once nothing of it is in use */
#include "reactor_leave.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>

#include "backend/backend.h"
#include "base/tsc.h"
#include "job/completion.h"
#include "job/hold.h"
#include "job/record.h"
#include "job/sched.h"
#include "memory/memory.h"
#include "observe/latency.h"
#include "observe/sample.h"
#include "observe/session_stats.h"
#include "reactor_bells.h"
#include "reactor_cancel.h"
#include "reactor_mail.h"
#include "reactor_rings.h"
#include "session/run_queue.h"
#include "start.h"

/* Interval of looks at sessions that wait for an executor or for memory. */
#define LINGER_NS 100000u

/* ---- sessions here, and sessions that may leave ---- */

static struct session **place_of(struct reactor *r, const struct session *s)
{
	return &r->place[(uintptr_t)s / _Alignof(max_align_t) * UINT64_C(0x9e3779b97f4a7c15) >> 56];
}

bool reactor_has(const struct reactor *r, const struct session *s)
{
	const struct session *i = *place_of((struct reactor *)(uintptr_t)r, s);

	while (i && i != s)
		i = i->at_place;
	return i != NULL;
}

void reactor_take_in(struct reactor *r, struct session *s)
{
	struct session **place = place_of(r, s);

	s->at_place = *place;
	*place = s;
	LINKS_ADD(&r->sessions, s, at_reactor);
	r->session_count++;
}

void reactor_look(struct reactor *r, struct session *s)
{
	if (s->is_seen)
		return;
	s->is_seen = true;
	s->leaves = NULL;
	if (r->leaves)
		r->leaves_last->leaves = s;
	else
		r->leaves = s;
	r->leaves_last = s;
}

/* The session, or a ring of it, is to leave. */
static void leave_soon(struct reactor *r, struct session *s)
{
	s->leaving = true;
	reactor_look(r, s);
}

static void abandon(struct reactor *r, struct session *s)
{
	for_each_backend (b)
		if ((*b)->abandon)
			(*b)->abandon(r, s);
}

void reactor_end_session(struct reactor *r, struct session *s, uint8_t type, uint32_t flags)
{
	if (!reactor_has(r, s)) { /* it was let go before the news of its death came */
		reactor_answer(r, type, s, NULL, 0);
		return;
	}
	reactor_charge(r, s);
	leave_soon(r, s);
	reactor_unstall_all(r, s);
	s->ending = type;
	for (uint32_t i = 0; i < s->ring_count; i++)
		if (s->rings[i])
			s->rings[i]->no_completions = true;
	hold_end_all(s, NULL, r->now, sched_push);
	if (type == MAIL_DEAD || flags & QUOIT_CLOSE_CANCEL) {
		s->stopped = true; /* nothing more is fetched */
		s->dead = type == MAIL_DEAD;
		reactor_cancel_all(r, s);
	}
	if (type == MAIL_DEAD)
		abandon(r, s);
}

void reactor_close_ring(struct reactor *r, struct session *s, uint32_t index)
{
	struct ring *ring = index < s->ring_count ? s->rings[index] : NULL;

	if (!ring || ring->closing) {
		reactor_answer(r, MAIL_RING_CLOSE, s, NULL, -EINVAL);
		return;
	}
	ring->closing = ring->no_completions = true;
	reactor_charge(r, s); /* many jobs may wait for what it holds */
	leave_soon(r, s);
	hold_end_all(s, ring, r->now, sched_push);
	reactor_unstall_all(r, s);
}

/* Jobs that ended during a drain.  After a cut there are none: its answer has counted them. */
static uint32_t ended_since(const struct session *s)
{
	return s->cut ? 0 : (uint32_t)(s->jobs_done + s->jobs_failed - s->ended_before);
}

/* A session that is closing or gone already comes back by its own letter. */
void reactor_drain(struct reactor *r, struct session *s)
{
	if (!reactor_has(r, s))
		return;
	s->stopped = true;
	s->ended_before = s->jobs_done + s->jobs_failed;
	if (!s->ending)
		s->ending = MAIL_DRAIN;
	leave_soon(r, s);
}

void reactor_cut(struct reactor *r, struct session *s)
{
	struct mail m = {.type = MAIL_CUT, .session = s};

	if (!reactor_has(r, s))
		return;
	m.a = ended_since(s);
	reactor_charge(r, s);
	m.b = reactor_cancel_rest(r, s);
	hold_end_all(s, NULL, r->now, sched_push);
	s->cut = true;
	abandon(r, s);
	mailbox_send(r->outbox, &m);
}

/* ---- rings ---- */

static void unhook_dirty(struct reactor *r, struct ring *ring)
{
	for (struct ring **link = &r->dirty; *link; link = &(*link)->next_dirty)
		if (*link == ring) {
			*link = ring->next_dirty;
			return;
		}
}

static void let_ring_go(struct reactor *r, struct session *s, struct ring *ring)
{
	if (ring->queued)
		unhook_dirty(r, ring);
	record_ring_goes(ring);
	sample_collect(ring); /* while its pages are guarded */
	latency_tell_sites(s, ring->index, ring->sites);
	reactor_remove_ring(r, ring);
	s->rings[ring->index] = NULL;
}

/* Has the client been told of all CQEs, and is no wake-up of it under way? */
static bool is_told(struct ring *ring)
{
	if (ring->dirty)
		completion_flush(ring);
	return !ring->bells_asked;
}

static bool backends_let_go(struct reactor *r, struct ring *ring)
{
	bool may = true;

	for_each_backend (b)
		if ((*b)->ring_may_go)
			may &= (*b)->ring_may_go(r, ring);
	return may;
}

/* Let closing rings go; true: some still have jobs. */
static bool close_rings(struct reactor *r, struct session *s)
{
	bool pending = false;

	for (uint32_t i = 0; i < s->ring_count; i++) {
		struct ring *ring = s->rings[i];

		if (!ring || !ring->closing)
			continue;
		if (ring->jobs || (reactor_fetches(ring) && quoit_ring_peek(&ring->sq)) ||
		    !is_told(ring) || !backends_let_go(r, ring)) {
			pending = true;
			continue;
		}
		for_each_backend (b) /* what a team has returned was fetched by now */
			if ((*b)->ring_closes)
				(*b)->ring_closes(r, ring);
		let_ring_go(r, s, ring);
		reactor_answer(r, MAIL_RING_CLOSE, s, ring, 0);
	}
	return pending;
}

/* ---- sessions ---- */

static void leave_tenant(struct reactor *r, struct tenant *t, struct session *s)
{
	for (enum turn i = 0; i < TURNS; i++)
		run_queue_remove(&t->turns[i], i, s);
	start_await(r, t);
	if (!--t->session_count) {
		tenancy_remove(&r->tenancy, t);
		reactor_bells_leave(r, t);
	}
}

static void leave_place(struct reactor *r, struct session *s)
{
	struct session **link = place_of(r, s);

	while (*link != s)
		link = &(*link)->at_place;
	*link = s->at_place;
}

static void remove_session(struct reactor *r, struct session *s)
{
	leave_place(r, s);
	LINKS_REMOVE(s, at_reactor);
	LINKS_REMOVE(s, stale);
	LINKS_REMOVE(s, recorded);
	LINKS_REMOVE(s, with_deadlines);
	assert(r->session_count > 0 && !s->open.now && !s->running && !s->requests);
	assert(!s->calls.waiting && !s->calls.posted);
	assert(!s->services.ready && !s->services.out && !s->services.lent);
	r->session_count--;
	reactor_discharge(r, s);
	leave_tenant(r, reactor_tenant(r, s), s);
}

static bool quiet(const struct session *s)
{
	for (uint32_t i = 0; i < s->ring_count; i++)
		if (s->rings[i] && !is_told(s->rings[i]))
			return false;
	return !s->open.now && !s->requests && !s->holds.count && !s->published &&
	       s->memory.head == NIL && !s->memory.asks;
}

static bool unfetched(const struct session *s)
{
	for (uint32_t i = 0; i < s->ring_count; i++) {
		struct ring *ring = s->rings[i];

		if (ring && quoit_ring_peek(&ring->sq))
			return true;
	}
	return false;
}

/*
 * Hand the session back once nothing of it is in use.  Its rings are freed with it; after CLOSE the
 * client may still reap what was posted.
 */
static bool let_session_go(struct reactor *r, struct session *s)
{
	struct mail m;

	for_each_backend (b)
		if ((*b)->leaving)
			(*b)->leaving(r, s);
	if (!quiet(s) || (!s->stopped && unfetched(s)))
		return false;
	s->stopped = true; /* fetch nothing more: the memory goes now */
	for_each_backend (b)
		if ((*b)->leave && !(*b)->leave(r, s))
			return false;
	if (!memory_close(s))
		return false;
	m = (struct mail){.type = s->ending, .session = s, .a = ended_since(s)};
	session_stats_publish(s, r->now, 0, true); /* while its rings are guarded */
	for (uint32_t i = 0; i < s->ring_count; i++) {
		struct ring *ring = s->rings[i];

		if (!ring)
			continue;
		let_ring_go(r, s, ring);
		s->rings[i] = ring;
	}
	record_tell(s, r->now);
	latency_hand_over(s);
	remove_session(r, s);
	mailbox_send(r->outbox, &m);
	return true;
}

/* Does it wait for something that sends no message?  An executor lets go of it in its own time. */
static bool lingers(const struct reactor *r, const struct session *s)
{
	return s->ending && (r->executors || (!s->requests && s->region.base && quiet(s)));
}

/* quoitd ends and fetches no release any more; no job waits for what the program holds. */
static bool holds_in_vain(const struct session *s)
{
	return s->ending == MAIL_DRAIN && s->holds.count && !s->open.now;
}

/* Look at a leaving session; true: it is gone. */
static bool look_at(struct reactor *r, struct session *s)
{
	reactor_charge_only(r, s);
	if (holds_in_vain(s))
		hold_end_all(s, NULL, r->now, sched_push);
	s->leaving = close_rings(r, s) || s->ending;
	if (s->ending && let_session_go(r, s))
		return true;
	s->is_seen = lingers(r, s);
	if (s->is_seen) {
		s->leaves = r->lingers;
		r->lingers = s;
	}
	return false;
}

/* Queue the lingering sessions for another look. */
static void recall(struct reactor *r)
{
	struct session *s;

	while ((s = r->lingers) != NULL) {
		r->lingers = s->leaves;
		s->is_seen = false;
		reactor_look(r, s);
	}
	r->look_at_lingers = r->now + tsc_from_ns(LINGER_NS);
}

bool reactor_let_go(struct reactor *r)
{
	uint64_t until = tsc_now() + tsc_from_ns(REACTOR_TURN_NS);
	struct session *s;
	bool any = false;

	if (r->lingers && r->now >= r->look_at_lingers)
		recall(r);
	for (bool over = false; !over && (s = r->leaves) != NULL; over = tsc_now() >= until) {
		r->leaves = s->leaves;
		any |= look_at(r, s);
	}
	return any || r->leaves;
}
