/* SPDX-License-Identifier: MIT */
/* machine.h - read what the system says about its cores and nodes, and our own cost */
#ifndef QUOIT_TOOLS_TOP_MACHINE_H
#define QUOIT_TOOLS_TOP_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#define MACHINE_CPUS  1024
#define MACHINE_NODES 64

struct stat_info;

struct machine {
	struct stat_info *stat;
	/* The system is read at most every 0.4 s, even at many readings a second. */
	double busy[MACHINE_CPUS]; /* percent between its last two readings; < 0: not known */
	uint64_t system_ns;
	int nodes;

	struct {
		int64_t bytes, free; /* bytes < 0: there is no such node, or it is not known */
	} node[MACHINE_NODES];

	/* percent of a core that we took since the last reading; < 0: not known */
	double own_percent;
	uint64_t own_bytes; /* our resident memory */
	uint64_t own_ns, read_ns;
	int statm; /* of /proc/self */
};

/* Values that cannot be read are not known.  Call machine_close in any case. */
void machine_open(struct machine *m);
void machine_read(struct machine *m);
void machine_close(struct machine *m);

#endif
