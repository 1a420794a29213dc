/* SPDX-License-Identifier: MIT */
/* test_placement.c - which cores are chosen on a machine, and which home a session gets. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "machine/placement.h"
#include "machine/topology.h"

#define TWO_NODES  "pack:2 [numa(memory=1GiB)] core:4 pu:2"
#define FOUR_NODES "pack:2 numa:2 core:4 pu:1"

enum { MAX_NODES = 8, MAX_REACTORS = 64, TEXT_BYTES = 2048 };

static struct topology *read_machine(const char *source, const char *allowed)
{
	struct topology *topology;

	cr_assert_eq(topology_read(source, allowed, &topology), 0, "%s", source);
	return topology;
}

static struct placement *make_plan(const struct topology *topology, uint32_t reactors,
				   const char *cpus)
{
	struct placement_config config = {.reactors = reactors, .cpus = cpus};
	struct placement *plan;

	cr_assert_eq(placement_make(topology, &config, &plan), 0);
	return plan;
}

static struct placement *plan_machine(const char *source, const char *allowed, uint32_t reactors)
{
	struct topology *topology = read_machine(source, allowed);
	struct placement *plan = make_plan(topology, reactors, NULL);

	topology_free(topology);
	return plan;
}

static uint32_t reactors_on_node(const struct placement *plan, uint32_t node)
{
	uint32_t count = 0, i;

	for (i = 0; i < plan->nr_reactors; i++)
		count += placement_reactor(plan, i)->node == node;
	return count;
}

struct choice {
	char source[48], allowed[16];
	uint32_t reactors;     /* configured */
	uint32_t cores;        /* expected */
	char reactor_cpus[48]; /* expected, by reactor number */
};

