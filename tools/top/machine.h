/* SPDX-License-Identifier: MIT */
/* machine.h - what the system itself says of its cores and nodes, and what we cost */
#ifndef QUOIT_TOOLS_TOP_MACHINE_H
#define QUOIT_TOOLS_TOP_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#define MACHINE_CPUS  1024
#define MACHINE_NODES 64

struct stat_info;

struct machine {
	struct stat_info *stat;
	/* The system is not asked at each of many readings a second. */
	double busy[MACHINE_CPUS]; /* percent of the time between the last two times that it was;
				      < 0: not known */
	uint64_t system_ns;
	int nodes;

	struct {
		int64_t bytes, free; /* bytes < 0: there is no such node, or it is not known */
	} node[MACHINE_NODES];

	double own_percent; /* of a core, since the reading before; < 0: not known */
	uint64_t own_bytes; /* resident */
	uint64_t own_ns, read_ns;
	int statm; /* our own, of /proc */
};

/* What cannot be had is not known; machine_close in any case. */
void machine_open(struct machine *m);
void machine_read(struct machine *m);
void machine_close(struct machine *m);

#endif
