/* SPDX-License-Identifier: MIT */
/* measure_memory.c - measure how fast a core reads a node's memory */
#include <errno.h>
#include <numa.h>
#include <numaif.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/bench.h"
#include "measure.h"

/* More than a core's last-level cache, and little enough to allocate for a moment. */
#define MOST_BYTES  (UINT64_C(256) << 20)
#define LEAST_BYTES (UINT64_C(32) << 20)
#define PART        4 /* at most this part of the free memory is used */
#define READ_S      0.1
#define MOST_NODES  1024

static uint64_t free_bytes(unsigned node)
{
	long long n = 0;

	if (numa_available() < 0 || numa_node_size64((int)node, &n) < 0 || n < 0)
		return 0;
	return (uint64_t)n;
}

static int bind_to(void *map, size_t bytes, unsigned node)
{
	unsigned long nodes[MOST_NODES / (8 * sizeof(long))] = {0};

	if (node >= MOST_NODES)
		return -EINVAL;
	nodes[node / (8 * sizeof(long))] = 1ul << node % (8 * sizeof(long));
	return mbind(map, bytes, MPOL_BIND, nodes, MOST_NODES + 1, 0) < 0 ? -errno : 0;
}

int measure_memory_open(struct measure_memory *m, unsigned node, uint64_t most)
{
	uint64_t bytes = free_bytes(node) / PART;
	int err;

	*m = (struct measure_memory){.map = MAP_FAILED};
	if (bytes > most)
		bytes = most;
	if (bytes < LEAST_BYTES)
		return -ENOMEM;
	m->bytes = bytes < MOST_BYTES ? bytes & ~(uint64_t)0x1fffff : MOST_BYTES;
	m->map = mmap(NULL, m->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m->map == MAP_FAILED)
		return -errno;
	(void)madvise(m->map, m->bytes, MADV_HUGEPAGE);
	err = bind_to(m->map, m->bytes, node);
	if (err)
		measure_memory_close(m);
	else
		memset(m->map, 1, m->bytes);
	return err;
}

void measure_memory_close(struct measure_memory *m)
{
	if (m->map != MAP_FAILED)
		munmap(m->map, m->bytes);
	m->map = MAP_FAILED;
}

/* ---- reading ---- */

struct reading {
	const uint64_t *words;
	size_t count;
	uint64_t sum; /* keeps the compiler from leaving the reads out */
	double gb_s;
};

/* Eight sums: a single one would wait for its own addition. */
static uint64_t sum_of(const uint64_t *words, size_t count)
{
	uint64_t sum[8] = {0};

	for (size_t i = 0; i + 8 <= count; i += 8)
		for (unsigned k = 0; k < 8; k++)
			sum[k] += words[i + k];
	return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

/* The fastest pass counts: other programs may slow a pass down. */
static void read_passes(void *arg)
{
	struct reading *r = arg;
	const double start = bench_now();
	double before, now = start;

	do {
		double gb_s;

		before = now;
		r->sum += sum_of(r->words, r->count);
		now = bench_now();
		gb_s = (double)r->count * sizeof *r->words / (now - before) / 1e9;
		r->gb_s = gb_s > r->gb_s ? gb_s : r->gb_s;
	} while (now - start < READ_S);
}

int measure_memory_read(struct measure_memory *m, unsigned cpu, double *ret_gb_s)
{
	struct reading *r = calloc(1, sizeof *r);
	void *thread;
	int err;

	if (!r)
		return -ENOMEM;
	*r = (struct reading){.words = m->map, .count = m->bytes / sizeof(uint64_t)};
	err = measure_start(cpu, read_passes, r, &thread);
	if (!measure_join(thread)) {
		m->map = MAP_FAILED; /* the thread may still use it, as it may `r` */
		return -ETIMEDOUT;
	}
	*ret_gb_s = r->gb_s;
	if (!err && r->sum % 8)
		err = -EIO;
	free(r);
	return err;
}
