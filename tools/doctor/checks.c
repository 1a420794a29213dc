/* SPDX-License-Identifier: MIT */
/* checks.c - the table of checks, and functions that checks share */
#include "checks.h"

#include <stdio.h>
#include <string.h>

#include "tree.h"

const struct check checks[] = {
	{"quoitd", "daemon", check_quoitd, "whether a quoitd runs and answers"},
	{"features", "daemon", check_features,
	 "features of the kernel that quoitd uses, each tried"},
	{"devices", "daemon", check_devices, "devices that a running quoitd has lost or left out"},
	{"cgroup-version", "cgroup", check_cgroup, "which control groups there are"},
	{"cgroup-memory", "cgroup", check_cgroup_memory, "how much memory control groups allow"},
	{"cgroup-cpu", "cgroup", check_cgroup_cpu, "how much CPU time control groups allow"},
	{"cpuset", "cpu", check_cpuset, "CPUs and nodes that may be used"},
	{"isolated", "cpu", check_isolated, "CPUs that are kept from other programs"},
	{"governor", "cpu", check_governor, "what decides on the CPUs' clocks"},
	{"idle-states", "cpu", check_idle, "how deep idle CPUs sleep"},
	{"virtual", "cpu", check_virtual, "a hypervisor, and the time that it took"},
	{"clock", "cpu", check_clock, "clock source of the kernel"},
	{"memlock", "memory", check_memlock, "how much memory may be locked"},
	{"huge-pages", "memory", check_huge_pages, "memory that is set aside as huge pages"},
	{"shmem", "memory", check_shmem, "transparent huge pages for shared memory"},
	{"numa-balancing", "memory", check_balancing,
	 "whether the kernel moves memory between nodes"},
	{"file-size", "limits", check_file_size, "how large a file may be"},
	{"addresses", "limits", check_addresses, "how much address space there may be"},
	{"descriptors", "limits", check_descriptors, "how many files may be open"},
	{"threads", "limits", check_threads, "how many threads there may be"},
	{"mappings", "limits", check_mappings, "how many mappings a process may have"},
	{"kernel-version", "kernel", check_kernel, "what the version of the kernel lacks"},
	{"io_uring", "kernel", check_io_uring, "whether quoitd may use io_uring"},
	{"driver", "nvidia", check_driver, "GPUs, and the driver that is loaded"},
	{"device-files", "nvidia", check_device_files, "whether quoitd may open the GPUs' files"},
	{"link", "nvidia", check_link, "lanes to each GPU"},
	{"mps", "nvidia", check_mps, "whether MPS runs, which shares a GPU between processes"},
	{"ring-hop", CHECKS_MEASURE, check_hop, "one way through a ring, between cores"},
	{"wake-up", CHECKS_MEASURE, check_wake, "from a futex call until the sleeper runs"},
	{"bandwidth", CHECKS_MEASURE, check_bandwidth, "memory, from each node to each"},
	{"device-speed", CHECKS_MEASURE, check_device, "a small job on a device, and copies"},
};

const unsigned checks_count = sizeof checks / sizeof checks[0];

/* ---- shared functions ---- */

static uint64_t memory_of(int root)
{
	unsigned long long kilobytes;
	char text[4096];
	const char *field;

	if (tree_read(root, text, sizeof text, "proc/meminfo") < 0)
		return 0;
	field = tree_field(text, "MemTotal:");
	return field && sscanf(field, "%llu", &kilobytes) == 1 ? kilobytes << 10 : 0;
}

/* The first CPU's flags are in the first few lines. */
static bool has_hypervisor(int root)
{
	char text[16384];
	const char *flags = NULL, *word;

	if (tree_read(root, text, sizeof text, "proc/cpuinfo") > 0)
		flags = tree_field(text, "flags");
	word = flags ? strstr(flags, " hypervisor") : NULL;
	return word && strchr(flags, '\n') > word;
}

static void read_nodes(struct examination *e)
{
	struct judge_cpus *c = &e->cpus;

	if (!tree_numbers(e->root, &e->nodes, "sys/devices/system/node/online"))
		return;
	if (!tree_numbers(e->root, &c->memories, "sys/devices/system/node/has_memory"))
		c->memories = e->nodes;
	for (int i = numbers_next(&e->nodes, 0); i >= 0;
	     i = numbers_next(&e->nodes, (unsigned)i + 1)) {
		struct numbers cpus;

		if (!tree_numbers(e->root, &cpus, "sys/devices/system/node/node%d/cpulist", i))
			continue;
		cpus = numbers_both(&cpus, &c->allowed);
		if (numbers_count(&cpus) && numbers_has(&c->memories, (unsigned)i))
			numbers_put(&c->memories_wanted, (unsigned)i);
	}
}

static void read_cpus(struct examination *e)
{
	struct judge_cpus *c = &e->cpus;

	c->allowed = e->subject.cpus;
	if (!tree_numbers(e->root, &c->online, "sys/devices/system/cpu/online"))
		c->online = c->allowed;
	c->allowed = numbers_both(&c->allowed, &c->online);
	(void)tree_numbers(e->root, &c->isolated, "sys/devices/system/cpu/isolated");
	read_nodes(e);
	c->memories_allowed = e->subject.has_memories ? e->subject.memories : c->memories;
}

void examination_read(struct examination *e, const char *socket)
{
	if (e->live)
		running_look(socket, &e->running);
	subject_read(e->root, e->running.pid, &e->subject);
	cgroup_read(e->root, e->subject.directory, &e->cgroup);
	e->machine_bytes = memory_of(e->root);
	e->is_virtual = has_hypervisor(e->root);
	read_cpus(e);
}

void examination_run(struct examination *e, const struct check *check)
{
	e->check = check->name;
	check->run(e);
}

struct finding *examination_add(struct examination *e)
{
	return findings_add(&e->findings, e->check);
}
