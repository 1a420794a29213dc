/* SPDX-License-Identifier: MIT */
/* named_waits.c - what a session waits for at services, locks and their kin */
#include "named_waits.h"

#include <errno.h>
#include <string.h>

#include "session/objects.h"

/* ---- stalls ---- */

/* Does the program hold a tensor, and are there jobs that may wait for that? */
static bool is_held_up(const struct session *s)
{
	return s->holds.held.now && s->open.now > s->running + s->services.ready;
}

static bool stalls(const struct session *s)
{
	return (s->services.out || s->services.ready) && s->running <= s->services.out &&
	       !s->ready_jobs && !s->exec.jobs_waiting && !s->calls.waiting &&
	       !s->memory.waiting.now && !is_held_up(s);
}

static uint64_t jobs_ended(const struct session *s)
{
	return s->jobs_done + s->jobs_failed;
}

static bool has_stalled(const struct session *s)
{
	return s->services.waits.begun && s->services.waits.ended == jobs_ended(s) && stalls(s);
}

static unsigned way_of(const struct service_call *call)
{
	const bool is_unserved = call->unserved || (!call->ran && call->result == -ENOENT);

	if (call->caller->service->object)
		return named_way(call->caller, call->entry.function);
	return is_unserved ? QUOIT_NAMED_SECOND : QUOIT_NAMED_FIRST;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Since when the session has stalled for what this call waited for. */
static uint64_t stalled_from(const struct named_waits *w, const struct caller *c,
			     uint64_t submitted)
{
	const uint64_t from = c->service->object ? w->since : later(w->begun, c->charged_until);

	return later(from, submitted);
}

static void charge(struct named_waits *w, struct service_call *call, uint64_t now)
{
	struct caller *c = call->caller;
	const uint64_t from = stalled_from(w, c, call->submitted);
	const uint64_t to = call->ran && call->began < now ? call->began : now;

	if (to <= from)
		return;
	call->stalled = to - from;
	c->stalled[way_of(call)] += to - from;
	c->charged_until = to;
	w->ticks += to - from;
}

void named_waits_return(struct session *s, struct service_call *call, uint64_t now)
{
	struct named_waits *w = &s->services.waits;

	if (has_stalled(s))
		charge(w, call, now);
	else
		w->begun = now; /* perhaps; the next look will tell */
	w->since = now;
	w->ended = jobs_ended(s) + 1;
}

/* ---- what waits now ---- */

/* How many of its jobs wait there; *ret_sent: of these, how many have a call. */
static uint32_t waiting_at(const struct caller *c, uint32_t *ret_sent)
{
	const uint32_t queued = c->out ? COUNT_OF(c->queued) : 0; /* its home counts these */

	*ret_sent = queued < c->out ? queued : c->out;
	return *ret_sent + COUNT_OF(c->waiting);
}

static unsigned kind_of(const struct caller *c)
{
	return c->service->object ? c->service->object->kind : 0;
}

/* ---- telling ---- */

static void put(uint64_t *to, uint64_t value)
{
	__atomic_store_n(to, value, __ATOMIC_RELAXED);
}

static void put_small(uint32_t *to, uint32_t value)
{
	__atomic_store_n(to, value, __ATOMIC_RELAXED);
}

/* A reader that sees the number has the rest, or that of the one that had the row before. */
static void name_row(struct quoit_named_wait *row, const struct caller *c)
{
	const struct service *service = c->service;

	if (row->number == service->id)
		return;
	put(&row->number, 0);
	memcpy(row->name, service->name, sizeof row->name);
	row->uid = service->uid;
	row->kind = kind_of(c);
	put(&row->number, service->id);
}

/* The service's lines are its home's: they are read only while there is something to tell. */
static void tell(struct session *s, const struct caller *c, uint32_t jobs)
{
	struct quoit_named_wait *row;

	if (!s->latency)
		return;
	row = &s->latency->named_wait[c->index];
	for (unsigned way = 0; way < QUOIT_NAMED_WAYS; way++)
		put(&row->ticks[way], c->stalled[way]);
	if (!c->out && row->jobs == jobs && row->number == c->service->id)
		return;
	name_row(row, c);
	put_small(&row->jobs, jobs);
	put_small(&row->servers, COUNT_OF(c->service->shown_servers));
	put_small(&row->lanes, COUNT_OF(c->service->shown_lanes));
}

void named_waits_closed(struct session *s, uint32_t index)
{
	if (s->latency)
		put_small(&s->latency->named_wait[index].jobs, 0);
}

/* newest: of those where jobs wait, the one that got the last call; NULL: there is none. */
static void tell_now(struct session *s, const struct caller *newest, uint64_t now)
{
	struct quoit_named_now *to;
	bool is_unserved;
	uint64_t from;

	if (!s->latency)
		return;
	to = &s->latency->named_now;
	put(&to->ticks, 0);
	if (!s->services.waits.begun || !newest)
		return;
	is_unserved = !newest->service->object && !COUNT_OF(newest->service->shown_servers);
	from = stalled_from(&s->services.waits, newest,
			    newest->service->object ? newest->latest : 0);
	put_small(&to->row, newest->index);
	put_small(&to->way, is_unserved ? QUOIT_NAMED_SECOND : newest->latest_way);
	put(&to->ticks, now > from ? now - from : 0);
}

/* ---- looking ---- */

static void settle(struct session *s, uint64_t now)
{
	struct named_waits *w = &s->services.waits;

	if (has_stalled(s))
		return;
	w->since = w->begun = stalls(s) ? now : 0;
	w->ended = jobs_ended(s);
}

void named_waits_look(struct session *s, uint64_t now)
{
	struct named_waits *w = &s->services.waits;
	const struct caller *newest = NULL;
	uint32_t left = s->services.callers;

	if (!left && !w->any)
		return;
	settle(s, now);
	memset(w->jobs, 0, sizeof w->jobs);
	w->sent = 0;
	w->any = false;
	for (uint32_t i = 0; left && i < QUOIT_MAX_SERVICES; i++) {
		const struct caller *c = s->services.caller[i];
		uint32_t sent, jobs;

		if (!c)
			continue;
		left--;
		jobs = waiting_at(c, &sent);
		w->jobs[kind_of(c)] += jobs;
		w->sent += sent;
		w->any |= jobs != 0;
		if (jobs && (!newest || c->latest > newest->latest))
			newest = c;
		tell(s, c, jobs);
	}
	w->sent = w->sent < s->services.out ? w->sent : s->services.out;
	tell_now(s, newest, now);
}
