/* SPDX-License-Identifier: MIT */
/*
 * cholesky.c [N] - a Cholesky factorization in tiles: the tiles' potrf, trsm and syrk are functions
 * of the program's own, from LAPACK and BLAS; the products between tiles are Quoit's.  No job waits
 * for more than the tiles that it reads.  The factor is compared with that of LAPACK's dpotrf.
 *
 * A tile is stored row by row, which LAPACK reads as its transpose: our L is its upper U.
 */
#include <cblas.h>
#include <errno.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <quoit.h>

#include "now.h"

#define TILE       256u
#define TILES_MOST 32u

/* Of OpenBLAS, if that is the BLAS: a function runs in one thread, as the team has several. */
__attribute__((weak)) void openblas_set_num_threads(int count);

static void set_threads(int count)
{
	if (openblas_set_num_threads)
		openblas_set_num_threads(count);
}

/* ---- functions on tiles ---- */

/* These are called with tiles alone, which the program has made itself: nothing is checked. */

/* A = L L^T; A becomes L */
static int potrf(void *state, struct quoit_exec_call *c)
{
	int bad = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', TILE, c->tensor[0].data, TILE);

	(void)state;
	if (!bad)
		return 0;
	snprintf(c->text, sizeof c->text, "the matrix is not positive definite: minor %d of a tile",
		 bad);
	return -EDOM;
}

/* A = A L^-T */
static int trsm(void *state, struct quoit_exec_call *c)
{
	(void)state;
	cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, TILE, TILE, 1,
		    c->tensor[1].data, TILE, c->tensor[0].data, TILE);
	return 0;
}

/* A = A - B B^T, the lower half */
static int syrk(void *state, struct quoit_exec_call *c)
{
	(void)state;
	cblas_dsyrk(CblasColMajor, CblasUpper, CblasTrans, TILE, TILE, -1, c->tensor[1].data, TILE,
		    1, c->tensor[0].data, TILE);
	return 0;
}

static const struct quoit_function functions[] = {
	{.name = "potrf", .access = "M---", .run = potrf},
	{.name = "trsm", .access = "MR--", .run = trsm},
	{.name = "syrk", .access = "MR--", .run = syrk},
};

/* ---- the matrix ---- */

static double element(size_t i, size_t k, size_t n)
{
	return (i == k ? (double)n : 0) + 1 / (1 + fabs((double)i - (double)k));
}

struct matrix {
	unsigned tiles; /* in a row */
	quoit_tensor tile[TILES_MOST][TILES_MOST];
};

/* Make the tiles of the lower half, and fill them. */
static int make(struct quoit_ring *q, struct matrix *m)
{
	const struct quoit_shape shape = {.dtype = QUOIT_F64, .dim = {1, 1, TILE, TILE}};

	for (unsigned i = 0; i < m->tiles; i++)
		for (unsigned k = 0; k <= i; k++) {
			void *at;
			int err;

			m->tile[i][k] = quoit_create(q, &shape, QUOIT_CREATE_SHARED);
			err = quoit_acquire(q, m->tile[i][k], QUOIT_ACCESS_WRITE, QUOIT_FOREVER,
					    &at);
			if (err)
				return err;
			for (size_t e = 0; e < (size_t)TILE * TILE; e++)
				((double *)at)[e] =
					element(i * TILE + e / TILE, k * TILE + e % TILE,
						(size_t)m->tiles * TILE);
			quoit_release_tensor(q, m->tile[i][k]);
		}
	return 0;
}

/* The largest difference between the factor in the tiles and `expected`, row by row. */
static int compare(struct quoit_ring *q, const struct matrix *m, const double *expected,
		   double *ret)
{
	const size_t n = (size_t)m->tiles * TILE;

	*ret = 0;
	for (unsigned i = 0; i < m->tiles; i++)
		for (unsigned k = 0; k <= i; k++) {
			const double *at;
			void *tile;
			int err = quoit_acquire(q, m->tile[i][k], QUOIT_ACCESS_READ, QUOIT_FOREVER,
						&tile);

			if (err)
				return err;
			at = tile;
			for (size_t e = 0; e < (size_t)TILE * TILE; e++) {
				size_t row = i * TILE + e / TILE, column = k * TILE + e % TILE;
				double by = fabs(at[e] - expected[row * n + column]);

				if (column <= row && !(by <= *ret))
					*ret = by;
			}
			quoit_release_tensor(q, m->tile[i][k]);
		}
	return 0;
}

