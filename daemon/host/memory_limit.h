/* SPDX-License-Identifier: MIT */
/* memory_limit.h - how much memory there is for us */
#ifndef QUOITD_MEMORY_LIMIT_H
#define QUOITD_MEMORY_LIMIT_H

#include <stdint.h>

/*
 * Half of what the memory cgroup, or else the machine, allows, and no more than the limits of this
 * process have room for: the default of --memory.
 */
uint64_t memory_limit_default(void);

/*
 * Seven eighths of what the memory cgroup, or else the machine, allows: where leases were more,
 * whoever uses his would have us killed.
 */
uint64_t memory_limit_most(void);

/* Log that `memory` is no more than that: bytes. */
void memory_limit_say(uint64_t memory);

/*
 * For tests: the limit of the memory cgroup, or of one that it is in if that is tighter;
 * UINT64_MAX: none.  Where cgroups are, and the file that names the process's.
 */
uint64_t memory_limit_of_cgroup(const char *root, const char *of_process);

#endif
