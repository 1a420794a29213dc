/* SPDX-License-Identifier: MIT */
/*
 * cgroup.h - what the control groups of a process allow: its own and all above it.
 *
 * A limit counts for everything below its group, so the tightest one holds.  quoitd itself asks
 * its own group alone (docs/limits.md: --memory).
 */
#ifndef QUOIT_TOOLS_DOCTOR_CGROUP_H
#define QUOIT_TOOLS_DOCTOR_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#define CGROUP_PATH_BYTES 512
#define CGROUP_UNLIMITED  UINT64_MAX

struct cgroup_memory {
	uint64_t own;                 /* its own maximum, in bytes; CGROUP_UNLIMITED */
	uint64_t least;               /* of all maxima, and of what it may have unhindered */
	char path[CGROUP_PATH_BYTES]; /* the file with the least */
};

struct cgroup_cpu {
	double cpus; /* so many CPUs' time at a time; 0: no limit */
	/* Since the group was made: periods in which it ran, and in which it was stopped. */
	uint64_t periods, throttled;
	char path[CGROUP_PATH_BYTES]; /* the file with the limit */
};

struct cgroup {
	unsigned version; /* 1, 2; 0: not known */
	char unit[64];    /* its last part if systemd made it: "quoitd.service"; or empty */
	struct cgroup_memory memory;
	struct cgroup_cpu cpu;
	uint64_t tasks; /* the least number of processes and threads; CGROUP_UNLIMITED */
};

/* What a tree says of the process whose folder is `directory` ("proc/self"). */
void cgroup_read(int root, const char *directory, struct cgroup *ret);

#endif
