/* SPDX-License-Identifier: MIT */
/*
 * beside.c - time a product by quoitd and by a BLAS in the program, beside the program's busy
 * threads
 *
 * Usage: beside PAIRS, under `quoit run`.  As many threads as the program has CPUs compute sums for
 * as long as it runs.  It prints a line for each pair: the nanoseconds of a product of 1000^3 by
 * quoitd, and by OpenBLAS, which the program's main thread calls with as many threads; they take
 * turns at being first.  Exit status 77: OpenBLAS is not installed.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <quoit.h>

#define SIDE     1000
#define PRODUCTS 3 /* products for one time: a single one may fall between two time slices */

enum { CBLAS_ROW_MAJOR = 101, CBLAS_NO_TRANS = 111, NOT_HERE = 77 };

typedef void cblas_sgemm_fn(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
			    const float *a, int lda, const float *b, int ldb, float beta, float *c,
			    int ldc);

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "beside: %s\n", what);
	exit(1);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- the two products ---- */

struct product {
	struct quoit_session *session;
	struct quoit_ring *ring;
	quoit_tensor x, y;
	cblas_sgemm_fn *sgemm;
	float *a, *b;
};

static double by_quoitd(const struct product *p)
{
	double begun = now_ns();

	for (int i = 0; i < PRODUCTS; i++)
		must(!quoit_push(p->ring, quoit_gemm(p->y, p->x, p->x, 0, 1, 0)) &&
			     !quoit_wait_all(p->ring, QUOIT_FOREVER),
		     "a product has failed");
	return (now_ns() - begun) / PRODUCTS;
}

static double by_blas(const struct product *p)
{
	double begun = now_ns();

	for (int i = 0; i < PRODUCTS; i++)
		p->sgemm(CBLAS_ROW_MAJOR, CBLAS_NO_TRANS, CBLAS_NO_TRANS, SIDE, SIDE, SIDE, 1, p->a,
			 SIDE, p->a, SIDE, 0, p->b, SIDE);
	return (now_ns() - begun) / PRODUCTS;
}

/* Give both the same numbers. */
static void prepare(struct product *p, void *blas)
{
	const size_t bytes = sizeof(float) * SIDE * SIDE;
	struct quoit_open_params params = {.host_bytes = UINT64_C(64) << 20};

	*(void **)&p->sgemm = dlsym(blas, "cblas_sgemm");
	must(p->sgemm, "no cblas_sgemm");
	must(!quoit_open(&params, &p->session) && !quoit_open_ring(p->session, NULL, &p->ring),
	     "no session; it runs under quoit run");
	p->x = quoit_create_matrix(p->ring, QUOIT_F32, SIDE, SIDE);
	p->y = quoit_create_matrix(p->ring, QUOIT_F32, SIDE, SIDE);
	p->a = malloc(bytes);
	p->b = malloc(bytes);
	must(p->a && p->b, "no memory");
	must(!quoit_push(p->ring, quoit_normal(p->x, 1, 0)) &&
		     !quoit_read(p->ring, p->x, p->a, bytes),
	     "no numbers");
	memset(p->b, 0, bytes);
}

/* ---- the busy threads ---- */

static void *be_busy(void *unused)
{
	for (volatile double x = 1;;)
		x = x * 1.0000001;
	return unused;
}

static void begin_busy_threads(void)
{
	cpu_set_t mine;
	pthread_t thread;

	must(!sched_getaffinity(0, sizeof mine, &mine), "more CPUs than it can count");
	for (int i = 0; i < CPU_COUNT(&mine); i++)
		must(!pthread_create(&thread, NULL, be_busy, NULL), "no thread");
}

int main(int argc, char **argv)
{
	int pairs = argc > 1 ? atoi(argv[1]) : 21;
	void *blas = dlopen("libopenblas.so.0", RTLD_NOW);
	struct product p = {0};

	if (!blas) {
		fprintf(stderr, "beside: %s\n", dlerror());
		return NOT_HERE;
	}
	prepare(&p, blas);
	by_quoitd(&p);
	by_blas(&p);
	begin_busy_threads();
	for (int i = 0; i < pairs; i++) {
		double blas_ns = i % 2 ? by_blas(&p) : 0, ours = by_quoitd(&p);

		if (!(i % 2))
			blas_ns = by_blas(&p);
		printf("%.0f %.0f\n", ours, blas_ns);
		fflush(stdout);
	}
	return quoit_close(p.session, 0) != 0;
}
