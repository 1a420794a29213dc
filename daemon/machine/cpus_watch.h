/* SPDX-License-Identifier: MIT */
/*
 * cpus_watch.h - notices CPUs that quoitd may no longer use: the cpuset shrank, or a CPU was
 * switched off.
 *
 * The kernel moves the threads that were pinned there to other CPUs, so all goes on, more slowly.
 * quoitd only has to log it.
 */
#ifndef QUOITD_CPUS_WATCH_H
#define QUOITD_CPUS_WATCH_H

#include "placement.h"

#define CPUS_WATCH_BYTES 128

struct cpus_watch {
	const struct placement *plan; /* its cores are quoitd's */
	char said[CPUS_WATCH_BYTES];  /* the CPUs that were gone at the last look, as text */
};

/*
 * List the CPUs of the plan on which the calling thread, which is not pinned, may not run.  Returns
 * how many there are; the list is like "2, 3", and ends with ", ..." if there are too many.  Asks
 * the kernel; never waits.
 */
uint32_t cpus_watch_list(const struct cpus_watch *w, char ret[CPUS_WATCH_BYTES]);

/* Log it if the list has changed since the last look.  For one thread, which is not pinned. */
void cpus_watch_look(struct cpus_watch *w);

#endif
