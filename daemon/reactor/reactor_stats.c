/* SPDX-License-Identifier: MIT */
/* reactor_stats.c - copies out the counters of sessions, of cores and of the reactor */
#include "reactor_stats.h"

#include "backend/backend.h"
#include "backend/cpu/worker.h"
#include "backend/executor/backend_exec.h"
#include "base/tsc.h"
#include "observe/histograms.h"
#include "observe/latency.h"
#include "observe/reactor_histograms.h"
#include "observe/session_stats.h"
#include "observe/totals.h"

#define STATS_NS 100000000u /* coarse: all users may read it, and must not learn when a job ended */

static void publish_session(struct reactor *r, struct session *s, bool all)
{
	exec_count_time(r, s);
	session_stats_publish(s, r->now, worker_ticks(r->port, s), all);
	s->counters_current = true;
}

/*
 * A session's counters are for its own user: whenever we sleep, they include all that we did.
 * Things that change without us, by the client or by time, are looked at now and then (all).
 */
void reactor_stats_sessions(struct reactor *r, bool all)
{
	if (all)
		for_each_session (s, r->sessions, at_reactor)
			publish_session(r, s, true);
	while (r->stale) {
		struct session *s = r->stale;

		LINKS_REMOVE(s, stale);
		if (!all)
			publish_session(r, s, false);
	}
}

/* A core's ticks never go back, even if a tile ended between reading two of its words. */
static void publish_core(struct reactor *r, uint32_t i, uint64_t tiles, uint64_t ticks)
{
	uint64_t *value = r->cores[i].value;

	if (r->histograms && tiles != value[QUOIT_CORE_TILES])
		workers_tell_times(r->port->workers, i, histograms_core(r->histograms, i));
	__atomic_store_n(&value[QUOIT_CORE_TILES], tiles, __ATOMIC_RELAXED);
	if (ticks > value[QUOIT_CORE_TILE_TICKS])
		__atomic_store_n(&value[QUOIT_CORE_TILE_TICKS], ticks, __ATOMIC_RELAXED);
	__atomic_store_n(&value[QUOIT_CORE_AS_OF], r->now, __ATOMIC_RELAXED);
}

/* True: a core is at work, so there will be more to publish. */
static bool publish_cores(struct reactor *r)
{
	uint64_t tiles, ticks;
	bool busy = false;

	for (uint32_t i = r->index; i < QUOIT_MAX_CORES; i += r->core_stride) {
		if (!workers_count(r->port->workers, i, &tiles, &ticks))
			break;
		busy |= ticks > r->cores[i].value[QUOIT_CORE_TILE_TICKS];
		publish_core(r, i, tiles, ticks);
	}
	return busy;
}

static void publish_summary(struct reactor *r)
{
	if (!r->own_histograms)
		return;
	for_each_session (s, r->sessions, at_reactor)
		latency_hand_over(s);
	r->count[QUOIT_REACTOR_BYTES] = reactor_histograms_tell(r->own_histograms);
}

static uint64_t count_named(const struct reactor *r)
{
	uint64_t all = 0;

	for_each_session (s, r->sessions, at_reactor)
		for (unsigned kind = 0; kind < QUOIT_SYNC_NR; kind++)
			all += s->services.waits.jobs[kind];
	return all;
}

void reactor_stats_totals(struct reactor *r)
{
	r->last_stats = r->now;
	publish_summary(r);
	r->count[QUOIT_REACTOR_SESSIONS] = r->session_count;
	r->count[QUOIT_REACTOR_HEARTBEAT] = r->now;
	r->count[QUOIT_REACTOR_ALIVE] = totals_now_ns();
	depth_sum(&r->open, r->now);
	r->count[QUOIT_REACTOR_OPEN] = r->open.now;
	r->count[QUOIT_REACTOR_WAIT_NAMED] = count_named(r);
	r->count[QUOIT_REACTOR_QUEUE_TICKS] = r->open.queue_ticks;
	r->count[QUOIT_REACTOR_BUSY_TICKS] = r->open.busy_ticks;
	for_each_backend (b)
		if ((*b)->count)
			(*b)->count(r);
	if (r->stats)
		for (unsigned i = 0; i < QUOIT_REACTOR_NR; i++)
			__atomic_store_n(&r->stats->value[i], r->count[i], __ATOMIC_RELAXED);
	r->counters_current = !r->cores || !publish_cores(r);
}

bool reactor_stats_are_due(const struct reactor *r)
{
	return r->now - r->last_stats >= tsc_from_ns(STATS_NS);
}

bool reactor_computes(const struct reactor *r)
{
	bool any = false;

	for_each_backend (b)
		any |= (*b)->computes && (*b)->computes(r);
	return any;
}

uint64_t reactor_stats_timeout(const struct reactor *r)
{
	if (r->counters_current && !reactor_computes(r))
		return UINT64_MAX;
	return reactor_stats_are_due(r) ? STATS_NS : STATS_NS - tsc_to_ns(r->now - r->last_stats);
}

/*
 * The next totals are due when a tenth of a second on the clock is over, not a tenth of a second
 * after the work was done: that would show when it was.
 */
void reactor_stats_begin(struct reactor *r)
{
	uint64_t begun = r->now - r->now % tsc_from_ns(STATS_NS);

	r->counters_current = false;
	if (begun > r->last_stats)
		r->last_stats = begun;
}
