/* SPDX-License-Identifier: MIT */
/* peer_blas.c - the best BLAS on the machine, called directly */
#include "peer_blas.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "floor_process.h"

#define MOST_SIDE 4096u
#define WARM_UPS  3
#define RUNS      21

typedef void cblas_sgemm_fn(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
			    const float *a, int lda, const float *b, int ldb, float beta, float *c,
			    int ldc);
enum { CBLAS_ROW_MAJOR = 101, CBLAS_NO_TRANS = 111 };

static const struct contender {
	const char *name, *library, *variable, *value;
} contenders[] = {
	{"OpenBLAS", "libopenblas.so.0", NULL, NULL},
	{"OpenBLAS Haswell", "libopenblas.so.0", "OPENBLAS_CORETYPE", "Haswell"},
	{"OpenBLAS Zen", "libopenblas.so.0", "OPENBLAS_CORETYPE", "Zen"},
	{"OpenBLAS SkylakeX", "libopenblas.so.0", "OPENBLAS_CORETYPE", "SkylakeX"},
	{"OpenBLAS Cooperlake", "libopenblas.so.0", "OPENBLAS_CORETYPE", "Cooperlake"},
	{"BLIS", "libblis.so.4", NULL, NULL},
	{"BLIS haswell", "libblis.so.4", "BLIS_ARCH_TYPE", "haswell"},
	{"BLIS skx", "libblis.so.4", "BLIS_ARCH_TYPE", "skx"},
};

static void set_environment(const struct contender *c, int threads)
{
	char number[12];

	snprintf(number, sizeof number, "%d", threads);
	unsetenv("OPENBLAS_CORETYPE");
	unsetenv("OPENBLAS_L2_SIZE");
	unsetenv("BLIS_ARCH_TYPE");
	setenv("OPENBLAS_NUM_THREADS", number, 1);
	setenv("BLIS_NUM_THREADS", number, 1);
	setenv("OMP_NUM_THREADS", number, 1);
	if (c->variable)
		setenv(c->variable, c->value, 1);
}

static float *random_matrix(unsigned side)
{
	float *m = malloc((size_t)side * side * sizeof *m);

	for (size_t i = 0; m && i < (size_t)side * side; i++)
		m[i] = (float)random() / (float)RAND_MAX - 0.5f;
	return m;
}

/* Seconds of `count` products one after the other; m: A, B and C, n x n. */
static double time_products(cblas_sgemm_fn *sgemm, int n, float *const m[3], unsigned count)
{
	uint64_t start = floor_now();

	for (unsigned i = 0; i < count; i++)
		sgemm(CBLAS_ROW_MAJOR, CBLAS_NO_TRANS, CBLAS_NO_TRANS, n, n, n, 1.0f, m[0], n, m[1],
		      n, 0.0f, m[2], n);
	return (double)(floor_now() - start) * 1e-9;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* What one contender is to do, and what it found. */
struct race {
	unsigned side, count; /* count: 0, the median of RUNS products; else the mean of so many */
	int threads;
	double gflops; /* 0: its library is not there */
};

static double median_seconds(cblas_sgemm_fn *sgemm, int n, float *const m[3])
{
	double seconds[RUNS];

	for (int i = 0; i < RUNS; i++)
		seconds[i] = time_products(sgemm, n, m, 1);
	qsort(seconds, RUNS, sizeof seconds[0], by_value);
	return seconds[RUNS / 2];
}

/* 0: out of memory. */
static double time_race(cblas_sgemm_fn *sgemm, const struct race *race)
{
	float *m[3];
	int n = (int)race->side;
	double seconds = 0;

	for (int i = 0; i < 3; i++)
		m[i] = random_matrix(race->side);
	if (m[0] && m[1] && m[2]) {
		(void)time_products(sgemm, n, m, WARM_UPS);
		seconds = race->count ? time_products(sgemm, n, m, race->count) / race->count
				      : median_seconds(sgemm, n, m);
	}
	for (int i = 0; i < 3; i++)
		free(m[i]);
	return seconds;
}

/* In a process of its own. */
static void run_contender(const struct contender *c, struct race *race)
{
	cblas_sgemm_fn *sgemm;
	double seconds, side = race->side;
	void *library;

	set_environment(c, race->threads);
	library = dlopen(c->library, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return;
	*(void **)&sgemm = dlsym(library, "cblas_sgemm");
	seconds = sgemm ? time_race(sgemm, race) : 0;
	if (seconds > 0)
		race->gflops = 2.0 * side * side * side / seconds / 1e9;
}

/* `race` is in memory that a fork shares. */
static double fork_contender(const struct contender *c, struct race *race)
{
	pid_t pid;

	race->gflops = 0;
	pid = fork();
	if (pid == 0) {
		run_contender(c, race);
		_exit(0);
	}
	return pid < 0 || waitpid(pid, NULL, 0) < 0 ? 0 : race->gflops;
}

static int pin(int threads, const int cpu[2])
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < threads; i++)
		CPU_SET(cpu[i], &set);
	return sched_setaffinity(0, sizeof set, &set) < 0 ? -errno : 0;
}

int peer_blas_best(unsigned side, int threads, unsigned count, const int cpu[2],
		   struct peer_blas_result *ret)
{
	const struct contender *best = NULL;
	struct race *race;
	double most = 0;
	int err;

	if (!side || side > MOST_SIDE || threads < 1 || threads > 2 || !count)
		return -EINVAL;
	err = pin(threads, cpu);
	race = floor_map(sizeof *race);
	if (err || !race)
		return err ? err : -ENOMEM;
	*race = (struct race){.side = side, .threads = threads};
	for (size_t i = 0; i < sizeof contenders / sizeof contenders[0]; i++)
		if (fork_contender(&contenders[i], race) > most) {
			most = race->gflops;
			best = &contenders[i];
		}
	race->count = count;
	*ret = (struct peer_blas_result){0};
	if (best && fork_contender(best, race) > 0) {
		ret->gflops = race->gflops;
		snprintf(ret->name, sizeof ret->name, "%s", best->name);
	}
	floor_unmap(race, sizeof *race);
	return ret->gflops > 0 ? 0 : -ENOTSUP;
}
