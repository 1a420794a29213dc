/* SPDX-License-Identifier: MIT */
/* cpu_shares.h - divide the CPUs that this process may use between several processes */
#ifndef QUOIT_TOOLS_CPU_SHARES_H
#define QUOIT_TOOLS_CPU_SHARES_H

#include <stddef.h>

struct cpu_place {
	int node;      /* -1: not known */
	unsigned core; /* the first CPU of its core */
	unsigned cpu;
};

/* In the order of nodes, of cores in a node, and of CPUs in a core. */
struct cpu_shares {
	struct cpu_place *list;
	size_t count;
};

/* Look up the CPUs that this process may use; 0 or -errno.  Free them when it is 0. */
int cpu_shares_read(struct cpu_shares *ret);
void cpu_shares_free(struct cpu_shares *s);

/* Put the places into that order. */
void cpu_shares_sort(struct cpu_shares *s);

/*
 * The share of process `number` (counted from 0) of `processes`: places *ret_first to *ret_end,
 * which is not one of them.  Shares are whole cores if there are enough, else single CPUs.  If there
 * are more processes than CPUs, neighbours have the same CPU.  Pure.
 */
void cpu_shares_of(const struct cpu_shares *s, unsigned number, unsigned processes,
		   size_t *ret_first, size_t *ret_end);

/* Let this process, and what it runs, use only that share; 0 or -errno. */
int cpu_shares_pin(const struct cpu_shares *s, unsigned number, unsigned processes);

#endif
