/* SPDX-License-Identifier: MIT */
/* server_choice.c - which of a service's servers gets a call */
#include "server_choice.h"

#include "backend/program/call_entry.h"
#include "base/tsc.h"
#include "session/owner.h"

/* Calls that a server has ahead of their turn are at most so many for each thread. */
#define AHEAD_MOST 16u

/* Slots of a server's CQ that calls leave free. */
#define SLOTS_KEPT 8u

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
 * The last choice: a server one of whose threads runs a function that waits, perhaps for this very
 * call.  That thread runs the call first, and the function goes on later.
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

struct server *server_choose(const struct service *service, const struct service_call *call)
{
	struct server *best = NULL;

	for (struct server *s = service->serving; s; s = s->next_serving)
		if (can_take(s, call, most_of(service, s)) && (!best || is_better(s, best, call)))
			best = s;
	return best ? best : choose_suspended(service, call);
}

bool server_choice_exists(const struct service *service, const struct service_call *call)
{
	for (const struct server *s = service->serving; s; s = s->next_serving)
		if (call->entry.function < s->functions)
			return true;
	return false;
}