/* ---- the factorization ---- */

struct numbers {
	int potrf, trsm, syrk;
};

/* What follows from the finished column k of tiles. */
static int update(struct quoit_ring *q, const struct matrix *m, const struct numbers *f, unsigned k)
{
	int err = 0;

	for (unsigned i = k + 1; i < m->tiles && !err; i++) {
		const quoit_tensor *row = m->tile[i];

		for (unsigned j = k + 1; j < i && !err; j++)
			err = quoit_push(q, quoit_gemm(row[j], row[k], m->tile[j][k],
						       QUOIT_GEMM_TRANS_B, -1, 1));
		if (!err)
			err = quoit_push(q, quoit_call(f->syrk, row[i], row[k], 0, 0));
	}
	return err;
}

static int factor(struct quoit_ring *q, const struct matrix *m, const struct numbers *f)
{
	int err = 0;

	for (unsigned k = 0; k < m->tiles && !err; k++) {
		/* the chain of these decides how long all takes: they go first */
		err = quoit_push(q,
				 quoit_with_priority(quoit_call(f->potrf, m->tile[k][k], 0, 0, 0),
						     QUOIT_PRIO_HIGH));
		for (unsigned i = k + 1; i < m->tiles && !err; i++)
			err = quoit_push(q, quoit_with_priority(quoit_call(f->trsm, m->tile[i][k],
									   m->tile[k][k], 0, 0),
								QUOIT_PRIO_HIGH));
		if (!err)
			err = update(q, m, f, k);
	}
	return err ? err : quoit_wait_all(q, QUOIT_FOREVER);
}

/* The factor by LAPACK alone; returns the seconds. */
static double factor_alone(double *a, size_t n)
{
	double begun;

	for (size_t i = 0; i < n * n; i++)
		a[i] = element(i / n, i % n, n);
	begun = now();
	LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, a, (lapack_int)n);
	return now() - begun;
}

static int run(struct quoit_ring *q, const struct numbers *f, struct matrix *m)
{
	const size_t n = (size_t)m->tiles * TILE;
	double *expected = malloc(n * n * sizeof *expected), begun, took, alone, off;
	int err;

	if (!expected)
		return -ENOMEM;
	err = make(q, m);
	set_threads(1);
	begun = now();
	if (!err)
		err = factor(q, m, f);
	took = now() - begun;
	set_threads(2);
	alone = factor_alone(expected, n);
	if (!err)
		err = compare(q, m, expected, &off);
	free(expected);
	if (err)
		return err;
	printf("Cholesky of %zu x %zu in tiles: %.1f ms; dpotrf: %.1f ms; they differ by %.1g\n", n,
	       n, took * 1e3, alone * 1e3, off);
	return off < 1e-9 ? 0 : -EDOM;
}

static int open_all(unsigned tiles, struct quoit_session **s, struct quoit_ring **q,
		    struct numbers *f)
{
	const struct quoit_open_params params = {.shared_bytes = (uint64_t)tiles * (tiles + 1) / 2 *
								 TILE * TILE * sizeof(double)};
	struct quoit_team *team;
	int err = quoit_open(&params, s);

	if (!err)
		err = quoit_open_ring(*s, NULL, q);
	if (!err)
		err = quoit_open_team(*s, functions, 3, NULL, &team);
	if (err) {
		fprintf(stderr, "cholesky: %s: %s\n", quoit_strerror(err), quoit_open_text());
		return err;
	}
	f->potrf = quoit_find_function(team, "potrf");
	f->trsm = quoit_find_function(team, "trsm");
	f->syrk = quoit_find_function(team, "syrk");
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 2048;
	struct matrix m = {.tiles = (unsigned)(n / TILE)};
	struct quoit_session *s = NULL;
	struct quoit_ring *q = NULL;
	struct numbers f;
	char text[256];
	int err;

	if (!n || n % TILE || n / TILE > TILES_MOST) {
		fprintf(stderr, "cholesky: N is %lu: allowed are multiples of %u up to %u\n", n,
			TILE, TILE * TILES_MOST);
		return 2;
	}
	err = open_all(m.tiles, &s, &q, &f);
	if (!err) {
		err = run(q, &f, &m);
		if (err)
			fprintf(stderr, "cholesky: %s\n",
				quoit_strerror_wait(q, err, text, sizeof text));
	}
	quoit_close(s, 0);
	return err != 0;
}
