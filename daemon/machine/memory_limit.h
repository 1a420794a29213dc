/* SPDX-License-Identifier: MIT */
/* memory_limit.h - finds how much memory quoitd may use */
#ifndef QUOITD_MEMORY_LIMIT_H
#define QUOITD_MEMORY_LIMIT_H

#include <stdint.h>

/*
 * The default of --memory, in bytes: half of what the memory cgroup, or else the machine, allows,
 * and no more than this process's limits have room for.
 */
uint64_t memory_limit_default(void);

/*
 * The most for --memory, in bytes: seven eighths of what the memory cgroup, or else the machine,
 * allows.  With more, a user that uses its lease could have the kernel kill quoitd.
 */
uint64_t memory_limit_most(void);

/* Log that memory was lowered to so many bytes. */
void memory_limit_say(uint64_t memory);

/*
 * For tests: the limit of the process's memory cgroup, or that of a parent if it is tighter;
 * UINT64_MAX: none.  root: where cgroups are; of_process: the file that names the process's cgroup.
 */
uint64_t memory_limit_of_cgroup(const char *root, const char *of_process);

#endif
