/* SPDX-License-Identifier: MIT */
/*
 * topology.h - the machine as plain data: nodes, cores, PUs and devices.
 *
 * hwloc reads it, but none of its types appear here.  A field named `cpu` or `node` holds the
 * kernel's number, which sched_setaffinity(), mbind() and getcpu() take.  Other fields are indices
 * only if they say so.  A topology does not change after it was read, so all threads may read it.
 */
#ifndef QUOITD_TOPOLOGY_H
#define QUOITD_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

/* A node or a cache that the source does not tell. */
#define TOPOLOGY_UNKNOWN (-1)

struct topology_node {
	uint32_t node;
	uint64_t memory_bytes; /* 0: a node without memory */
	bool memory_allowed;   /* false: the cpuset forbids its memory */
};

/*
 * A core belongs to the node with the smallest set of cores around it; of equal ones, to the
 * lowest.  Slow or fast memory that is added to a package has a higher number than the package's
 * own, and so becomes a node without cores.
 */
struct topology_core {
	uint32_t package; /* counted from 0 */
	uint32_t node;
	int32_t l2, l3; /* number of the cache; cores that share it have the same */
};

struct topology_pu {
	uint32_t cpu;
	uint32_t core; /* index into cores */
	bool allowed;  /* by the cpuset, by the affinity mask and by the caller */
};

/* A display, 3D or co-processor device on PCI. */
struct topology_device {
	char address[20]; /* "0000:17:00.0" */
	uint16_t vendor, device, class;
	int32_t node; /* TOPOLOGY_UNKNOWN: near no node in particular */
};

struct topology {
	uint32_t nr_packages;
	uint32_t nr_nodes;
	uint32_t nr_cores;
	uint32_t nr_pus;
	uint32_t nr_devices;
	struct topology_node *nodes; /* by rising node number */
	struct topology_core *cores; /* those of a package, cache or node are adjacent */
	struct topology_pu *pus;     /* those of a core are adjacent */
	struct topology_device *devices;

	/*
	 * distance[i * nr_nodes + j] is how far the memory of nodes[j] is from the cores of
	 * nodes[i], in the unit of ACPI's SLIT: 10 is local.  Without knows_distances, all other
	 * nodes are at 20.
	 */
	uint32_t *distance;

	bool this_machine; /* false: threads must not be bound to its numbers */
	bool knows_caches; /* at least one core has an L2 or L3 */
	bool knows_distances;
};

/*
 * Reads a machine.  source: NULL for this machine; a path ending in ".xml" for what `lstopo --of
 * xml` wrote; else a synthetic description such as "pack:2 [numa] core:4 pu:2".  hwloc's own
 * variables in the environment are ignored.  allowed: a CPU list that narrows the allowed PUs
 * further, or NULL.  On this machine only the PUs in the cpuset and in the calling thread's
 * affinity mask are allowed, so call it before any thread is pinned.  hwloc itself writes to stderr
 * when the firmware contradicts itself, and carries on.  0 and a topology that the caller frees;
 * -EINVAL: bad source or list; -ENOMEM; or the error of opening the file or of asking the kernel.
 */
int topology_read(const char *source, const char *allowed, struct topology **ret_topology);

/* NULL is fine. */
void topology_free(struct topology *topology);

/*
 * Is `cpu` on a list like "0-3,8"?  1, 0, or -EINVAL: the list is empty, has anything but ascending
 * ranges of numbers between commas, or has a number above INT_MAX.
 */
int topology_list_has(const char *list, uint32_t cpu);

#endif
