/* SPDX-License-Identifier: MIT */
/*
 * w1_queue.c - a front end puts operations into a queue, and a back end works them off.
 *
 * Prints one row for each experiment (W1 a to d): how long submitting took, how long it took until
 * the results were there, and whether they are right.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <quoit.h>

#include "now.h"
#include "where.h"

#define SIDE    1000u
#define TIMES   10
#define WARM_UP 2 /* runs before the timed one, so that it gets memory that was in use before */

static const struct quoit_shape one_number = {.dtype = QUOIT_F32, .dim = {1, 1, 1, 1}};
static bool all_right = true;

static void progress(const char *what)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K%s", what);
}

static void row(const char *part, const char *what, double submit, double total, bool right)
{
	progress("");
	printf("%-3s %-44s %11.3f %11.3f   %s\n", part, what, 1e3 * submit, 1e3 * total,
	       right ? "ok" : "WRONG");
	fflush(stdout);
	all_right &= right;
}

static quoit_tensor matrix(struct quoit_ring *q)
{
	return quoit_create_matrix(q, QUOIT_F32, SIDE, SIDE);
}

/* Is b = a a?  Checks a few elements. */
static bool is_square(struct quoit_ring *q, quoit_tensor b, quoit_tensor a)
{
	size_t size = (size_t)SIDE * SIDE * sizeof(float);
	float *x = malloc(size), *y = malloc(size);
	bool right = x && y && !quoit_read(q, a, x, size) && !quoit_read(q, b, y, size);

	for (unsigned i = 0; right && i < SIDE; i += 111) {
		unsigned j = (i * 7 + 3) % SIDE;
		double sum = 0;

		for (unsigned k = 0; k < SIDE; k++)
			sum += (double)x[i * SIDE + k] * x[k * SIDE + j];
		right = fabs(sum - y[i * SIDE + j]) < 1e-2;
	}
	free(x);
	free(y);
	return right;
}

/*
 * Do cores compute the same bits of a, made from `seed`, and the same b = a a, apart from the order
 * of sums?
 */
static bool is_as_on_cores(struct quoit_ring *q, quoit_tensor b, quoit_tensor a, uint64_t seed)
{
	const struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, SIDE, SIDE}};
	quoit_tensor x = quoit_create(q, &shape, QUOIT_CREATE_ON(0));
	quoit_tensor y = quoit_create(q, &shape, QUOIT_CREATE_ON(0));
	bool same;

	quoit_push(q, quoit_normal(x, seed, 0));
	quoit_push(q, quoit_gemm(y, x, x, 0, 1.0, 0.0));
	same = !where_compare(q, a, x, SIDE * SIDE, 0) &&
	       !where_compare(q, b, y, SIDE * SIDE, 1e-2f);
	quoit_free(q, x);
	quoit_free(q, y);
	return same;
}

/*
 * Push this many pairs of a standard normal matrix and its square; the caller owns the last pair.
 */
static void push_squares(struct quoit_ring *q, int times, quoit_tensor *a, quoit_tensor *b)
{
	*a = *b = 0;
	for (int i = 0; i < times; i++) {
		quoit_free(q, *a);
		quoit_free(q, *b);
		*a = matrix(q);
		*b = matrix(q);
		quoit_push(q, quoit_normal(*a, (uint64_t)i, 0));
		quoit_push(q, quoit_gemm(*b, *a, *a, 0, 1.0, 0.0));
	}
	quoit_flush(q);
}

/* Ten squares; only a program that waits sees how long they take. */
static void part_a(struct quoit_ring *q)
{
	quoit_tensor a, b;
	double begin, submitted, done;
	bool right;

	progress("a: ten products");
	push_squares(q, WARM_UP, &a, &b);
	quoit_free(q, a);
	quoit_free(q, b);
	right = !quoit_wait_all(q, QUOIT_FOREVER);
	begin = now();
	push_squares(q, TIMES, &a, &b);
	submitted = now();
	right &= !quoit_wait_all(q, QUOIT_FOREVER);
	done = now();
	row("a", "10 x (normal 1000x1000, product)", submitted - begin, done - begin,
	    right && is_square(q, b, a) && (!where() || is_as_on_cores(q, b, a, TIMES - 1)));
	quoit_free(q, a);
	quoit_free(q, b);
}

