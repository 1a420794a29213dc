/* SPDX-License-Identifier: MIT */
/* test_placement_device.c - where devices are on a machine, and what is placed near to them */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "machine/placement_device.h"
#include "machine/topology.h"

#define TWO_NODES "pack:2 [numa(memory=1GiB)] core:4 pu:2"
#define ON_ONE    "0000:3b:00.0"
#define ANYWHERE  "0000:5e:00.0"

/* Two devices, one of them near to node 1. */
static struct topology *read_machine(const char *source, const char *allowed)
{
	static const struct topology_device devices[] = {{ON_ONE, 0x10de, 0x2330, 0x0302, 1},
							 {ANYWHERE, 0x10de, 0x2330, 0x0302, -1}};
	struct topology *topology;

	cr_assert_eq(topology_read(source, allowed, &topology), 0, "%s", source);
	free(topology->devices);
	topology->devices = malloc(sizeof devices);
	cr_assert_not_null(topology->devices);
	memcpy(topology->devices, devices, sizeof devices);
	topology->nr_devices = 2;
	return topology;
}

static struct placement_device find(const struct topology *topology, const char *cpus,
				    const char *address)
{
	struct placement_config config = {.cpus = cpus};
	struct placement_device d;

	cr_assert_eq(placement_device_find(topology, &config, address, &d), 0);
	return d;
}

struct row {
	const char *address, *allowed, *cpus;
	enum placement_reason reason;
	int32_t node, memory_node;
	uint32_t first_cpu, nr_cpus;
};

static const struct row rows[] = {
	/* found, however the address is written */
	{ON_ONE, NULL, NULL, PLACEMENT_ON_NODE, 1, 1, 8, 8},
	{"0000:3B:00.0", NULL, NULL, PLACEMENT_ON_NODE, 1, 1, 8, 8},
	{"00000000:3B:00.0", NULL, NULL, PLACEMENT_ON_NODE, 1, 1, 8, 8},
	/* all allowed PUs, not one of each core */
	{ON_ONE, "0-9", NULL, PLACEMENT_ON_NODE, 1, 1, 8, 2},
	{ON_ONE, NULL, "0-3,15", PLACEMENT_ON_NODE, 1, 1, 15, 1},
	/* there is no such CPU */
	{ON_ONE, "0-7", NULL, PLACEMENT_ON_NODE, 1, 1, 0, 0},
	{ON_ONE, NULL, "0-3", PLACEMENT_ON_NODE, 1, 1, 0, 0},
	/* no node */
	{ANYWHERE, NULL, NULL, PLACEMENT_NEAR_NOTHING, -1, -1, 0, 0},
	{"", NULL, NULL, PLACEMENT_ON_NO_BUS, -1, -1, 0, 0},
	{"0000:3b:00.1", NULL, NULL, PLACEMENT_NOT_FOUND, -1, -1, 0, 0},
	{"0001:3b:00.0", NULL, NULL, PLACEMENT_NOT_FOUND, -1, -1, 0, 0},
	{"3b:00.0", NULL, NULL, PLACEMENT_NOT_FOUND, -1, -1, 0, 0},
	{"0000:3b:00.0 and more", NULL, NULL, PLACEMENT_NOT_FOUND, -1, -1, 0, 0},
};

Test(placement_device, is_where_its_address_says)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct row *row = &rows[i];
		struct topology *topology = read_machine(TWO_NODES, row->allowed);
		struct placement_device d = find(topology, row->cpus, row->address);

		cr_expect_eq(d.reason, row->reason, "row %zu: reason %u", i, d.reason);
		cr_expect_eq(d.node, row->node, "row %zu: node %d", i, d.node);
		cr_expect_eq(d.memory_node, row->memory_node, "row %zu: memory of node %d", i,
			     d.memory_node);
		cr_expect_eq(d.nr_cpus, row->nr_cpus, "row %zu: %u CPUs", i, d.nr_cpus);
		for (uint32_t k = 0; k < d.nr_cpus; k++)
			cr_expect_eq(d.cpus[k], row->first_cpu + k, "row %zu: CPU %u", i,
				     d.cpus[k]);
		placement_device_done(&d);
		topology_free(topology);
	}
}

