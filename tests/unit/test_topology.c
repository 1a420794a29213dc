/* SPDX-License-Identifier: MIT */
/* test_topology.c - read descriptions of machines, and this one. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "machine/topology.h"

#define TWO_NODES "pack:2 [numa] l3:1 l2:4 core:1 pu:2"

/*
 * A machine that no synthetic string can describe: two packages of two cores.  Node 1 has no memory
 * and node 2 no cores; the cpuset holds CPU 1 and the memory of nodes 0 and 2.  One 3D device is at
 * package 1, one display at no package; a network card is at package 1.  Its quotes are single ones
 * only here.
 */
static const char odd_machine[] =
	"<?xml version='1.0' encoding='UTF-8'?>\n"
	"<!DOCTYPE topology SYSTEM 'hwloc2.dtd'>\n"
	"<topology version='2.0'>\n"
	"<object type='Machine' os_index='0' cpuset='0xf' complete_cpuset='0xf'"
	" allowed_cpuset='0x2'"
	" nodeset='0x7' complete_nodeset='0x7' allowed_nodeset='0x5'>\n"
	"<object type='NUMANode' os_index='2' cpuset='0xf' complete_cpuset='0xf' nodeset='0x4'"
	" complete_nodeset='0x4' local_memory='4096'/>\n"
	"<object type='Package' os_index='0' cpuset='0x3' complete_cpuset='0x3' nodeset='0x5'"
	" complete_nodeset='0x5'>\n"
	"<object type='NUMANode' os_index='0' cpuset='0x3' complete_cpuset='0x3' nodeset='0x1'"
	" complete_nodeset='0x1' local_memory='8192'/>\n"
	"<object type='PU' os_index='0' cpuset='0x1' complete_cpuset='0x1' nodeset='0x5'"
	" complete_nodeset='0x5'/>\n"
	"<object type='PU' os_index='1' cpuset='0x2' complete_cpuset='0x2' nodeset='0x5'"
	" complete_nodeset='0x5'/>\n"
	"</object>\n"
	"<object type='Package' os_index='1' cpuset='0xc' complete_cpuset='0xc' nodeset='0x6'"
	" complete_nodeset='0x6'>\n"
	"<object type='NUMANode' os_index='1' cpuset='0xc' complete_cpuset='0xc' nodeset='0x2'"
	" complete_nodeset='0x2' local_memory='0'/>\n"
	"<object type='PU' os_index='2' cpuset='0x4' complete_cpuset='0x4' nodeset='0x6'"
	" complete_nodeset='0x6'/>\n"
	"<object type='PU' os_index='3' cpuset='0x8' complete_cpuset='0x8' nodeset='0x6'"
	" complete_nodeset='0x6'/>\n"
	"<object type='PCIDev' pci_busid='0000:17:00.0' pci_link_speed='0'"
	" pci_type='0302 [10de:2330] [10de:16c1] a1'/>\n"
	"<object type='PCIDev' pci_busid='0000:18:00.0' pci_link_speed='0'"
	" pci_type='0200 [15b3:1021] [15b3:0041] 00'/>\n"
	"</object>\n"
	"<object type='PCIDev' pci_busid='0001:02:00.1' pci_link_speed='0'"
	" pci_type='0300 [1a03:2000] [1a03:2000] 41'/>\n"
	"</object>\n"
	"<distances2 type='NUMANode' nbobjs='3' kind='5' name='NUMALatency' indexing='os'>\n"
	"<indexes length='6'>0 1 2 </indexes>\n"
	"<u64values length='27'>10 21 17 21 10 28 17 28 10 </u64values>\n"
	"</distances2>\n"
	"</topology>\n";

static struct topology *read_machine(const char *source, const char *allowed)
{
	struct topology *topology;
	int rc = topology_read(source, allowed, &topology);

	cr_assert_eq(rc, 0, "%s: %s", source, strerror(-rc));
	return topology;
}

static struct topology *read_odd_machine(void)
{
	char path[] = "/tmp/test_topology.XXXXXX.xml";
	int fd = mkstemps(path, (int)strlen(".xml"));
	struct topology *topology;
	const char *at;
	FILE *file;

	cr_assert_geq(fd, 0);
	file = fdopen(fd, "w");
	cr_assert_not_null(file);
	for (at = odd_machine; *at; at++)
		fputc(*at == '\'' ? '"' : *at, file);
	cr_assert_eq(fclose(file), 0);
	topology = read_machine(path, NULL);
	unlink(path);
	return topology;
}

static uint32_t count_allowed(const struct topology *topology)
{
	uint32_t count = 0, i;

	for (i = 0; i < topology->nr_pus; i++)
		count += topology->pus[i].allowed;
	return count;
}

