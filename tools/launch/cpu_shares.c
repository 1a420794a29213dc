/* SPDX-License-Identifier: MIT */
/* cpu_shares.c - divide the CPUs that this process may use between several processes */
#include "cpu_shares.h"

#include <errno.h>
#include <numa.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_CPUS 65536u /* more than a kernel can have */

/* ---- look up ---- */

/* A CPU whose core is not known counts as a core of its own. */
static unsigned core_of(unsigned cpu)
{
	char path[96];
	unsigned core = cpu;
	FILE *file;

	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list",
		 cpu);
	file = fopen(path, "re");
	if (!file)
		return cpu;
	if (fscanf(file, "%u", &core) != 1)
		core = cpu;
	fclose(file);
	return core;
}

static int take(const cpu_set_t *set, size_t bytes, struct cpu_shares *ret)
{
	const bool nodes = numa_available() >= 0;

	*ret = (struct cpu_shares){
		.list = calloc((size_t)CPU_COUNT_S(bytes, set), sizeof *ret->list)};
	if (!ret->list)
		return -ENOMEM;
	for (unsigned cpu = 0; cpu < MOST_CPUS; cpu++)
		if (CPU_ISSET_S(cpu, bytes, set))
			ret->list[ret->count++] =
				(struct cpu_place){.node = nodes ? numa_node_of_cpu((int)cpu) : -1,
						   .core = core_of(cpu),
						   .cpu = cpu};
	cpu_shares_sort(ret);
	return 0;
}

int cpu_shares_read(struct cpu_shares *ret)
{
	const size_t bytes = CPU_ALLOC_SIZE(MOST_CPUS);
	cpu_set_t *set = CPU_ALLOC(MOST_CPUS);
	int err;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(bytes, set);
	err = sched_getaffinity(0, bytes, set) < 0 ? -errno : take(set, bytes, ret);
	CPU_FREE(set);
	return err;
}

void cpu_shares_free(struct cpu_shares *s)
{
	free(s->list);
	*s = (struct cpu_shares){0};
}

/* ---- divide ---- */

static int compare(const void *a, const void *b)
{
	const struct cpu_place *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->core != y->core)
		return x->core < y->core ? -1 : 1;
	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

void cpu_shares_sort(struct cpu_shares *s)
{
	qsort(s->list, s->count, sizeof *s->list, compare);
}

static bool begins_core(const struct cpu_shares *s, size_t i)
{
	return !i || s->list[i].core != s->list[i - 1].core;
}

static size_t count_cores(const struct cpu_shares *s)
{
	size_t cores = 0;

	for (size_t i = 0; i < s->count; i++)
		cores += begins_core(s, i);
	return cores;
}

/* The first place of this core, counted from 0; the number of places: there is no such core. */
static size_t place_of_core(const struct cpu_shares *s, size_t core)
{
	size_t i = 0;

	for (; i < s->count; i++)
		if (begins_core(s, i) && !core--)
			break;
	return i;
}

void cpu_shares_of(const struct cpu_shares *s, unsigned number, unsigned processes,
		   size_t *ret_first, size_t *ret_end)
{
	const size_t cores = count_cores(s);

	if (cores >= processes) {
		*ret_first = place_of_core(s, number * cores / processes);
		*ret_end = place_of_core(s, (number + 1) * cores / processes);
		return;
	}
	*ret_first = number * s->count / processes;
	*ret_end = (number + 1) * s->count / processes;
	if (*ret_end == *ret_first)
		++*ret_end;
}

int cpu_shares_pin(const struct cpu_shares *s, unsigned number, unsigned processes)
{
	const size_t bytes = CPU_ALLOC_SIZE(MOST_CPUS);
	cpu_set_t *set = CPU_ALLOC(MOST_CPUS);
	size_t first, end;
	int err;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(bytes, set);
	cpu_shares_of(s, number, processes, &first, &end);
	for (size_t i = first; i < end; i++)
		CPU_SET_S(s->list[i].cpu, bytes, set);
	err = sched_setaffinity(0, bytes, set) < 0 ? -errno : 0;
	CPU_FREE(set);
	return err;
}
