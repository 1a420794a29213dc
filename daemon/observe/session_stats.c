/* SPDX-License-Identifier: MIT */
/* session_stats.c - a session's counter file */
#include "session_stats.h"

#include <stdio.h>
#include <string.h>

#include "base/tsc.h"
#include "latency.h"
#include "named_waits.h"
#include "sample.h"
#include "session_file.h"
#include "totals.h"

#define LABEL(name, text) text,
static const char *const labels[QUOIT_SESSION_NR] = {QUOIT_SESSION_STATS(LABEL)};
#undef LABEL

/* Write the magic last: until then a reader knows that the file is not ready. */
static void publish(struct quoit_session_stats *to, const struct quoit_session_stats *from)
{
	const size_t first = sizeof from->header.magic;

	_Static_assert(offsetof(struct quoit_session_stats, header.magic) == 0, "it is the first");
	memcpy((char *)to + first, (const char *)from + first, sizeof *from - first);
	__atomic_store_n(&to->header.magic, from->header.magic, __ATOMIC_RELEASE);
}

/* Those that wait at something with a name: how many, and where.  Returns how many. */
static uint64_t count_named(const struct session *s, uint64_t *value)
{
	static const unsigned counter[QUOIT_SYNC_NR] = {
		[0] = QUOIT_SESSION_WAIT_SERVICE,
		[QUOIT_SYNC_LOCK] = QUOIT_SESSION_WAIT_LOCK,
		[QUOIT_SYNC_FLAG] = QUOIT_SESSION_WAIT_FLAG,
		[QUOIT_SYNC_SEMAPHORE] = QUOIT_SESSION_WAIT_SEMAPHORE,
		[QUOIT_SYNC_BARRIER] = QUOIT_SESSION_WAIT_BARRIER,
		[QUOIT_SYNC_QUEUE] = QUOIT_SESSION_WAIT_QUEUE,
	};
	uint64_t all = 0;

	for (unsigned kind = 0; kind < QUOIT_SYNC_NR; kind++) {
		if (!counter[kind]) /* at a tensor no job waits */
			continue;
		value[counter[kind]] = s->services.waits.jobs[kind];
		all += s->services.waits.jobs[kind];
	}
	value[QUOIT_SESSION_WAIT_NAMED] = all;
	return all;
}

/* Split the waiting jobs: for others, for their turn, for memory, or else for what they read. */
static void count_waiting(const struct session *s, uint64_t *value)
{
	uint64_t queued = value[QUOIT_SESSION_QUEUED] - count_named(s, value);
	uint64_t turn = s->ready_jobs + s->exec.jobs_waiting, memory = s->memory.waiting.now;

	value[QUOIT_SESSION_WAIT_TURN] = turn;
	value[QUOIT_SESSION_WAIT_MEMORY] = memory;
	value[QUOIT_SESSION_WAIT_DATA] = queued > turn + memory ? queued - turn - memory : 0;
}

/* How far `ahead` is beyond `behind`, at most `most`, as a client writes one of them. */
static uint32_t distance(uint32_t ahead, uint32_t behind, uint32_t most)
{
	return ahead - behind < most ? ahead - behind : most;
}

/* Read lines that the client writes; each costs a cache miss. */
static void look_at_ring(struct ring *r)
{
	r->sq_depth = distance(__atomic_load_n(&r->client->sq_tail, __ATOMIC_RELAXED), r->sq.next,
			       r->layout.sq_entries);
	r->cq_depth = distance(r->cq.next, __atomic_load_n(&r->client->cq_head, __ATOMIC_RELAXED),
			       r->layout.cq_entries);
	sample_collect(r);
	latency_tell_sites(r->session, r->index, r->sites);
	r->lanes = r->team ? __atomic_load_n(&r->client->lanes, __ATOMIC_RELAXED) : 0;
	if (r->sq_depth > r->sq_most)
		r->sq_most = r->sq_depth;
	if (r->cq_depth > r->cq_most)
		r->cq_most = r->cq_depth;
}

