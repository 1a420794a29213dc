/* SPDX-License-Identifier: MIT */
/* peer_blas.c - call the best BLAS on the machine directly */
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
typedef void cblas_dgemm_fn(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
			    const double *a, int lda, const double *b, int ldb, double beta,
			    double *c, int ldc);
typedef void cblas_sgemv_fn(int order, int trans, int m, int n, float alpha, const float *a,
			    int lda, const float *x, int step_x, float beta, float *y, int step_y);
typedef void cblas_dgemv_fn(int order, int trans, int m, int n, double alpha, const double *a,
			    int lda, const double *x, int step_x, double beta, double *y,
			    int step_y);
enum { CBLAS_ROW_MAJOR = 101, CBLAS_NO_TRANS = 111 };

/* The calls of a library. */
struct calls {
	cblas_sgemm_fn *sgemm;
	cblas_dgemm_fn *dgemm;
	cblas_sgemv_fn *sgemv;
	cblas_dgemv_fn *dgemv;
};

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

static void *random_matrix(unsigned rows, unsigned columns, bool f64)
{
	const size_t n = (size_t)rows * columns;
	void *m = malloc(n * (f64 ? sizeof(double) : sizeof(float)));

	for (size_t i = 0; m && i < n; i++) {
		const double x = (double)random() / (double)RAND_MAX - 0.5;

		if (f64)
			((double *)m)[i] = x;
		else
			((float *)m)[i] = (float)x;
	}
	return m;
}

/* x: A, B and C. */
static void multiply(const struct calls *call, const struct peer_blas_product *p, void *const x[3])
{
	const int m = (int)p->m, n = (int)p->n, k = (int)p->k;

	if (n == 1 && p->f64)
		call->dgemv(CBLAS_ROW_MAJOR, CBLAS_NO_TRANS, m, k, 1, x[0], k, x[1], 1, 0, x[2], 1);
	else if (n == 1)
		call->sgemv(CBLAS_ROW_MAJOR, CBLAS_NO_TRANS, m, k, 1, x[0], k, x[1], 1, 0, x[2], 1);
	else if (p->f64)
		call->dgemm(CBLAS_ROW_MAJOR, CBLAS_NO_TRANS, CBLAS_NO_TRANS, m, n, k, 1, x[0], k,
			    x[1], n, 0, x[2], n);
	else
		call->sgemm(CBLAS_ROW_MAJOR, CBLAS_NO_TRANS, CBLAS_NO_TRANS, m, n, k, 1, x[0], k,
			    x[1], n, 0, x[2], n);
}

/* Seconds of `count` products in a row. */
static double time_products(const struct calls *call, const struct peer_blas_product *p,
			    void *const x[3], unsigned count)
{
	uint64_t start = floor_now();

	for (unsigned i = 0; i < count; i++)
		multiply(call, p, x);
	return (double)(floor_now() - start) * 1e-9;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The task of one contender, and its result. */
struct race {
	struct peer_blas_product product;
	unsigned count; /* 0: take the median of RUNS products; else the mean of this many */
	int threads;
	double seconds; /* 0: its library is missing */
};

static double median_seconds(const struct calls *call, const struct peer_blas_product *p,
			     void *const x[3])
{
	double seconds[RUNS];

	for (int i = 0; i < RUNS; i++)
		seconds[i] = time_products(call, p, x, 1);
	qsort(seconds, RUNS, sizeof seconds[0], by_value);
	return seconds[RUNS / 2];
}

/* 0: out of memory. */
static double time_race(const struct calls *call, const struct race *race)
{
	const struct peer_blas_product *p = &race->product;
	void *x[3] = {random_matrix(p->m, p->k, p->f64), random_matrix(p->k, p->n, p->f64),
		      random_matrix(p->m, p->n, p->f64)};
	double seconds = 0;

	if (x[0] && x[1] && x[2]) {
		(void)time_products(call, p, x, WARM_UPS);
		seconds = race->count ? time_products(call, p, x, race->count) / race->count
				      : median_seconds(call, p, x);
	}
	for (int i = 0; i < 3; i++)
		free(x[i]);
	return seconds;
}

static bool find_calls(void *library, struct calls *ret)
{
	*(void **)&ret->sgemm = dlsym(library, "cblas_sgemm");
	*(void **)&ret->dgemm = dlsym(library, "cblas_dgemm");
	*(void **)&ret->sgemv = dlsym(library, "cblas_sgemv");
	*(void **)&ret->dgemv = dlsym(library, "cblas_dgemv");
	return ret->sgemm && ret->dgemm && ret->sgemv && ret->dgemv;
}

/* Runs in a process of its own. */
static void run_contender(const struct contender *c, struct race *race)
{
	struct calls call;
	void *library;

	set_environment(c, race->threads);
	library = dlopen(c->library, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return;
	if (find_calls(library, &call))
		race->seconds = time_race(&call, race);
}

/* `race` lies in memory that a fork shares. */
static double fork_contender(const struct contender *c, struct race *race)
{
	pid_t pid;

	race->seconds = 0;
	pid = fork();
	if (pid == 0) {
		run_contender(c, race);
		_exit(0);
	}
	return pid < 0 || waitpid(pid, NULL, 0) < 0 ? 0 : race->seconds;
}

static int pin(int threads, const int cpu[2])
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < threads; i++)
		CPU_SET(cpu[i], &set);
	return sched_setaffinity(0, sizeof set, &set) < 0 ? -errno : 0;
}

bool peer_blas_parse(const char *word, struct peer_blas_product *ret)
{
	unsigned bits;
	int end = 0;

	if (sscanf(word, "f%u:%ux%ux%u%n", &bits, &ret->m, &ret->n, &ret->k, &end) != 4 ||
	    word[end] || (bits != 32 && bits != 64))
		return false;
	ret->f64 = bits == 64;
	return ret->m && ret->n && ret->k && ret->m <= MOST_SIDE && ret->n <= MOST_SIDE &&
	       ret->k <= MOST_SIDE;
}

int peer_blas_best(const struct peer_blas_product *p, int threads, unsigned count, const int cpu[2],
		   struct peer_blas_result *ret)
{
	const struct contender *best = NULL;
	struct race *race;
	double least = 0;
	int err;

	if (threads < 1 || threads > 2 || !count)
		return -EINVAL;
	err = pin(threads, cpu);
	race = floor_map(sizeof *race);
	if (err || !race)
		return err ? err : -ENOMEM;
	*race = (struct race){.product = *p, .threads = threads};
	for (size_t i = 0; i < sizeof contenders / sizeof contenders[0]; i++)
		if (fork_contender(&contenders[i], race) > 0 && (!best || race->seconds < least)) {
			least = race->seconds;
			best = &contenders[i];
		}
	race->count = count;
	*ret = (struct peer_blas_result){0};
	if (best && fork_contender(best, race) > 0) {
		ret->seconds = race->seconds;
		ret->gflops = 2e-9 * p->m * p->n * p->k / race->seconds;
		snprintf(ret->name, sizeof ret->name, "%s", best->name);
	}
	floor_unmap(race, sizeof *race);
	return ret->seconds > 0 ? 0 : -ENOTSUP;
}