struct shape {
	char source[64];
	uint32_t packages, nodes, cores, pus;
};

ParameterizedTestParameters(topology, described_machine_has_what_was_described)
{
	static struct shape rows[] = {
		{"pack:1 core:1 pu:1", 1, 1, 1, 1},
		{"pack:1 core:2 pu:1", 1, 1, 2, 2},
		{"pack:2 [numa] core:4 pu:2", 2, 2, 8, 16},
		{"pack:2 numa:2 core:3 pu:1", 2, 4, 12, 12},
		{"numa:4 core:64 pu:2", 0, 4, 256, 512},
		{"pu:3", 0, 1, 3, 3}, /* cores are unknown: each PU counts as one */
	};

	return cr_make_param_array(struct shape, rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(struct shape *row, topology, described_machine_has_what_was_described)
{
	struct topology *topology = read_machine(row->source, NULL);

	cr_expect_eq(topology->nr_packages, row->packages);
	cr_expect_eq(topology->nr_nodes, row->nodes);
	cr_expect_eq(topology->nr_cores, row->cores);
	cr_expect_eq(topology->nr_pus, row->pus);
	cr_expect_eq(count_allowed(topology), row->pus);
	cr_expect_eq(topology->nr_devices, 0);
	cr_expect_not(topology->this_machine);
	topology_free(topology);
}

Test(topology, each_core_has_its_node_package_caches_and_pus)
{
	struct topology *topology = read_machine(TWO_NODES, NULL);
	uint32_t i;

	cr_assert_eq(topology->nr_cores, 8);
	cr_expect(topology->knows_caches);
	for (i = 0; i < 8; i++) {
		cr_expect_eq(topology->cores[i].node, i / 4);
		cr_expect_eq(topology->cores[i].package, i / 4);
		cr_expect_eq(topology->cores[i].l3, (int32_t)i / 4);
		cr_expect_eq(topology->cores[i].l2, (int32_t)i);
	}
	for (i = 0; i < 16; i++) {
		cr_expect_eq(topology->pus[i].cpu, i);
		cr_expect_eq(topology->pus[i].core, i / 2);
	}
	topology_free(topology);
}

Test(topology, unknown_caches_are_said_to_be_unknown)
{
	struct topology *topology = read_machine("pack:1 core:2 pu:1", NULL);

	cr_expect_not(topology->knows_caches);
	cr_expect_eq(topology->cores[1].l2, TOPOLOGY_UNKNOWN);
	cr_expect_eq(topology->cores[1].l3, TOPOLOGY_UNKNOWN);
	topology_free(topology);
}

Test(topology, unknown_distances_are_equal_for_all_other_nodes)
{
	struct topology *topology = read_machine("pack:3 [numa] core:1 pu:1", NULL);
	uint32_t i;

	cr_expect_not(topology->knows_distances);
	for (i = 0; i < 9; i++)
		cr_expect_eq(topology->distance[i], i % 4 == 0 ? 10 : 20);
	topology_free(topology);
}

Test(topology, added_memory_above_the_cores_is_a_node_without_cores)
{
	struct topology *topology = read_machine("[numa] pack:2 [numa] core:2 pu:1", NULL);
	uint32_t with_cores[3] = {0}, i;

	cr_assert_eq(topology->nr_nodes, 3);
	for (i = 0; i < topology->nr_cores; i++)
		with_cores[topology->cores[i].node]++;
	cr_expect_eq(with_cores[0] + with_cores[1], 4);
	cr_expect_eq(with_cores[2], 0);
	topology_free(topology);
}

Test(topology, callers_list_narrows_what_is_allowed)
{
	struct topology *topology = read_machine(TWO_NODES, "3,14-40");

	cr_expect_eq(count_allowed(topology), 3);
	cr_expect(topology->pus[3].allowed && topology->pus[14].allowed &&
		  topology->pus[15].allowed);
	cr_expect_eq(topology->nr_pus, 16, "what is not allowed is still seen");
	topology_free(topology);
}

Test(topology, file_tells_nodes_without_memory_and_without_cores)
{
	struct topology *topology = read_odd_machine();
	uint32_t i;

	cr_assert_eq(topology->nr_nodes, 3);
	cr_expect_eq(topology->nodes[0].memory_bytes, 8192);
	cr_expect_eq(topology->nodes[1].memory_bytes, 0);
	cr_expect_eq(topology->nodes[2].memory_bytes, 4096);
	for (i = 0; i < topology->nr_cores; i++)
		cr_expect_eq(topology->cores[i].node, i / 2, "core %u", i);
	topology_free(topology);
}

Test(topology, file_tells_the_cpuset_of_its_machine)
{
	struct topology *topology = read_odd_machine();

	cr_expect_eq(count_allowed(topology), 1);
	cr_expect(topology->pus[1].allowed);
	cr_expect(topology->nodes[0].memory_allowed && topology->nodes[2].memory_allowed);
	cr_expect_not(topology->nodes[1].memory_allowed);
	topology_free(topology);
}

Test(topology, file_tells_distances)
{
	static const uint32_t expected[9] = {10, 21, 17, 21, 10, 28, 17, 28, 10};
	struct topology *topology = read_odd_machine();

	cr_expect(topology->knows_distances);
	cr_expect_arr_eq(topology->distance, expected, sizeof(expected));
	topology_free(topology);
}

Test(topology, only_displays_and_coprocessors_are_devices)
{
	struct topology *topology = read_odd_machine();

	cr_assert_eq(topology->nr_devices, 2);
	cr_expect_str_eq(topology->devices[0].address, "0000:17:00.0");
	cr_expect_eq(topology->devices[0].vendor, 0x10de);
	cr_expect_eq(topology->devices[0].device, 0x2330);
	cr_expect_eq(topology->devices[0].node, 1);
	cr_expect_str_eq(topology->devices[1].address, "0001:02:00.1");
	cr_expect_eq(topology->devices[1].node, TOPOLOGY_UNKNOWN, "near to both packages");
	topology_free(topology);
}

ParameterizedTestParameters(topology, bad_source_is_refused)
{
	static char rows[][32] = {"", "pack:", "cheese:2", "pack:2 core"};

	return cr_make_param_array(char[32], rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(char *source, topology, bad_source_is_refused)
{
	struct topology *topology = NULL;

	cr_expect_eq(topology_read(source, NULL, &topology), -EINVAL, "'%s'", source);
	cr_expect_null(topology);
}

Test(topology, missing_file_is_told_from_a_bad_one)
{
	struct topology *topology = NULL;

	cr_expect_eq(topology_read("/nonexistent/m.xml", NULL, &topology), -ENOENT);
	cr_expect_eq(topology_read("/dev/null/m.xml", NULL, &topology), -ENOTDIR);
	cr_expect_null(topology);
}

struct list {
	char text[32];
	uint32_t cpu;
	int expected;
};

ParameterizedTestParameters(topology, list_holds_its_cpus_and_bad_lists_are_refused)
{
	static struct list rows[] = {
		{"0", 0, 1},
		{"0", 1, 0},
		{"0-3,8", 3, 1},
		{"0-3,8", 4, 0},
		{"0-3,8", 8, 1},
		{"8,0-3", 2, 1},
		{"5-5", 5, 1},
		{"2147483647", 2147483647, 1},
		{"", 0, -EINVAL},
		{",", 0, -EINVAL},
		{"0,", 0, -EINVAL},
		{"0,,1", 0, -EINVAL},
		{"3-1", 2, -EINVAL},
		{"1-", 1, -EINVAL},
		{"-1", 1, -EINVAL},
		{"1--2", 1, -EINVAL},
		{"+1", 1, -EINVAL},
		{" 1", 1, -EINVAL},
		{"1 ", 1, -EINVAL},
		{"0x1", 1, -EINVAL},
		{"all", 0, -EINVAL},
		{"2147483648", 0, -EINVAL},
		{"0-99999999999999999999", 0, -EINVAL},
	};

	return cr_make_param_array(struct list, rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(struct list *row, topology, list_holds_its_cpus_and_bad_lists_are_refused)
{
	cr_expect_eq(topology_list_has(row->text, row->cpu), row->expected, "'%s'", row->text);
}

Test(topology, bad_list_is_refused_by_reading)
{
	struct topology *topology = NULL;

	cr_expect_eq(topology_read(TWO_NODES, "0-", &topology), -EINVAL);
	cr_expect_null(topology);
}

Test(topology, this_machine_obeys_the_affinity_mask)
{
	struct topology *topology;
	cpu_set_t mask;
	uint32_t i;
	int cpu = CPU_SETSIZE - 1;

	/* The highest CPU, so that a topology that always allows the first one fails. */
	cr_assert_eq(sched_getaffinity(0, sizeof(mask), &mask), 0);
	while (!CPU_ISSET(cpu, &mask))
		cpu--;
	CPU_ZERO(&mask);
	CPU_SET(cpu, &mask);
	cr_assert_eq(sched_setaffinity(0, sizeof(mask), &mask), 0);

	topology = read_machine(NULL, NULL);
	cr_expect(topology->this_machine);
	cr_expect_eq(count_allowed(topology), 1);
	for (i = 0; i < topology->nr_pus; i++)
		cr_expect_eq(topology->pus[i].allowed, topology->pus[i].cpu == (uint32_t)cpu);
	topology_free(topology);
}
