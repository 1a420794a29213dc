/* SPDX-License-Identifier: MIT */
/*
 * cpus_watch.h - CPUs that are taken from us while we run: a smaller cpuset, or one that is
 * switched off.
 *
 * The kernel moves threads that were pinned there to those that are left, so that all goes on, more
 * slowly; all that is for us to do is to say so.
 */
#ifndef QUOITD_CPUS_WATCH_H
#define QUOITD_CPUS_WATCH_H

#include "placement.h"

#define CPUS_WATCH_BYTES 128

struct cpus_watch {
	const struct placement *plan; /* its cores are ours */
	char said[CPUS_WATCH_BYTES];  /* those that were gone at the last look, as text */
};

/*
 * Those of them on which the calling thread, which is pinned nowhere, may not run: how many, and a
 * list like "2, 3", which ends with ", ..." where there are too many.  Asks the kernel, and never
 * waits.
 */
uint32_t cpus_watch_list(const struct cpus_watch *w, char ret[CPUS_WATCH_BYTES]);

/* A log line if it is no longer as at the last look.  One thread's, pinned nowhere. */
void cpus_watch_look(struct cpus_watch *w);

#endif
