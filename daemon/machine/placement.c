/* SPDX-License-Identifier: MIT */
/* placement.c - decides which cores run reactors and workers, and where a session lives */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "placement.h"
#include "topology.h"

enum { CORES_PER_REACTOR = 4, NO_REACTOR = -1 };

int32_t placement_nearest_memory(const struct topology *topology, uint32_t node_number)
{
	const uint32_t *distance;
	int32_t nearest = TOPOLOGY_UNKNOWN;
	uint32_t least = UINT32_MAX, index = 0, i;

	while (topology->nodes[index].node != node_number)
		index++;
	distance = &topology->distance[index * topology->nr_nodes];
	for (i = 0; i < topology->nr_nodes; i++) {
		const struct topology_node *node = &topology->nodes[i];

		if (node->memory_bytes && node->memory_allowed && distance[i] < least) {
			least = distance[i];
			nearest = (int32_t)node->node;
		}
	}
	return nearest;
}

static void add_core(struct placement *plan, const struct topology *topology,
		     const struct topology_pu *pu)
{
	const struct topology_core *core = &topology->cores[pu->core];

	plan->cores[plan->nr_cores++] = (struct placement_core){
		.cpu = pu->cpu,
		.node = core->node,
		.memory_node = placement_nearest_memory(topology, core->node),
		.cache = core->l3 != TOPOLOGY_UNKNOWN ? core->l3 : core->l2,
		.reactor = NO_REACTOR,
	};
}

/* Picks one PU of each core: the first that is allowed and configured. */
static int pick_cores(struct placement *plan, const struct topology *topology, const char *cpus)
{
	uint32_t used = UINT32_MAX, i;

	for (i = 0; i < topology->nr_pus; i++) {
		const struct topology_pu *pu = &topology->pus[i];
		int listed = cpus ? topology_list_has(cpus, pu->cpu) : 1;

		if (listed < 0)
			return listed;
		if (!listed || !pu->allowed || pu->core == used)
			continue;
		add_core(plan, topology, pu);
		used = pu->core;
	}
	return plan->nr_cores ? 0 : -ENODEV;
}

static uint32_t count_cores(const struct placement *plan, uint32_t node)
{
	uint32_t count = 0, i;

	for (i = 0; i < plan->nr_cores; i++)
		count += plan->cores[i].node == node;
	return count;
}

/* Is core a better than core b of the same node for the next reactor? */
static bool is_better(const struct placement *plan, const struct placement_core *a,
		      const struct placement_core *b)
{
	uint32_t beside_a = 0, beside_b = 0, i;

	for (i = 0; i < plan->nr_reactors; i++) {
		beside_a += placement_reactor(plan, i)->cache == a->cache;
		beside_b += placement_reactor(plan, i)->cache == b->cache;
	}
	return beside_a != beside_b ? beside_a < beside_b : a->cpu > b->cpu;
}

/* The node must have a core without a reactor. */
static void put_reactor(struct placement *plan, uint32_t node)
{
	struct placement_core *best = NULL;
	uint32_t i;

	for (i = 0; i < plan->nr_cores; i++) {
		struct placement_core *core = &plan->cores[i];

		if (core->node == node && core->reactor == NO_REACTOR &&
		    (!best || is_better(plan, core, best)))
			best = core;
	}
	best->reactor = (int32_t)plan->nr_reactors;
	plan->reactors[plan->nr_reactors++] = (uint32_t)(best - plan->cores);
}

static uint32_t automatic_share(uint32_t cores)
{
	return cores > 0 && cores < CORES_PER_REACTOR ? 1 : cores / CORES_PER_REACTOR;
}

/* Deals reactors to the nodes in turn until there are `wanted`, or no node may have more. */
static void deal_reactors(struct placement *plan, const struct topology *topology, uint32_t wanted)
{
	uint32_t before, round = 0, i;

	do {
		before = plan->nr_reactors;
		for (i = 0; i < topology->nr_nodes; i++) {
			uint32_t node = topology->nodes[i].node;
			uint32_t cores = count_cores(plan, node);

			if (wanted ? round < cores && plan->nr_reactors < wanted
				   : round < automatic_share(cores))
				put_reactor(plan, node);
		}
		round++;
	} while (plan->nr_reactors > before);
}

/* Clients run on all CPUs, also on those that quoitd does not use. */
static int map_cpus(struct placement *plan, const struct topology *topology)
{
	uint32_t i;

	for (i = 0; i < topology->nr_pus; i++)
		if (topology->pus[i].cpu >= plan->nr_cpus)
			plan->nr_cpus = topology->pus[i].cpu + 1;
	plan->cpu_node = malloc(plan->nr_cpus * sizeof(*plan->cpu_node));
	if (!plan->cpu_node)
		return -ENOMEM;
	for (i = 0; i < plan->nr_cpus; i++)
		plan->cpu_node[i] = TOPOLOGY_UNKNOWN;
	for (i = 0; i < topology->nr_pus; i++) {
		const struct topology_pu *pu = &topology->pus[i];

		plan->cpu_node[pu->cpu] = (int32_t)topology->cores[pu->core].node;
	}
	return 0;
}

static uint32_t count_memories(const struct topology *topology)
{
	uint32_t count = 0, i;

	for (i = 0; i < topology->nr_nodes; i++)
		count += topology->nodes[i].memory_bytes != 0;
	return count;
}

int placement_make(const struct topology *topology, const struct placement_config *config,
		   struct placement **ret_plan)
{
	struct placement *plan = calloc(1, sizeof(*plan));
	int rc;

	if (!plan)
		return -ENOMEM;
	plan->cores = calloc(topology->nr_cores, sizeof(*plan->cores));
	plan->reactors = calloc(topology->nr_cores, sizeof(*plan->reactors));
	rc = plan->cores && plan->reactors ? map_cpus(plan, topology) : -ENOMEM;
	rc = rc ? rc : pick_cores(plan, topology, config->cpus);
	if (rc) {
		placement_free(plan);
		return rc;
	}
	deal_reactors(plan, topology, config->reactors);
	plan->nr_memories = count_memories(topology);
	*ret_plan = plan;
	return 0;
}

void placement_free(struct placement *plan)
{
	if (!plan)
		return;
	free(plan->cores);
	free(plan->reactors);
	free(plan->cpu_node);
	free(plan);
}

uint32_t placement_home(const struct placement *plan, int32_t node, const uint64_t *load)
{
	uint32_t home = 0, i;
	bool home_is_near = false;

	for (i = 0; i < plan->nr_reactors; i++) {
		bool is_near = (int64_t)placement_reactor(plan, i)->node == node;

		if (is_near > home_is_near || (is_near == home_is_near && load[i] < load[home])) {
			home = i;
			home_is_near = is_near;
		}
	}
	return home;
}