/* x and y are independent, the product waits for both, the sum for the product. */
static void part_b(struct quoit_ring *q)
{
	quoit_tensor x = quoit_create_vector(q, QUOIT_F32, 2),
		     y = quoit_create_vector(q, QUOIT_F32, 2);
	quoit_tensor p = quoit_create_vector(q, QUOIT_F32, 2),
		     z = quoit_create_vector(q, QUOIT_F32, 2);
	double begin = now(), submitted;
	float result[2] = {0};
	bool right;

	quoit_push(q, quoit_fill(x, 1));
	quoit_push(q, quoit_fill(y, 1));
	quoit_push(q, quoit_mul(p, x, y));
	quoit_push(q, quoit_add_scalar(z, p, 2));
	quoit_flush(q);
	submitted = now();
	right = !quoit_read(q, z, result, sizeof result);
	row("b", "z = x y + 2 of ones", submitted - begin, now() - begin,
	    right && result[0] == 3 && result[1] == 3);
	for (quoit_tensor t = 0; t < 4; t++)
		quoit_free(q, (quoit_tensor[]){x, y, p, z}[t]);
}

/* Wait for everything, then for one result while other work goes on. */
static void part_c(struct quoit_ring *q, quoit_tensor a, quoit_tensor b)
{
	quoit_tensor c = matrix(q);
	double begin = now(), submitted;
	bool right;
	quoit_job last;

	progress("c: two kinds of waits");
	quoit_push(q, quoit_gemm(b, a, a, 0, 1.0, 0.0));
	quoit_flush(q);
	submitted = now();
	right = !quoit_wait_all(q, QUOIT_FOREVER);
	row("c", "product, wait for everything", submitted - begin, now() - begin, right);
	begin = now();
	quoit_push(q, quoit_gemm(b, a, a, 0, 1.0, 0.0));
	for (int i = 0; i < TIMES; i++)
		quoit_push(q, quoit_gemm(c, a, b, 0, 1.0, 1.0));
	right = !quoit_start(q, quoit_nop(c), &last);
	quoit_flush(q);
	submitted = now();
	right &= !quoit_wait_tensor(q, b, QUOIT_FOREVER);
	row("c", "product, wait for it alone, 10 more behind it", submitted - begin, now() - begin,
	    right && quoit_get_result(q, last) == -EINPROGRESS);
	if (quoit_wait(q, last, QUOIT_FOREVER))
		row("c", "the 10 more", 0, 0, false);
	quoit_free(q, c);
}

/* Reading waits implicitly: for a whole matrix, or for one number computed from it. */
static void part_d(struct quoit_ring *q, quoit_tensor a, quoit_tensor b)
{
	size_t size = (size_t)SIDE * SIDE * sizeof(float);
	quoit_tensor sum = quoit_create(q, &one_number, 0);
	float *all = malloc(size), number = 0;
	double begin = now(), submitted, expected = 0;
	bool right;

	quoit_push(q, quoit_gemm(b, a, a, 0, 1.0, 0.0));
	quoit_flush(q);
	submitted = now();
	right = all && !quoit_read(q, b, all, size);
	row("d", "product, read all of it", submitted - begin, now() - begin, right);
	for (size_t i = 0; right && i < (size_t)SIDE * SIDE; i++)
		expected += all[i];
	begin = now();
	quoit_push(q, quoit_gemm(b, a, a, 0, 1.0, 0.0));
	quoit_push(q, quoit_sum(sum, b, QUOIT_AXIS_ALL));
	quoit_flush(q);
	submitted = now();
	right &= !quoit_read(q, sum, &number, sizeof number);
	row("d", "product, sum, read one number", submitted - begin, now() - begin,
	    right && fabs(number - expected) < 1e-3 * SIDE * sqrt(SIDE));
	quoit_free(q, sum);
	free(all);
}

static void run(struct quoit_ring *q)
{
	quoit_tensor a = matrix(q), b = matrix(q);

	quoit_push(q, quoit_normal(a, 1, 0));
	quoit_push(q, quoit_gemm(b, a, a, 0, 1.0, 0.0)); /* warm up */
	if (quoit_wait_all(q, QUOIT_FOREVER))
		row("", "warming up", 0, 0, false);
	printf("%-3s %-44s %11s %11s\n", "", "", "submit ms", "total ms");
	part_a(q);
	part_b(q);
	part_c(q, a, b);
	part_d(q, a, b);
}

int main(void)
{
	const struct quoit_open_params params = {.host_bytes = 128u << 20};
	struct quoit_session *s;
	struct quoit_ring *q = NULL;
	char text[256];
	int err = quoit_open(&params, &s);

	if (err) {
		fprintf(stderr, "w1_queue: %s: %s\n", quoit_strerror(err), quoit_open_text());
		return 1;
	}
	err = quoit_open_ring(s, NULL, &q);
	if (!err)
		err = where_begin(q);
	if (err)
		fprintf(stderr, "w1_queue: %s\n", quoit_strerror_wait(q, err, text, sizeof text));
	else
		run(q);
	if (!err)
		err = where_report(s);
	err |= quoit_close(s, 0);
	return err || !all_right;
}
