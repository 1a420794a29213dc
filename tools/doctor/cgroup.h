/* SPDX-License-Identifier: MIT */
/*
 * cgroup.h - read the limits of a process's control group and of all groups above it.
 *
 * A limit counts for everything below its group, so the tightest one holds.  quoitd itself reads
 * only its own group (docs/limits.md: --memory).
 */
#ifndef QUOIT_TOOLS_DOCTOR_CGROUP_H
#define QUOIT_TOOLS_DOCTOR_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#define CGROUP_PATH_BYTES 512
#define CGROUP_UNLIMITED  UINT64_MAX

struct cgroup_memory {
	uint64_t own;                 /* its own maximum, in bytes; or CGROUP_UNLIMITED */
	uint64_t least;               /* the least of all maxima and of all memory.high */
	char path[CGROUP_PATH_BYTES]; /* the file with that least value */
};

struct cgroup_cpu {
	double cpus; /* how many CPUs' time it may use; 0: no limit */
	/*
	 * Since the group was made: periods in which it ran, and periods in which it was stopped.
	 */
	uint64_t periods, throttled;
	char path[CGROUP_PATH_BYTES]; /* the file with the limit */
};

struct cgroup {
	unsigned version; /* 1 or 2; 0: not known */
	/* the last part of its path if systemd made it: "quoitd.service"; else empty */
	char unit[64];
	struct cgroup_memory memory;
	struct cgroup_cpu cpu;
	uint64_t tasks; /* the least maximum of processes and threads; or CGROUP_UNLIMITED */
};

/* Read the groups of the process with the folder `directory` ("proc/self"). */
void cgroup_read(int root, const char *directory, struct cgroup *ret);

#endif
