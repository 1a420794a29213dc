/* SPDX-License-Identifier: MIT */
/* peer_hypot.c - a loop that OpenMP divides */
#include "peer_hypot.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>

#include "floor_process.h"

#define ELEMENTS 1000000

#ifdef _OPENMP
#include <omp.h>

static void pin(int cpu)
{
	cpu_set_t before;

	(void)floor_pin(cpu, &before);
}

static void fill(double *x, uint64_t seed)
{
	for (int i = 0; i < ELEMENTS; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		x[i] = (double)(seed >> 11) * 0x1p-53;
	}
}

static void run(double *out, const double *x, const double *y)
{
#pragma omp parallel for schedule(static)
	for (int i = 0; i < ELEMENTS; i++)
		out[i] = hypot(x[i], y[i]);
}

int peer_hypot_run(const int cpu[2], uint64_t count, double *ret_ns)
{
	double *x = malloc(3 * ELEMENTS * sizeof *x), *y = x + ELEMENTS, *out = y + ELEMENTS;
	uint64_t begun;

	if (!x)
		return -ENOMEM;
	omp_set_num_threads(2);
#pragma omp parallel
	pin(cpu[omp_get_thread_num()]);
	fill(x, 1);
	fill(y, 2);
	for (uint64_t i = 0; i <= count / 10; i++)
		run(out, x, y);
	begun = floor_now();
	for (uint64_t i = 0; i < count; i++)
		run(out, x, y);
	*ret_ns = (double)(floor_now() - begun) / (double)count;
	free(x);
	return 0;
}

#else

int peer_hypot_run(const int cpu[2], uint64_t count, double *ret_ns)
{
	(void)cpu;
	(void)count;
	(void)ret_ns;
	return -ENOTSUP;
}

#endif
