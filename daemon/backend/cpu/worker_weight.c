/* SPDX-License-Identifier: MIT */
/* worker_weight.c - decides whether a worker gives way on its core */
#include "worker_weight.h"

#include "base/tsc.h"

/* Tiles of this length together are enough for a verdict: for a few ticks of the kernel's clock any
 * thread that wakes may have most of a core. */
#define VERDICT_NS 100000000u

/* Other programs count as there for so long after they were seen: their threads rest, too, and a
 * worker that gives way too early makes its first tiles take up to 60 times their time. */
#define CONTESTED_NS 10000000000u

#define BACKGROUND_NS 20000000u

/* ---- small jobs ---- */

static void put(struct weight_served *served, unsigned i, uint64_t session, uint64_t at)
{
	atomic_store_explicit(&served->last[i].session, session, memory_order_relaxed);
	atomic_store_explicit(&served->last[i].at, at, memory_order_relaxed);
}

void weight_note_new(struct weight_served *served, uint64_t session, uint64_t now)
{
	uint64_t first = atomic_load_explicit(&served->last[0].session, memory_order_relaxed);

	if (first != session)
		put(served, 1, first,
		    atomic_load_explicit(&served->last[0].at, memory_order_relaxed));
	put(served, 0, session, now);
}

/* Session and time may be read from two different notes: then one tile runs at the other weight. */
bool weight_has_others(const struct weight_served *served, uint64_t session, uint64_t now)
{
	uint64_t recent = tsc_from_ns(WEIGHT_QUICK_NS);

	for (unsigned i = 0; i < WEIGHT_SERVED; i++) {
		uint64_t id = atomic_load_explicit(&served->last[i].session, memory_order_relaxed);
		uint64_t at = atomic_load_explicit(&served->last[i].at, memory_order_relaxed);

		if (id && id != session && at + recent > now)
			return true;
	}
	return false;
}

/* ---- other programs ---- */

void weight_count(struct weight *w, uint64_t wall_ns, uint64_t cpu_ns, bool background,
		  uint64_t now)
{
	if (w->background != background)
		w->wall_ns = w->cpu_ns = 0;
	w->background = background;
	w->wall_ns += wall_ns;
	w->cpu_ns += cpu_ns;
	if (w->wall_ns < VERDICT_NS)
		return;
	/* Beside a program that computes, a thread that gives way keeps 1.5 % of the core, and one
	 * of equal weight half. */
	if (background ? w->cpu_ns < w->wall_ns / 4 : w->cpu_ns < w->wall_ns / 4 * 3)
		w->contested_until = now + tsc_from_ns(CONTESTED_NS);
	w->wall_ns = w->cpu_ns = 0;
}

bool weight_gives_way(struct weight *w, const struct weight_served *served, uint64_t session,
		      uint64_t now)
{
	if (now < w->contested_until)
		return false;
	if (weight_has_others(served, session, now))
		w->background_until = now + tsc_from_ns(BACKGROUND_NS);
	return now < w->background_until;
}
