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

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Seconds of one product, the median; 0: out of memory. */
static double time_products(cblas_sgemm_fn *sgemm, unsigned side)
{
	float *a = random_matrix(side), *b = random_matrix(side), *c = random_matrix(side);
	double seconds[RUNS] = {0};
	int n = (int)side;

	for (int i = -WARM_UPS; a && b && c && i < RUNS; i++) {
		uint64_t start = floor_now();

		sgemm(CBLAS_ROW_MAJOR, CBLAS_NO_TRANS, CBLAS_NO_TRANS, n, n, n, 1.0f, a, n, b, n,
		      0.0f, c, n);
		if (i >= 0)
			seconds[i] = (double)(floor_now() - start) * 1e-9;
	}
	free(a);
	free(b);
	free(c);
	qsort(seconds, RUNS, sizeof seconds[0], by_value);
	return seconds[RUNS / 2];
}

/* In a process of its own: the GFLOP/s, 0 where the library is not there. */
static void run_contender(const struct contender *c, unsigned side, int threads, double *ret)
{
	cblas_sgemm_fn *sgemm;
	double seconds;
	void *library;

	set_environment(c, threads);
	library = dlopen(c->library, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return;
	*(void **)&sgemm = dlsym(library, "cblas_sgemm");
	seconds = sgemm ? time_products(sgemm, side) : 0;
	if (seconds > 0)
		*ret = 2.0 * side * side * side / seconds / 1e9;
}

static int pin(int threads, const int cpu[2])
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < threads; i++)
		CPU_SET(cpu[i], &set);
	return sched_setaffinity(0, sizeof set, &set) < 0 ? -errno : 0;
}

int peer_blas_best(unsigned side, int threads, const int cpu[2], struct peer_blas_result *ret)
{
	double *gflops;
	int err;

	if (!side || side > MOST_SIDE || threads < 1 || threads > 2)
		return -EINVAL;
	err = pin(threads, cpu);
	gflops = floor_map(sizeof *gflops);
	if (err || !gflops)
		return err ? err : -ENOMEM;
	*ret = (struct peer_blas_result){0};
	for (size_t i = 0; i < sizeof contenders / sizeof contenders[0]; i++) {
		pid_t pid;

		*gflops = 0;
		pid = fork();
		if (pid == 0) {
			run_contender(&contenders[i], side, threads, gflops);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) < 0 || *gflops <= ret->gflops)
			continue;
		ret->gflops = *gflops;
		snprintf(ret->name, sizeof ret->name, "%s", contenders[i].name);
	}
	floor_unmap(gflops, sizeof *gflops);
	return ret->gflops > 0 ? 0 : -ENOTSUP;
}
