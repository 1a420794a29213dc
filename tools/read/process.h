/* SPDX-License-Identifier: MIT */
/*
 * process.h - find out what /proc says about the processes in counter files.
 *
 * PIDs are those of quoitd's PID namespace.  In another namespace they name other processes or
 * none.  So there nothing is known of a process, rather than something about a wrong one.
 */
#ifndef QUOIT_TOOLS_PROCESS_H
#define QUOIT_TOOLS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCESS_NODES 64

/* What to find out; each costs a file of /proc for each process. */
enum process_need {
	PROCESS_NEED_RESIDENT = 1, /* resident bytes */
	PROCESS_NEED_FAULTS = 2,   /* faults */
	/* shared memory, only for the user and root; the kernel walks the pages */
	PROCESS_NEED_SMAPS = 4,
	/* bytes per node, only for the user and root; the kernel walks the pages */
	PROCESS_NEED_NUMA = 8,
};

struct process {
	uint32_t pid;
	uint32_t uid; /* the session's user */
	/* CLOCK_BOOTTIME of a time when it existed: a process that started later is another one */
	uint64_t by_ns;

	bool known; /* it lives, and the following is known: */
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
 * returns even if a process keeps the kernel from telling of its pages: if a process of a user took
 * longer than 20 ms, that user's processes that are not read after 0.6 s are not known.
 */
void process_look(struct process *const *list, size_t count, unsigned needs);

/*
 * Did a process `pid` exist at by_ns (CLOCK_BOOTTIME) already, and is it still more than a zombie?
 */
bool process_lives(uint32_t pid, uint64_t by_ns);

/* Is this the PID namespace with that number (stats.h)?  0, not known, counts as ours. */
bool process_is_here(uint32_t pid_namespace);

/* Kill the children of `parent` that have this name; returns how many there were. */
unsigned process_kill_children(uint32_t parent, const char *command);

#endif
