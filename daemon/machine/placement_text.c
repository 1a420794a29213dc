/* SPDX-License-Identifier: MIT */
/* placement_text.c - describes a placement in words, for `quoit topo` */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include <hwloc/bitmap.h>

#include "placement.h"
#include "topology.h"

/* A caller's buffer; length goes on counting past its end. */
struct text {
	char *buffer;
	size_t size, length;
};

static char *text_end(const struct text *text, size_t *ret_room)
{
	size_t used = text->length < text->size ? text->length : text->size;

	*ret_room = text->size - used;
	return used ? text->buffer + used : text->buffer; /* the buffer may be NULL */
}

__attribute__((format(printf, 2, 3))) static void text_add(struct text *text, const char *format,
							   ...)
{
	va_list args;
	size_t room;
	char *end = text_end(text, &room);

	va_start(args, format);
	text->length += (size_t)vsnprintf(end, room, format, args);
	va_end(args);
}

/* The CPUs in use on a node, as "0-3,8": all of them, or those with a reactor. */
static void add_cpus(struct text *text, const struct placement *plan, uint32_t node,
		     bool reactors_only)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	size_t room;
	char *end = text_end(text, &room);
	uint32_t i;

	if (!set)
		return;
	for (i = 0; i < plan->nr_cores; i++)
		if (plan->cores[i].node == node && (!reactors_only || plan->cores[i].reactor >= 0))
			hwloc_bitmap_set(set, plan->cores[i].cpu);
	if (hwloc_bitmap_iszero(set))
		text_add(text, "none");
	else
		text->length += (size_t)hwloc_bitmap_list_snprintf(end, room, set);
	hwloc_bitmap_free(set);
}

static const struct placement_core *first_core(const struct placement *plan, uint32_t node)
{
	uint32_t i;

	for (i = 0; i < plan->nr_cores; i++)
		if (plan->cores[i].node == node)
			return &plan->cores[i];
	return NULL;
}

static bool has_cores(const struct topology *topology, uint32_t node)
{
	uint32_t i;

	for (i = 0; i < topology->nr_cores; i++)
		if (topology->cores[i].node == node)
			return true;
	return false;
}

static void describe_memory(struct text *text, const struct topology *topology,
			    const struct topology_node *node, const struct placement_core *core)
{
	if (node->memory_bytes)
		text_add(text, "%.1f GiB%s", (double)node->memory_bytes / (1u << 30),
			 node->memory_allowed ? "" : " (not allowed)");
	else
		text_add(text, "no memory");
	if (!core || core->memory_node == (int32_t)node->node)
		return;
	if (core->memory_node == TOPOLOGY_UNKNOWN)
		text_add(text, ", none may be used: left to the kernel");
	else
		text_add(text, ", takes that of node %d (%s)", core->memory_node,
			 topology->knows_distances ? "the nearest" : "distances are unknown");
}

static void describe_node(struct text *text, const struct placement *plan,
			  const struct topology *topology, const struct topology_node *node)
{
	const struct placement_core *core = first_core(plan, node->node);

	text_add(text, "node %u: ", node->node);
	describe_memory(text, topology, node, core);
	if (core) {
		text_add(text, "; workers on CPUs ");
		add_cpus(text, plan, node->node, false);
		text_add(text, "; reactors on ");
		add_cpus(text, plan, node->node, true);
	} else {
		text_add(text, has_cores(topology, node->node) ? "; no core may be used"
							       : "; no cores: not used");
	}
	text_add(text, "\n");
}

static void describe_device(struct text *text, const struct topology_device *device)
{
	text_add(text, "device %s (%04x:%04x): ", device->address, device->vendor, device->device);
	if (device->node == TOPOLOGY_UNKNOWN)
		text_add(text, "near to no node in particular\n");
	else
		text_add(text, "node %d\n", device->node);
}

static void describe_count(struct text *text, const struct placement *plan,
			   const struct placement_config *config)
{
	text_add(text, "reactors: %u", plan->nr_reactors);
	if (!config->reactors)
		text_add(text, ", automatic: on each node one for every 4 cores, at least one\n");
	else if (plan->nr_reactors == config->reactors)
		text_add(text, ", as configured\n");
	else
		text_add(text, " of the %u configured: a core has one at most\n", config->reactors);
	text_add(text, "workers: %u, one on each core that may be used", plan->nr_cores);
	if (config->cpus)
		text_add(text, " (configured: CPUs %s)", config->cpus);
	text_add(text, "\n");
}

size_t placement_describe(const struct placement *plan, const struct topology *topology,
			  const struct placement_config *config, char *buffer, size_t size)
{
	struct text text = {.buffer = buffer, .size = size};
	uint32_t allowed = 0, i;

	for (i = 0; i < topology->nr_pus; i++)
		allowed += topology->pus[i].allowed;
	text_add(&text, "%s: packages %u, nodes %u, cores %u, CPUs %u (allowed %u)\n",
		 topology->this_machine ? "this machine" : "a described machine",
		 topology->nr_packages, topology->nr_nodes, topology->nr_cores, topology->nr_pus,
		 allowed);
	for (i = 0; i < topology->nr_nodes; i++)
		describe_node(&text, plan, topology, &topology->nodes[i]);
	for (i = 0; i < topology->nr_devices; i++)
		describe_device(&text, &topology->devices[i]);
	describe_count(&text, plan, config);
	return text.length;
}
