/* SPDX-License-Identifier: MIT */
/*
 * placement.h - decides which cores run reactors and workers, and where a session lives.
 *
 * Pure functions of a topology and a configuration: no system calls, no state.
 *
 * Of each allowed core, only the first allowed PU is used: two hyperthreads of a core share the
 * units that a tile keeps busy.  Each of these cores has a worker.  A reactor shares its core with
 * that worker and preempts it.  The number of reactors is:
 *
 *   automatic    on each node, one for every 4 cores and at least one: an inline job takes less
 *                than 20 µs, so one reactor feeds several cores, and an idle one sleeps;
 *   configured   so many, but at most one a core.
 *
 * Reactors are dealt to the nodes in turn, so the first ones lie on different nodes.  On a node, a
 * reactor goes to the last-level cache with the fewest reactors so far, and there to the core with
 * the highest CPU number: interrupts, the kernel's work and unpinned clients tend to the first
 * ones.
 */
#ifndef QUOITD_PLACEMENT_H
#define QUOITD_PLACEMENT_H

#include <stddef.h>
#include <stdint.h>

struct topology;

struct placement_config {
	uint32_t reactors; /* 0: automatic */
	const char *cpus;  /* use only these CPUs, like "0-3,8"; NULL: all allowed ones */
};

/* A core that quoitd uses.  CPU and nodes are the kernel's numbers. */
struct placement_core {
	uint32_t cpu;
	uint32_t node;
	int32_t memory_node; /* where its memory should lie: node, or the nearest; -1: unknown */
	int32_t cache;       /* its last-level cache, as in the topology */
	int32_t reactor;     /* the reactor on this core, or -1 */
};

struct placement {
	uint32_t nr_cores;
	uint32_t nr_reactors; /* 1 to nr_cores */
	uint32_t nr_memories; /* nodes with memory, allowed or not; if 1, there is no choice */
	uint32_t nr_cpus;     /* highest CPU number + 1 */
	int32_t *cpu_node;    /* of each CPU, used or not; -1: there is no such CPU */
	struct placement_core *cores; /* worker i runs on cores[i] */
	uint32_t *reactors;           /* reactor i runs on cores[reactors[i]] */
};

/*
 * Makes a plan, which the caller frees.  More reactors than cores are cut to the cores.  0;
 * -EINVAL: config->cpus is not a CPU list; -ENODEV: no allowed CPU is on that list; -ENOMEM.
 */
int placement_make(const struct topology *topology, const struct placement_config *config,
		   struct placement **ret_plan);

/* NULL is fine. */
void placement_free(struct placement *plan);

/* The core of a reactor. */
static inline const struct placement_core *placement_reactor(const struct placement *plan,
							     uint32_t reactor)
{
	return &plan->cores[plan->reactors[reactor]];
}

/* The node of any CPU of the machine; -1: unknown. */
static inline int32_t placement_node(const struct placement *plan, uint32_t cpu)
{
	return cpu < plan->nr_cpus ? plan->cpu_node[cpu] : -1;
}

/* The node whose memory to use on this node (which exists): itself or the nearest; -1: none. */
int32_t placement_nearest_memory(const struct topology *topology, uint32_t node);

/*
 * The reactor for a new session: of those on `node`, which is its device's or its client's last
 * one, the one with the least load, then with the lowest number.  If the node has no reactor or is
 * unknown (-1), all reactors count.  load: of each reactor, in any measure.
 */
uint32_t placement_home(const struct placement *plan, int32_t node, const uint64_t *load);

/*
 * Writes lines for people: what was found, what was chosen, and why.  It cuts what does not fit,
 * and ends with a zero byte unless size is 0.  Returns the full length without that byte.
 */
size_t placement_describe(const struct placement *plan, const struct topology *topology,
			  const struct placement_config *config, char *buffer, size_t size);

#endif
