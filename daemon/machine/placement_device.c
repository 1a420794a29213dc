/* SPDX-License-Identifier: MIT */
/* placement_device.c - finds where a device is, and what should be near it */
#include "placement_device.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <hwloc/bitmap.h>

#include "topology.h"

/* ---- where ---- */

struct address {
	unsigned domain, bus, device, function;
};

/* "0000:3b:00.0" and "00000000:3B:00.0" are the same. */
static bool read_address(const char *text, struct address *ret)
{
	char rest;

	return sscanf(text, "%x:%x:%x.%x%c", &ret->domain, &ret->bus, &ret->device, &ret->function,
		      &rest) == 4;
}

static bool is_at(const struct topology_device *d, const struct address *a)
{
	struct address b;

	return read_address(d->address, &b) && a->domain == b.domain && a->bus == b.bus &&
	       a->device == b.device && a->function == b.function;
}

static enum placement_reason find_node(const struct topology *topology, const char *address,
				       int32_t *ret_node)
{
	struct address a;

	*ret_node = TOPOLOGY_UNKNOWN;
	if (!*address)
		return PLACEMENT_ON_NO_BUS;
	for (uint32_t i = 0; read_address(address, &a) && i < topology->nr_devices; i++) {
		if (!is_at(&topology->devices[i], &a))
			continue;
		*ret_node = topology->devices[i].node;
		return *ret_node == TOPOLOGY_UNKNOWN ? PLACEMENT_NEAR_NOTHING : PLACEMENT_ON_NODE;
	}
	return PLACEMENT_NOT_FOUND;
}

/* ---- what is near ---- */

static bool may_be_used(const struct topology *topology, const struct placement_config *config,
			const struct topology_pu *pu, int32_t node)
{
	return (int32_t)topology->cores[pu->core].node == node && pu->allowed &&
	       (!config->cpus || topology_list_has(config->cpus, pu->cpu) > 0);
}

static int compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int placement_device_find(const struct topology *topology, const struct placement_config *config,
			  const char *address, struct placement_device *ret)
{
	struct placement_device d = {.memory_node = TOPOLOGY_UNKNOWN};

	d.reason = find_node(topology, address, &d.node);
	d.cpus = calloc(topology->nr_pus ? topology->nr_pus : 1, sizeof *d.cpus);
	if (!d.cpus)
		return -ENOMEM;
	if (d.node != TOPOLOGY_UNKNOWN)
		d.memory_node = placement_nearest_memory(topology, (uint32_t)d.node);
	for (uint32_t i = 0; d.node != TOPOLOGY_UNKNOWN && i < topology->nr_pus; i++)
		if (may_be_used(topology, config, &topology->pus[i], d.node))
			d.cpus[d.nr_cpus++] = topology->pus[i].cpu;
	qsort(d.cpus, d.nr_cpus, sizeof *d.cpus, compare);
	*ret = d;
	return 0;
}

void placement_device_done(struct placement_device *d)
{
	free(d->cpus);
	*d = (struct placement_device){0};
}

const struct placement_device *placement_device_near(const struct placement_device *devices,
						     uint32_t count, int32_t client_node)
{
	const struct placement_device *first = NULL;

	for (uint32_t i = 0; i < count; i++) {
		if (devices[i].node == TOPOLOGY_UNKNOWN)
			continue;
		if (devices[i].node == client_node)
			return &devices[i];
		if (!first)
			first = &devices[i];
	}
	return first;
}

/* ---- in words ---- */

static void print_cpus(const struct placement_device *d, FILE *out)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	char *text = NULL;

	for (uint32_t i = 0; set && i < d->nr_cpus; i++)
		hwloc_bitmap_set(set, d->cpus[i]);
	if (set && hwloc_bitmap_list_asprintf(&text, set) >= 0)
		fprintf(out, "%s", text);
	free(text);
	hwloc_bitmap_free(set);
}

static bool has_reactor(const struct placement *plan, int32_t node)
{
	for (uint32_t i = 0; i < plan->nr_reactors; i++)
		if ((int32_t)placement_reactor(plan, i)->node == node)
			return true;
	return false;
}

static void describe_what_follows(const struct placement_device *d, const struct placement *plan,
				  FILE *out)
{
	if (d->nr_cpus) {
		fprintf(out, "its process on CPUs ");
		print_cpus(d, out);
	} else {
		fprintf(out, "no core there may be used, its process anywhere");
	}
	fprintf(out, "; sessions that ask for device memory %s",
		has_reactor(plan, d->node) ? "there" : "elsewhere, no reactor is there");
	if (d->memory_node == TOPOLOGY_UNKNOWN)
		fprintf(out, ", their pinned memory left to the kernel");
	else
		fprintf(out, ", their pinned memory on node %d", d->memory_node);
}

void placement_device_describe(const struct placement_device *d, uint32_t number,
			       const struct placement *plan, FILE *out)
{
	static const char *const why[] = {
		[PLACEMENT_ON_NO_BUS] = "is on no bus",
		[PLACEMENT_NOT_FOUND] = "has an address at which PCI shows no such device",
		[PLACEMENT_NEAR_NOTHING] = "is near to no node in particular"};

	fprintf(out, "place of device %u: ", number);
	if (d->reason != PLACEMENT_ON_NODE) {
		fprintf(out, "it %s; its process and sessions anywhere", why[d->reason]);
		return;
	}
	fprintf(out, "node %d, by its PCI address; ", d->node);
	describe_what_follows(d, plan, out);
}