static void look_at_rings(struct session *s)
{
	for (uint32_t i = 0; i < s->ring_count; i++)
		if (s->rings[i])
			look_at_ring(s->rings[i]);
}

static void count_rings(const struct session *s, uint64_t *value)
{
	value[QUOIT_SESSION_RINGS] = value[QUOIT_SESSION_SQ_DEPTH] = value[QUOIT_SESSION_SQ_MOST] =
		value[QUOIT_SESSION_CQ_DEPTH] = value[QUOIT_SESSION_CQ_MOST] =
			value[QUOIT_SESSION_LANES] = 0;
	for (uint32_t i = 0; i < s->ring_count; i++) {
		const struct ring *r = s->rings[i];

		if (!r)
			continue;
		value[QUOIT_SESSION_RINGS]++;
		value[QUOIT_SESSION_LANES] += r->lanes;
		value[QUOIT_SESSION_SQ_DEPTH] += r->sq_depth;
		value[QUOIT_SESSION_CQ_DEPTH] += r->cq_depth;
		if (r->sq_most > value[QUOIT_SESSION_SQ_MOST])
			value[QUOIT_SESSION_SQ_MOST] = r->sq_most;
		if (r->cq_most > value[QUOIT_SESSION_CQ_MOST])
			value[QUOIT_SESSION_CQ_MOST] = r->cq_most;
	}
}

/* Fill value[QUOIT_SESSION_NR] with the counters as of this TSC. */
static void take_values(const struct session *s, uint64_t now, uint64_t running_ticks,
			uint64_t *value)
{
	value[QUOIT_SESSION_SUBMITTED] = s->jobs_fetched;
	value[QUOIT_SESSION_DONE] = s->jobs_done;
	value[QUOIT_SESSION_FAILED] = s->jobs_failed;
	value[QUOIT_SESSION_INLINE] = s->jobs_inline;
	value[QUOIT_SESSION_TILED] = s->jobs_tiled;
	value[QUOIT_SESSION_RUNNING] = s->running - s->services.waits.sent;
	value[QUOIT_SESSION_QUEUED] = s->open.now - value[QUOIT_SESSION_RUNNING];
	count_waiting(s, value);
	count_rings(s, value);
	value[QUOIT_SESSION_QUEUE_TICKS] = s->open.queue_ticks;
	value[QUOIT_SESSION_BUSY_TICKS] = s->open.busy_ticks;
	value[QUOIT_SESSION_MEMORY_TICKS] = s->memory.waiting.busy_ticks;
	value[QUOIT_SESSION_REFUSED] = s->jobs_refused;
	value[QUOIT_SESSION_MEMORY_WAITS] = s->memory_waited;
	value[QUOIT_SESSION_WAKES] = s->wakes;
	value[QUOIT_SESSION_KICKS] = s->kicks;
	value[QUOIT_SESSION_HOST_LEASE] = s->memory.lease;
	value[QUOIT_SESSION_HOST_PROMISED] = s->memory.promise;
	value[QUOIT_SESSION_HOST_MOST] = s->memory.most;
	value[QUOIT_SESSION_HOST_USED] = s->memory.used;
	value[QUOIT_SESSION_HOST_CACHED] = s->region.cached_bytes;
	value[QUOIT_SESSION_HOST_PEAK] = s->memory.peak;
	value[QUOIT_SESSION_TILE_TICKS] = s->tile_ticks + running_ticks;
	value[QUOIT_SESSION_CORE_TICKS] = s->core_ticks + value[QUOIT_SESSION_TILE_TICKS];
	value[QUOIT_SESSION_AS_OF] = now;
	value[QUOIT_SESSION_TENSORS] = s->tensors_alive;
	value[QUOIT_SESSION_PINNED] = s->pinned_bytes;
	value[QUOIT_SESSION_SHARED] = s->shared_bytes;
	value[QUOIT_SESSION_HELD] = s->holds.held.now;
	value[QUOIT_SESSION_HELD_TICKS] = s->holds.held.busy_ticks;
	value[QUOIT_SESSION_CALLS] = s->calls.returned;
	value[QUOIT_SESSION_CALLS_POSTED] = s->calls.posted + s->services.out;
	value[QUOIT_SESSION_CALLS_WAITING] = s->calls.waiting + s->services.ready;
	value[QUOIT_SESSION_CALL_TICKS] = s->calls.ticks;
	value[QUOIT_SESSION_SERVED] = s->services.served;
	value[QUOIT_SESSION_SERVE_TICKS] = s->services.serve_ticks;
	value[QUOIT_SESSION_SERVING] = s->services.serving;
	value[QUOIT_SESSION_NAMED_TICKS] = s->services.waits.ticks;
	value[QUOIT_SESSION_DEVICE_LEASE] = s->devices ? s->device[0].lease : 0;
	value[QUOIT_SESSION_DEVICE_USED] = value[QUOIT_SESSION_DEVICE_JOBS] = 0;
	value[QUOIT_SESSION_DIRECT] = value[QUOIT_SESSION_DIRECT_STREAMED] = 0;
	value[QUOIT_SESSION_PINNED_REFUSED] = 0;
	for (uint32_t i = 0; i < s->devices; i++) {
		value[QUOIT_SESSION_DEVICE_USED] += s->device[i].used;
		value[QUOIT_SESSION_DEVICE_JOBS] += s->device[i].jobs;
		value[QUOIT_SESSION_PINNED_REFUSED] += s->device[i].refused;
		value[QUOIT_SESSION_DIRECT] += s->device[i].direct;
		value[QUOIT_SESSION_DIRECT_STREAMED] += s->device[i].streamed;
	}
	value[QUOIT_SESSION_BYTES] = s->bytes_moved;
	value[QUOIT_SESSION_ARENA_AWAY] = __atomic_load_n(&s->arena_away, __ATOMIC_RELAXED);
	value[QUOIT_SESSION_EXECUTOR_TICKS] = s->exec.ticks_used;
	value[QUOIT_SESSION_CLIENT_NODE] = s->client_node;
	value[QUOIT_SESSION_PINNED_LOCKED] = s->pinned_locked;
	value[QUOIT_SESSION_PINNED_REGISTERED] = s->pinned_registered;
}

