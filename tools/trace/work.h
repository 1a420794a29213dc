/* SPDX-License-Identifier: MIT */
/* work.h - how many cores were at work between two samples of the totals */
#ifndef QUOIT_TOOLS_TRACE_WORK_H
#define QUOIT_TOOLS_TRACE_WORK_H

#include "trace/recording.h"

struct work {
	double tick_ns;
	bool begun;
	int64_t from, to;                /* of what is said below */
	double tiles, reacting, polling; /* in cores */
	unsigned reactors, cores;
	struct trace_reactor reactor[QUOIT_MAX_REACTORS]; /* the last sample */
	struct trace_core core[QUOIT_MAX_CORES];
	double share[QUOIT_MAX_CORES]; /* of each core's time that went into tiles: 0 to 1 */
};

/* True: there is something to say; false: it is the first sample, or of no other moment. */
bool work_next(struct work *w, const struct recording_totals *totals);

#endif