Test(placement_device, takes_the_nearest_memory_where_its_node_has_none)
{
	struct topology *topology = read_machine(TWO_NODES, NULL);
	struct placement_device d;

	topology->nodes[1].memory_bytes = 0;
	d = find(topology, NULL, ON_ONE);
	cr_expect_eq(d.node, 1);
	cr_expect_eq(d.memory_node, 0);
	placement_device_done(&d);
	topology->nodes[0].memory_allowed = false;
	d = find(topology, NULL, ON_ONE);
	cr_expect_eq(d.memory_node, -1);
	placement_device_done(&d);
	topology_free(topology);
}

/* ---- sessions ---- */

Test(placement_device, session_is_put_near_one_of_them)
{
	static const struct {
		int32_t nodes[3], client, expected;
	} cases[] = {{{1, 1, 1}, 0, 1},  {{0, 1, 1}, 1, 1},   {{1, 0, 1}, 0, 0},
		     {{1, 2, 3}, 0, 1},  {{-1, 2, 3}, -1, 2}, {{-1, -1, 3}, -1, 3},
		     {{-1, 1, -1}, 1, 1}};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct placement_device devices[3] = {{.node = cases[i].nodes[0]},
						      {.node = cases[i].nodes[1]},
						      {.node = cases[i].nodes[2]}};
		const struct placement_device *near =
			placement_device_near(devices, 3, cases[i].client);

		cr_assert_not_null(near, "case %zu", i);
		cr_expect_eq(near->node, cases[i].expected, "case %zu: %d", i, near->node);
	}
}

Test(placement_device, session_is_near_none_whose_node_is_unknown)
{
	const struct placement_device devices[2] = {{.node = -1}, {.node = -1}};

	cr_expect_null(placement_device_near(devices, 2, -1));
	cr_expect_null(placement_device_near(devices, 2, 0));
	cr_expect_null(placement_device_near(devices, 0, 0));
}

/* ---- texts ---- */

static void expect_words(const struct topology *topology, const char *cpus, const char *address,
			 const char *words)
{
	struct placement_config config = {.cpus = cpus};
	struct placement_device d = find(topology, cpus, address);
	struct placement *plan;
	char text[300] = "";
	FILE *out = fmemopen(text, sizeof text, "w");

	cr_assert_not_null(out);
	cr_assert_eq(placement_make(topology, &config, &plan), 0);
	placement_device_describe(&d, 2, plan, out);
	fclose(out);
	cr_expect_str_eq(text, words, "%s", text);
	placement_free(plan);
	placement_device_done(&d);
}

Test(placement_device, description_says_where_and_why)
{
	struct topology *topology = read_machine(TWO_NODES, NULL);

	expect_words(topology, NULL, ON_ONE,
		     "place of device 2: node 1, by its PCI address; its process on CPUs 8-15; "
		     "sessions that ask for device memory there, their pinned memory on node 1");
	expect_words(topology, "0-7", ON_ONE,
		     "place of device 2: node 1, by its PCI address; no core there may be used, "
		     "its process anywhere; sessions that ask for device memory elsewhere, no "
		     "reactor is there, their pinned memory on node 1");
	expect_words(topology, NULL, "",
		     "place of device 2: it is on no bus; its process and sessions anywhere");
	expect_words(topology, NULL, ANYWHERE,
		     "place of device 2: it is near to no node in particular; its process and "
		     "sessions anywhere");
	expect_words(topology, NULL, "0009:00:00.0",
		     "place of device 2: it has an address at which PCI shows no such device; its "
		     "process and sessions anywhere");
	topology->nodes[0].memory_allowed = topology->nodes[1].memory_allowed = false;
	expect_words(topology, NULL, ON_ONE,
		     "place of device 2: node 1, by its PCI address; its process on CPUs 8-15; "
		     "sessions that ask for device memory there, their pinned memory left to the "
		     "kernel");
	topology_free(topology);
}
