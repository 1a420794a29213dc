/* SPDX-License-Identifier: MIT */
/* work.h - compute how many cores worked between two samples of the totals */
#ifndef QUOIT_TOOLS_TRACE_WORK_H
#define QUOIT_TOOLS_TRACE_WORK_H

#include "recording.h"

struct work {
	double tick_ns;
	bool begun;
	int64_t from, to;                /* the time that the figures below are about */
	double tiles, reacting, polling; /* number of cores */
	unsigned reactors, cores;
	struct trace_reactor reactor[QUOIT_MAX_REACTORS]; /* the last sample */
	struct trace_core core[QUOIT_MAX_CORES];
	double share[QUOIT_MAX_CORES]; /* part of each core's time that went into tiles: 0 to 1 */
};

/*
 * True: the figures are valid; false: this is the first sample, or no time has passed since the
 * last.
 */
bool work_next(struct work *w, const struct recording_totals *totals);

#endif