ParameterizedTestParameters(placement, machine_gets_these_reactors)
{
	static struct choice rows[] = {
		/* automatic: one reactor for every 4 cores of a node, the last cores first */
		{"pack:1 core:1 pu:1", "0-", 0, 1, "0"},
		{"pack:1 core:1 pu:2", "0-", 0, 1, "0"},
		{"pack:1 core:2 pu:1", "0-", 0, 2, "1"},
		{"pack:1 core:4 pu:1", "0-", 0, 4, "3"},
		{"pack:1 core:7 pu:1", "0-", 0, 7, "6"},
		{"pack:1 core:8 pu:1", "0-", 0, 8, "7 6"},
		{TWO_NODES, "0-", 0, 8, "6 14"},
		{FOUR_NODES, "0-", 0, 16, "3 7 11 15"},
		/* a cpuset */
		{TWO_NODES, "5", 0, 1, "5"},
		{TWO_NODES, "5,6", 0, 2, "6"},
		{TWO_NODES, "0-7", 0, 4, "6"},
		{TWO_NODES, "7-8", 0, 2, "7 8"},
		{TWO_NODES, "5", 7, 1, "5"},
		/* last-level caches take turns */
		{"pack:1 l3:2 core:4 pu:1", "0-", 0, 8, "7 3"},
		{"pack:1 l3:4 core:2 pu:1", "0-", 6, 8, "7 5 3 1 6 4"},
		{"pack:1 l2:2 core:2 pu:1", "0-", 2, 4, "3 1"},
		/* nodes take turns */
		{TWO_NODES, "0-", 1, 8, "6"},
		{TWO_NODES, "0-", 3, 8, "6 14 4"},
		{TWO_NODES, "0-1,8-15", 4, 5, "0 14 12 10"},
		{FOUR_NODES, "0-", 2, 16, "3 7"},
		{FOUR_NODES, "0-", 5, 16, "3 7 11 15 2"},
		/* never two on one core */
		{"pack:1 core:2 pu:1", "0-", 2, 2, "1 0"},
		{"pack:1 core:2 pu:2", "0-", 100, 2, "2 0"},
		{TWO_NODES, "0-", 4000000000, 8, "6 14 4 12 2 10 0 8"},
	};

	return cr_make_param_array(struct choice, rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(struct choice *row, placement, machine_gets_these_reactors)
{
	const char *allowed = strcmp(row->allowed, "0-") ? row->allowed : NULL;
	struct placement *plan = plan_machine(row->source, allowed, row->reactors);
	char cpus[sizeof(row->reactor_cpus)] = "";
	size_t length = 0;
	uint32_t i;

	for (i = 0; i < plan->nr_reactors; i++)
		length += (size_t)snprintf(cpus + length, sizeof(cpus) - length, i ? " %u" : "%u",
					   placement_reactor(plan, i)->cpu);
	cr_expect_str_eq(cpus, row->reactor_cpus, "%s, %s, %u: %s", row->source, row->allowed,
			 row->reactors, cpus);
	cr_expect_eq(plan->nr_cores, row->cores, "%s: %u", row->source, plan->nr_cores);
	placement_free(plan);
}

Test(placement, every_allowed_core_has_one_worker_on_its_first_allowed_pu)
{
	static const uint32_t expected[] = {1, 2, 4, 9};
	struct placement *plan = plan_machine(TWO_NODES, "1-4,9", 0);
	uint32_t i;

	cr_assert_eq(plan->nr_cores, 4);
	for (i = 0; i < 4; i++)
		cr_expect_eq(plan->cores[i].cpu, expected[i]);
	placement_free(plan);
}

Test(placement, core_and_reactor_know_each_other)
{
	struct placement *plan = plan_machine(FOUR_NODES, NULL, 6);
	uint32_t with_reactor = 0, i;

	for (i = 0; i < plan->nr_cores; i++) {
		int32_t reactor = plan->cores[i].reactor;

		if (reactor < 0)
			continue;
		with_reactor++;
		cr_expect_eq(plan->reactors[reactor], i);
	}
	cr_expect_eq(with_reactor, 6);
	placement_free(plan);
}

Test(placement, only_core_has_the_reactor_and_the_worker)
{
	struct placement *plan = plan_machine(TWO_NODES, "11", 0);

	cr_expect_eq(plan->nr_cores, 1);
	cr_expect_eq(plan->nr_reactors, 1);
	cr_expect_eq(plan->cores[0].cpu, 11);
	cr_expect_eq(plan->cores[0].node, 1);
	cr_expect_eq(plan->cores[0].reactor, 0);
	placement_free(plan);
}

Test(placement, configured_cpus_narrow_the_allowed_ones)
{
	struct topology *topology = read_machine(TWO_NODES, "0-11");
	struct placement *plan = make_plan(topology, 0, "10-40");

	cr_expect_eq(plan->nr_cores, 1);
	cr_expect_eq(plan->cores[0].cpu, 10);
	placement_free(plan);
	topology_free(topology);
}

Test(placement, configured_cpus_of_which_none_is_allowed_are_refused)
{
	struct topology *topology = read_machine(TWO_NODES, "0-7");
	struct placement_config config = {.cpus = "8-15"};
	struct placement *plan = NULL;

	cr_expect_eq(placement_make(topology, &config, &plan), -ENODEV);
	cr_expect_null(plan);
	topology_free(topology);
}

Test(placement, configured_cpus_that_are_no_list_are_refused)
{
	struct topology *topology = read_machine(TWO_NODES, NULL);
	struct placement_config config = {.cpus = "0-3;8"};
	struct placement *plan = NULL;

	cr_expect_eq(placement_make(topology, &config, &plan), -EINVAL);
	cr_expect_null(plan);
	topology_free(topology);
}

Test(placement, machine_without_an_allowed_core_is_refused)
{
	struct topology *topology = read_machine("pack:1 core:2 pu:1", "7");
	struct placement_config config = {0};
	struct placement *plan = NULL;

	cr_expect_eq(placement_make(topology, &config, &plan), -ENODEV);
	topology_free(topology);
}

Test(placement, memory_is_that_of_the_own_node)
{
	struct placement *plan = plan_machine(FOUR_NODES, NULL, 0);
	uint32_t i;

	for (i = 0; i < plan->nr_cores; i++)
		cr_expect_eq(plan->cores[i].memory_node, (int32_t)plan->cores[i].node);
	placement_free(plan);
}

Test(placement, node_without_memory_uses_the_nearest_nodes_memory)
{
	struct topology *topology = read_machine(FOUR_NODES, NULL);
	struct placement *plan;

	topology->nodes[3].memory_bytes = 0;
	topology->distance[3 * 4 + 0] = 31;
	topology->distance[3 * 4 + 1] = 21;
	topology->distance[3 * 4 + 2] = 16;
	topology->distance[2 * 4 + 3] = 99; /* the distance in the other direction does not count */
	plan = make_plan(topology, 0, NULL);
	cr_expect_eq(plan->nr_cores, 16, "its cores work all the same");
	cr_expect_eq(plan->cores[15].node, 3);
	cr_expect_eq(plan->cores[15].memory_node, 2);
	placement_free(plan);
	topology_free(topology);
}

Test(placement, node_whose_memory_is_forbidden_is_like_one_without)
{
	struct topology *topology = read_machine(TWO_NODES, NULL);
	struct placement *plan;

	topology->nodes[0].memory_allowed = false;
	plan = make_plan(topology, 0, NULL);
	cr_expect_eq(plan->cores[0].memory_node, 1);
	placement_free(plan);
	topology_free(topology);
}

Test(placement, memory_node_is_unknown_where_no_node_has_memory)
{
	struct topology *topology = read_machine("pack:1 core:2 pu:1", NULL);
	struct placement *plan;

	topology->nodes[0].memory_bytes = 0;
	plan = make_plan(topology, 0, NULL);
	cr_expect_eq(plan->cores[0].memory_node, -1);
	placement_free(plan);
	topology_free(topology);
}

Test(placement, node_without_cores_gets_no_reactor)
{
	struct placement *plan = plan_machine("[numa] pack:2 [numa] core:2 pu:1", NULL, 4);

	cr_expect_eq(plan->nr_reactors, 4);
	cr_expect_eq(reactors_on_node(plan, 0), 2);
	cr_expect_eq(reactors_on_node(plan, 1), 2);
	cr_expect_eq(reactors_on_node(plan, 2), 0);
	placement_free(plan);
}

Test(placement, nodes_are_the_kernels_numbers_also_where_these_have_holes)
{
	struct topology *topology = read_machine(TWO_NODES, NULL);
	struct placement *plan;
	static const uint64_t idle[MAX_REACTORS];
	uint32_t i;

	topology->nodes[1].node = 8;
	for (i = 4; i < 8; i++)
		topology->cores[i].node = 8;
	plan = make_plan(topology, 0, NULL);
	cr_expect_eq(placement_reactor(plan, 1)->node, 8);
	cr_expect_eq(placement_reactor(plan, 1)->memory_node, 8);
	cr_expect_eq(placement_home(plan, 8, idle), 1);
	placement_free(plan);
	topology_free(topology);
}

Test(placement, node_of_every_cpu_is_known_also_of_those_not_used)
{
	struct placement *plan = plan_machine(TWO_NODES, "8-9", 0);

	cr_expect_eq(plan->nr_cpus, 16);
	cr_expect_eq(placement_node(plan, 0), 0);
	cr_expect_eq(placement_node(plan, 7), 0);
	cr_expect_eq(placement_node(plan, 8), 1);
	cr_expect_eq(placement_node(plan, 15), 1);
	cr_expect_eq(placement_node(plan, 16), -1);
	cr_expect_eq(placement_node(plan, UINT32_MAX), -1);
	placement_free(plan);
}

Test(placement, nodes_with_memory_are_counted_allowed_or_not)
{
	struct topology *topology = read_machine(FOUR_NODES, NULL);
	struct placement *plan;

	topology->nodes[0].memory_bytes = 0;
	topology->nodes[1].memory_allowed = false;
	plan = make_plan(topology, 0, NULL);
	cr_expect_eq(plan->nr_memories, 3);
	placement_free(plan);
	topology_free(topology);
}

/* FOUR_NODES with 8 reactors: reactor i is on node i % 4. */
struct visit {
	int32_t node;
	uint64_t load[8];
	uint32_t expected;
};

ParameterizedTestParameters(placement, session_gets_this_home)
{
	static struct visit rows[] = {
		/* no session yet: the lowest reactor of the node, or of all */
		{0, {0}, 0},
		{2, {0}, 2},
		{-1, {0}, 0},
		/* the least load within the node, even if another node is idle */
		{2, {0, 0, 5, 0, 0, 0, 4, 0}, 6},
		{2, {0, 0, 5, 0, 0, 0, 5, 0}, 2},
		{2, {0, 0, 5, 0, 0, 0, 6, 0}, 2},
		/* an unknown node, or one without a reactor: the fewest of all */
		{-1, {3, 3, 3, 2, 3, 1, 3, 1}, 5},
		{4, {3, 3, 3, 2, 3, 1, 3, 1}, 5},
		{-1, {4294967295, 1, 1, 1, 1, 1, 1, 1}, 1},
	};

	return cr_make_param_array(struct visit, rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(struct visit *row, placement, session_gets_this_home)
{
	struct placement *plan = plan_machine(FOUR_NODES, NULL, 8);

	cr_assert_eq(plan->nr_reactors, 8);
	cr_expect_eq(placement_home(plan, row->node, row->load), row->expected);
	placement_free(plan);
}

/* The machine of the tests of the description: each node lacks something. */
static struct topology *read_lame_machine(void)
{
	static struct topology_device device = {"0000:17:00.0", 0x10de, 0x2330, 0x0302, 1};
	struct topology *topology =
		read_machine("[numa(memory=8GiB)] pack:4 [numa(memory=1GiB)] core:2 pu:2", "0-11");

	topology->nodes[1].memory_bytes = 0;
	topology->nr_devices = 1;
	*topology->devices = device;
	return topology;
}

Test(placement, description_says_what_was_found_and_chosen)
{
	struct topology *topology = read_lame_machine();
	struct placement_config config = {.reactors = 9, .cpus = "0-9"};
	struct placement *plan = make_plan(topology, config.reactors, config.cpus);
	char text[TEXT_BYTES];
	size_t length = placement_describe(plan, topology, &config, text, sizeof(text));

	cr_expect_eq(length, strlen(text));
	cr_expect_str_eq(text,
			 "a described machine: packages 4, nodes 5, cores 8, CPUs 16 (allowed 12)\n"
			 "node 0: 1.0 GiB; workers on CPUs 0,2; reactors on 0,2\n"
			 "node 1: no memory, takes that of node 0 (distances are unknown); "
			 "workers on CPUs 4,6; reactors on 4,6\n"
			 "node 2: 1.0 GiB; workers on CPUs 8; reactors on 8\n"
			 "node 3: 1.0 GiB; no core may be used\n"
			 "node 4: 8.0 GiB; no cores: not used\n"
			 "device 0000:17:00.0 (10de:2330): node 1\n"
			 "reactors: 5 of the 9 configured: a core has one at most\n"
			 "workers: 5, one on each core that may be used (configured: CPUs 0-9)\n",
			 "%s", text);
	placement_free(plan);
	topology_free(topology);
}

Test(placement, description_is_cut_where_the_buffer_ends_and_tells_its_full_length)
{
	struct topology *topology = read_lame_machine();
	struct placement_config config = {0};
	struct placement *plan = make_plan(topology, 0, NULL);
	char whole[TEXT_BYTES], cut[TEXT_BYTES];
	size_t length = placement_describe(plan, topology, &config, whole, sizeof(whole)), size;

	cr_expect_eq(placement_describe(plan, topology, &config, NULL, 0), length);
	for (size = 1; size <= length + 1; size++) {
		memset(cut, 'x', sizeof(cut));
		cr_assert_eq(placement_describe(plan, topology, &config, cut, size), length);
		cr_assert_eq(strlen(cut), size - 1);
		cr_assert_eq(memcmp(cut, whole, size - 1), 0);
		cr_assert_eq(cut[size], 'x');
	}
	placement_free(plan);
	topology_free(topology);
}
