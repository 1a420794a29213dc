/* SPDX-License-Identifier: MIT */
/* work.c - compute how many cores worked between two samples of the totals */
#include "work.h"

#include <string.h>

/*
 * A part of a time in ns, at most all of it; counters may be slightly older or newer than their
 * sample.
 */
static double share(const struct work *w, uint64_t to, uint64_t from, double ns)
{
	double part = to > from ? (double)(to - from) * w->tick_ns / ns : 0;

	return part < 1 ? part : 1;
}

static void keep(struct work *w, const struct recording_totals *t)
{
	w->begun = true;
	w->to = t->at;
	w->reactors = t->reactors;
	w->cores = t->cores;
	memcpy(w->reactor, t->reactor, t->reactors * sizeof *t->reactor);
	memcpy(w->core, t->core, t->cores * sizeof *t->core);
}

bool work_next(struct work *w, const struct recording_totals *t)
{
	double ns = (double)(t->at - w->to);

	if (!w->begun || t->reactors != w->reactors || t->cores != w->cores) {
		keep(w, t);
		return false;
	}
	if (t->at <= w->to)
		return false;
	w->tiles = w->reacting = w->polling = 0;
	for (unsigned i = 0; i < t->reactors; i++) {
		w->reacting += share(w, t->reactor[i].work_ticks, w->reactor[i].work_ticks, ns);
		w->polling += share(w, t->reactor[i].poll_ticks, w->reactor[i].poll_ticks, ns);
	}
	for (unsigned i = 0; i < t->cores; i++) {
		w->share[i] = share(w, t->core[i].tile_ticks, w->core[i].tile_ticks, ns);
		w->tiles += w->share[i];
	}
	w->from = w->to;
	keep(w, t);
	return true;
}
