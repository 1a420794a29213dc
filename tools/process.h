/* SPDX-License-Identifier: MIT */
/*
 * process.h - what /proc says about processes that a counter file names.
 *
 * Numbers are those of quoitd's PID namespace.  In another one they are somebody else's or
 * nobody's: then nothing is known of a process, rather than something of a wrong one.
 */
#ifndef QUOIT_TOOLS_PROCESS_H
#define QUOIT_TOOLS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCESS_NODES 64

/* What there is to find out; each costs a file of /proc for each process. */
enum process_need {
	PROCESS_NEED_RESIDENT = 1, /* resident bytes */
	PROCESS_NEED_FAULTS = 2,   /* faults */
	PROCESS_NEED_SMAPS = 4,    /* shares: its user and root alone; the kernel walks its pages */
	PROCESS_NEED_NUMA = 8,     /* bytes per node: the same */
};

struct process {
	uint32_t pid;
	uint32_t uid;   /* of its session */
	uint64_t by_ns; /* CLOCK_BOOTTIME: it was there then; a later one with its number is not it
			 */

	bool known; /* it lives, and this is its: */
	uint64_t resident_bytes;
	bool faults_known;
	uint64_t minor_faults, major_faults;
	bool share_known;
	uint64_t share_bytes; /* PSS */
	bool nodes_known;
	uint64_t node_bytes[PROCESS_NODES];
};

/*
 * Find out about processes whose pid, uid and by_ns are set; needs: bits of enum process_need.  It
 * returns even if a process keeps the kernel from telling of its pages: after 0.6 s what a user's
 * processes have not told is not known, if one of them took longer than 20 ms.
 */
void process_look(struct process *const *list, size_t count, unsigned needs);

/*
 * Is there a process `pid` that was there at by_ns (CLOCK_BOOTTIME) already, and is it
 * more than a zombie?
 */
bool process_lives(uint32_t pid, uint64_t by_ns);

/* Is this the PID namespace with that number (stats.h)?  0, not known, is taken for ours. */
bool process_is_here(uint32_t pid_namespace);

/* Kill what `parent` has started under this name; how many there were. */
unsigned process_kill_children(uint32_t parent, const char *command);

#endif