int session_stats_open(struct session *s, int directory, uint32_t reactor, int32_t node)
{
	struct quoit_session_stats stats = {.session = s->id,
					    .uid = s->uid,
					    .pid = (uint32_t)s->pid,
					    .reactor = reactor,
					    .node = node,
					    .opened_ns = totals_now_ns()};
	void *map;
	int err = session_file_open(s, directory, QUOIT_STATS_SESSION, sizeof stats, &s->stats_fd,
				    &map);

	if (!map)
		return err;
	totals_fill_header(&stats.header, sizeof stats, offsetof(struct quoit_session_stats, value),
			   QUOIT_SESSION_NR, 1);
	memcpy(stats.name, s->name, sizeof stats.name);
	take_values(s, tsc_now(), 0, stats.value);
	for (unsigned i = 0; i < QUOIT_SESSION_NR; i++)
		snprintf(stats.label[i], sizeof stats.label[i], "%s", labels[i]);
	publish(map, &stats);
	s->stats = map;
	return err;
}

void session_stats_publish(struct session *s, uint64_t now, uint64_t running_ticks, bool look)
{
	uint64_t value[QUOIT_SESSION_NR];

	latency_tell_nops(s);
	if (!s->stats)
		return;
	if (look)
		look_at_rings(s);
	depth_sum(&s->open, now);
	depth_sum(&s->memory.waiting, now);
	depth_sum(&s->holds.held, now);
	named_waits_look(s, now);
	take_values(s, now, running_ticks, value);
	for (unsigned i = 0; i < QUOIT_SESSION_NR; i++)
		__atomic_store_n(&s->stats->value[i], value[i], __ATOMIC_RELAXED);
}

void session_stats_close(struct session *s, int directory)
{
	if (!s->stats)
		return;
	__atomic_store_n(&s->stats->ended, 1, __ATOMIC_RELAXED);
	session_file_remove(s->id, directory, QUOIT_STATS_SESSION, s->stats_fd);
}
