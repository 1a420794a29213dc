/* SPDX-License-Identifier: MIT */
/*
 * peer_ops.c - time the same work as quoit's operations, as loops in C on one thread.
 *
 * A program would have the loops like this: compiled at -O3, for the present processor (they are
 * compiled for several, of which the loader takes one).
 */
#include "peer_ops.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "floor_process.h"

#if !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#if defined(__x86_64__) && !defined(__clang__) && !defined(QUOIT_SANITIZE)
#define LOOP                                                                                       \
	static __attribute__((noinline,                                                            \
			      target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define LOOP static __attribute__((noinline))
#endif

#define ROWS    ((size_t)PEER_OPS_ROWS)
#define COLUMNS ((size_t)PEER_OPS_COLUMNS)
#define COUNT   (ROWS * COLUMNS)
#define LANES   64 /* sums that are computed at once, so that the compiler can use vectors */
#define SQUARE  32
#define SHIFT   3
#define PRIME   7919u

/* The data of the loops; each takes the parts that it needs. */
struct data {
	float *x, *y, *z;
	float *positive; /* from 0.5 to 1.5 */
	int32_t *whole;
	int64_t *place;
	float row[PEER_OPS_COLUMNS], column[PEER_OPS_ROWS];
};

/* ---- element by element ---- */

LOOP void add(struct data *d)
{
	for (size_t i = 0; i < COUNT; i++)
		d->z[i] = d->x[i] + d->y[i];
}

LOOP void add_row(struct data *d)
{
	for (size_t i = 0; i < ROWS; i++)
		for (size_t j = 0; j < COLUMNS; j++)
			d->z[i * COLUMNS + j] = d->x[i * COLUMNS + j] + d->row[j];
}

LOOP void add_column(struct data *d)
{
	for (size_t i = 0; i < ROWS; i++)
		for (size_t j = 0; j < COLUMNS; j++)
			d->z[i * COLUMNS + j] = d->x[i * COLUMNS + j] + d->column[i];
}

LOOP void compare(struct data *d)
{
	for (size_t i = 0; i < COUNT; i++)
		d->whole[i] = d->x[i] > d->y[i];
}

LOOP void cast(struct data *d)
{
	for (size_t i = 0; i < COUNT; i++)
		d->z[i] = (float)d->whole[i];
}

LOOP void exponential(struct data *d)
{
	for (size_t i = 0; i < COUNT; i++)
		d->z[i] = expf(d->x[i]);
}

LOOP void absolute(struct data *d)
{
	for (size_t i = 0; i < COUNT; i++)
		d->z[i] = fabsf(d->x[i]);
}

LOOP void power(struct data *d)
{
	for (size_t i = 0; i < COUNT; i++)
		d->z[i] = powf(d->positive[i], d->y[i]);
}

LOOP void round_down(struct data *d)
{
	for (size_t i = 0; i < COUNT; i++)
		d->z[i] = floorf(d->x[i]);
}

/* ---- moved ---- */

LOOP void copy_inner(struct data *d)
{
	for (size_t i = 0; i < ROWS - 2; i++)
		for (size_t j = 0; j < COLUMNS - 2; j++)
			d->z[i * (COLUMNS - 2) + j] = d->x[(i + 1) * COLUMNS + j + 1];
}

LOOP void transpose(struct data *d)
{
	for (size_t i = 0; i < ROWS; i += SQUARE)
		for (size_t j = 0; j < COLUMNS; j += SQUARE)
			for (size_t k = i; k < i + SQUARE; k++)
				for (size_t l = j; l < j + SQUARE; l++)
					d->z[l * ROWS + k] = d->x[k * COLUMNS + l];
}

LOOP void roll(struct data *d)
{
	for (size_t i = 0; i < ROWS; i++) {
		float *to = d->z + i * COLUMNS;
		const float *from = d->x + i * COLUMNS;

		memcpy(to + SHIFT, from, (COLUMNS - SHIFT) * sizeof *to);
		memcpy(to, from + COLUMNS - SHIFT, SHIFT * sizeof *to);
	}
}

LOOP void gather(struct data *d)
{
	for (size_t i = 0; i < ROWS; i++)
		memcpy(d->z + i * COLUMNS, d->x + i * PRIME % ROWS * COLUMNS,
		       COLUMNS * sizeof *d->z);
}

/* ---- reduced ---- */

/* Lanes of the sum of n elements, a multiple of LANES. */
static inline float sum_of(const float *x, size_t n)
{
	float lane[LANES] = {0}, sum = 0;

	for (size_t i = 0; i < n; i += LANES)
		for (int k = 0; k < LANES; k++)
			lane[k] += x[i + k];
	for (int k = 0; k < LANES; k++)
		sum += lane[k];
	return sum;
}

LOOP void sum(struct data *d)
{
	d->z[0] = sum_of(d->x, COUNT);
}

LOOP void sum_rows(struct data *d)
{
	for (size_t i = 0; i < ROWS; i++)
		d->z[i] = sum_of(d->x + i * COLUMNS, COLUMNS);
}

LOOP void sum_columns(struct data *d)
{
	memset(d->z, 0, COLUMNS * sizeof *d->z);
	for (size_t i = 0; i < ROWS; i++)
		for (size_t j = 0; j < COLUMNS; j++)
			d->z[j] += d->x[i * COLUMNS + j];
}

LOOP void amax_columns(struct data *d)
{
	memcpy(d->z, d->x, COLUMNS * sizeof *d->z);
	for (size_t i = 1; i < ROWS; i++)
		for (size_t j = 0; j < COLUMNS; j++) {
			float v = d->x[i * COLUMNS + j];

			d->z[j] = d->z[j] > v ? d->z[j] : v;
		}
}

/* As sum_of. */
static inline float product_of(const float *x, size_t n)
{
	float lane[LANES], product = 1;

	for (int k = 0; k < LANES; k++)
		lane[k] = 1;
	for (size_t i = 0; i < n; i += LANES)
		for (int k = 0; k < LANES; k++)
			lane[k] *= x[i + k];
	for (int k = 0; k < LANES; k++)
		product *= lane[k];
	return product;
}

LOOP void prod_rows(struct data *d)
{
	for (size_t i = 0; i < ROWS; i++)
		d->z[i] = product_of(d->positive + i * COLUMNS, COLUMNS);
}

LOOP void amin_columns(struct data *d)
{
	memcpy(d->z, d->x, COLUMNS * sizeof *d->z);
	for (size_t i = 1; i < ROWS; i++)
		for (size_t j = 0; j < COLUMNS; j++) {
			float v = d->x[i * COLUMNS + j];

			d->z[j] = d->z[j] < v ? d->z[j] : v;
		}
}

LOOP void argmin_rows(struct data *d)
{
	for (size_t i = 0; i < ROWS; i++) {
		float least = INFINITY;
		int64_t at = 0;

		for (size_t j = 0; j < COLUMNS; j++)
			if (d->x[i * COLUMNS + j] < least) {
				least = d->x[i * COLUMNS + j];
				at = (int64_t)j;
			}
		d->place[i] = at;
	}
}

LOOP void argmax_rows(struct data *d)
{
	for (size_t i = 0; i < ROWS; i++) {
		float most = -INFINITY;
		int64_t at = 0;

		for (size_t j = 0; j < COLUMNS; j++)
			if (d->x[i * COLUMNS + j] > most) {
				most = d->x[i * COLUMNS + j];
				at = (int64_t)j;
			}
		d->place[i] = at;
	}
}

LOOP void dot(struct data *d)
{
	float lane[LANES] = {0}, sum = 0;

	for (size_t i = 0; i < COUNT; i += LANES)
		for (int k = 0; k < LANES; k++)
			lane[k] += d->x[i + k] * d->y[i + k];
	for (int k = 0; k < LANES; k++)
		sum += lane[k];
	d->z[0] = sum;
}

LOOP void axpy(struct data *d)
{
	const float a = d->column[1];

	for (size_t i = 0; i < COUNT; i++)
		d->z[i] += a * d->x[i];
}

/* ---- measured ---- */

static const struct {
	const char *name;
	void (*run)(struct data *d);
} loops[] = {
	{"add", add},
	{"add_row", add_row},
	{"add_column", add_column},
	{"compare", compare},
	{"cast", cast},
	{"exp", exponential},
	{"abs", absolute},
	{"pow", power},
	{"floor", round_down},
	{"copy_inner", copy_inner},
	{"transpose", transpose},
	{"roll", roll},
	{"gather", gather},
	{"sum", sum},
	{"sum_rows", sum_rows},
	{"sum_columns", sum_columns},
	{"prod_rows", prod_rows},
	{"amax_columns", amax_columns},
	{"amin_columns", amin_columns},
	{"argmax_rows", argmax_rows},
	{"argmin_rows", argmin_rows},
	{"dot", dot},
	{"axpy", axpy},
};

#define LOOPS (sizeof loops / sizeof loops[0])

static void fill(struct data *d)
{
	for (size_t i = 0; i < COUNT; i++) {
		d->x[i] = (float)random() / (float)RAND_MAX - 0.5f;
		d->y[i] = (float)random() / (float)RAND_MAX - 0.5f;
		d->positive[i] = d->x[i] + 1;
		d->z[i] = 0;
		d->whole[i] = (int32_t)i;
	}
	for (size_t i = 0; i < ROWS; i++) {
		d->column[i] = 1e-3f;
		d->place[i] = 0;
	}
	for (size_t j = 0; j < COLUMNS; j++)
		d->row[j] = 1;
}

static bool make(struct data *d)
{
	d->x = malloc(COUNT * sizeof *d->x);
	d->y = malloc(COUNT * sizeof *d->y);
	d->z = malloc(COUNT * sizeof *d->z);
	d->positive = malloc(COUNT * sizeof *d->positive);
	d->whole = malloc(COUNT * sizeof *d->whole);
	d->place = malloc(ROWS * sizeof *d->place);
	if (!d->x || !d->y || !d->z || !d->positive || !d->whole || !d->place)
		return false;
	fill(d);
	return true;
}

static void discard(struct data *d)
{
	free(d->x);
	free(d->y);
	free(d->z);
	free(d->positive);
	free(d->whole);
	free(d->place);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Pause for a moment between two runs, as quoit's measurement does. */
static double median_ns(void (*run)(struct data *d), struct data *d)
{
	const struct timespec moment = {.tv_nsec = PEER_OPS_PAUSE_NS};
	double ns[PEER_OPS_TIMES];

	run(d);
	for (int i = 0; i < PEER_OPS_TIMES; i++) {
		uint64_t start = floor_now();

		run(d);
		ns[i] = (double)(floor_now() - start);
		(void)nanosleep(&moment, NULL);
	}
	qsort(ns, PEER_OPS_TIMES, sizeof ns[0], by_value);
	return ns[PEER_OPS_TIMES / 2];
}

int peer_ops_run(const char *name, double *ret_ns)
{
	static struct data d;
	size_t i = 0;
	int err = -ENOMEM;

	while (i < LOOPS && strcmp(loops[i].name, name) != 0)
		i++;
	if (i == LOOPS)
		return -EINVAL;
	if (make(&d)) {
		*ret_ns = median_ns(loops[i].run, &d);
		err = 0;
	}
	discard(&d);
	return err;
}
