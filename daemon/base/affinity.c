/* SPDX-License-Identifier: MIT */
/* affinity.c - sets where threads run and where memory lies */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <numaif.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "affinity.h"

/* The longest slice that the kernel has: any thread that wakes on a worker's core preempts it. */
#define LONG_SLICE_NS 100000000u

enum {
	MAX_NODES = 1024,   /* the most that any kernel can be built for */
	MAX_CPUS = 1 << 16, /* keeps a mask within 8 KiB; kernels go to 8192 */
	PAGES_PER_CALL = 256,
	BITS_PER_LONG = CHAR_BIT * sizeof(long),
};

int affinity_pin_thread(uint32_t cpu)
{
	size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set;
	int rc;

	if (cpu >= MAX_CPUS)
		return -EINVAL;
	set = CPU_ALLOC(cpu + 1);
	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(bytes, set);
	CPU_SET_S(cpu, bytes, set);
	rc = sched_setaffinity(0, bytes, set) ? -errno : 0;
	CPU_FREE(set);
	return rc;
}

/* Returns how many threads there are, or -errno. */
static int bind_threads(DIR *threads, const cpu_set_t *set, size_t bytes)
{
	const struct dirent *entry;
	int count = 0;

	rewinddir(threads);
	while ((entry = readdir(threads))) {
		pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);

		if (thread <= 0) /* "." */
			continue;
		if (sched_setaffinity(thread, bytes, set) && errno != ESRCH)
			return -errno;
		count++;
	}
	return count;
}

int affinity_bind_process(pid_t pid, const uint32_t *cpus, uint32_t count)
{
	size_t bytes = CPU_ALLOC_SIZE(cpus[count - 1] + 1);
	cpu_set_t *set = CPU_ALLOC(cpus[count - 1] + 1);
	char path[32];
	DIR *threads;
	int before = 0, rc;

	if (!set)
		return -ENOMEM;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	threads = opendir(path);
	if (!threads) {
		rc = errno == ENOENT ? -ESRCH : -errno;
		CPU_FREE(set);
		return rc;
	}
	CPU_ZERO_S(bytes, set);
	for (uint32_t i = 0; i < count; i++)
		CPU_SET_S(cpus[i], bytes, set);
	/* A thread may have made another one just before its turn: repeat until none is new. */
	while ((rc = bind_threads(threads, set, bytes)) > before)
		before = rc;
	closedir(threads);
	CPU_FREE(set);
	return rc < 0 ? rc : 0;
}

int affinity_set_nice(int nice)
{
	/* POSIX says that 0 is the process; Linux keeps the nice value by thread. */
	return setpriority(PRIO_PROCESS, 0, nice) ? -errno : 0;
}

/* The kernel's struct sched_attr; its header cannot stand beside glibc's <sched.h>. */
struct scheduling {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime; /* for SCHED_OTHER: the slice */
	uint64_t deadline;
	uint64_t period;
	uint32_t util_min, util_max;
};

int affinity_set_slice(uint64_t ns)
{
	struct scheduling attr = {.size = sizeof attr};

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof attr, 0))
		return -errno;
	attr.runtime = ns;
	return syscall(SYS_sched_setattr, 0, &attr, 0) ? -errno : 0;
}

void affinity_set_long_slice(void)
{
	(void)affinity_set_slice(LONG_SLICE_NS); /* without effect on older kernels */
}

int affinity_give_way(int nice)
{
	affinity_set_long_slice();
	return affinity_set_nice(nice);
}

int affinity_prefer_node(void *start, size_t bytes, uint32_t node)
{
	unsigned long nodes[MAX_NODES / BITS_PER_LONG] = {0};

	if (node >= MAX_NODES)
		return -EINVAL;
	nodes[node / BITS_PER_LONG] = 1ul << node % BITS_PER_LONG;
	/* The kernel reads one bit less than it is told. */
	return mbind(start, bytes, MPOL_PREFERRED, nodes, MAX_NODES + 1, MPOL_MF_MOVE) ? -errno : 0;
}

/* Finds where up to PAGES_PER_CALL pages from `start` on are, or what is wrong with each. */
static int ask_pages(char *start, size_t bytes, int status[PAGES_PER_CALL])
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *pages[PAGES_PER_CALL];
	unsigned long nr = 0;

	for (; nr < PAGES_PER_CALL && nr * page_bytes < bytes; nr++)
		pages[nr] = start + nr * page_bytes;
	/* Without target nodes nothing is moved; the call reports where the pages are. */
	return move_pages(0, nr, pages, NULL, status, 0) < 0 ? -errno : (int)nr;
}

int affinity_count_pages(void *start, size_t bytes, uint32_t node, size_t *ret_present,
			 size_t *ret_on_node)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), present = 0, on_node = 0;
	int status[PAGES_PER_CALL];

	for (size_t done = 0; done < bytes; done += PAGES_PER_CALL * page_bytes) {
		int nr = ask_pages((char *)start + done, bytes - done, status);

		if (nr < 0)
			return nr;
		for (int i = 0; i < nr; i++) {
			present += status[i] >= 0;
			on_node += status[i] == (int)node;
		}
	}
	*ret_present = present;
	*ret_on_node = on_node;
	return 0;
}
