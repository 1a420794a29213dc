/* SPDX-License-Identifier: MIT */
/* machine.c - read what the system says about its cores and nodes, and our own cost */
#include "machine.h"

#include <fcntl.h>
#include <libproc2/stat.h>
#include <numa.h>
#include <time.h>

#include "read/runtime.h"
#include "statm.h"

/* The system counts in hundredths of a second, so a shorter time would say little. */
#define SYSTEM_LEAST_NS UINT64_C(400000000)

enum item { ITEM_CPU, ITEM_BUSY, ITEM_TOTAL, ITEM_NR };

static enum stat_item items[ITEM_NR] = {
	[ITEM_CPU] = STAT_TIC_ID,
	[ITEM_BUSY] = STAT_TIC_SUM_DELTA_BUSY,
	[ITEM_TOTAL] = STAT_TIC_SUM_DELTA_TOTAL,
};

static void read_cores(struct machine *m)
{
	struct stat_reaped *all =
		m->stat ? procps_stat_reap(m->stat, STAT_REAP_CPUS_ONLY, items, ITEM_NR) : NULL;

	for (unsigned i = 0; i < MACHINE_CPUS; i++)
		m->busy[i] = -1;
	for (int i = 0; all && i < all->cpus->total; i++) {
		struct stat_stack *one = all->cpus->stacks[i];
		int cpu = STAT_VAL(ITEM_CPU, s_int, one, m->stat);
		long busy = STAT_VAL(ITEM_BUSY, sl_int, one, m->stat);
		long total = STAT_VAL(ITEM_TOTAL, sl_int, one, m->stat);

		if (cpu >= 0 && cpu < MACHINE_CPUS && total > 0)
			m->busy[cpu] = 100.0 * (double)busy / (double)total;
	}
}

static void read_nodes(struct machine *m)
{
	for (int i = 0; i < m->nodes && i < MACHINE_NODES; i++) {
		long long left = -1;

		m->node[i].bytes = numa_node_size64(i, &left);
		m->node[i].free = left;
	}
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void read_own(struct machine *m)
{
	uint64_t now = runtime_now_ns(), used = cpu_ns();

	m->own_percent = m->read_ns && now > m->read_ns
				 ? 100.0 * (double)(used - m->own_ns) / (double)(now - m->read_ns)
				 : -1;
	m->read_ns = now;
	m->own_ns = used;
	(void)statm_read(m->statm, &m->own_bytes);
}

void machine_open(struct machine *m)
{
	*m = (struct machine){.nodes = numa_available() < 0 ? 0 : numa_max_node() + 1,
			      .statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)};
	for (int i = 0; i < MACHINE_NODES; i++)
		m->node[i].bytes = -1;
	if (procps_stat_new(&m->stat) < 0)
		m->stat = NULL;
}

void machine_read(struct machine *m)
{
	read_own(m);
	if (m->system_ns && m->read_ns - m->system_ns < SYSTEM_LEAST_NS)
		return;
	m->system_ns = m->read_ns;
	read_cores(m);
	read_nodes(m);
}

void machine_close(struct machine *m)
{
	if (m->stat)
		procps_stat_unref(&m->stat);
	statm_close(&m->statm);
}
