/* SPDX-License-Identifier: MIT */
/*
 * w1_adds.c - measure what it costs to submit, run and return one of a thousand tiny additions (W1
 * e)
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <quoit.h>

#include "now.h"
#include "where.h"

#define ADDS   1000
#define ROUNDS 5

/*
 * 1,000 times y = x + 1 of ones, a new y each time.  Returns how long that took; *ret_submit: how
 * long the loop alone took.  *ret_wrong is set if a result is not 2.
 */
static double add_often(struct quoit_ring *q, quoit_tensor x, bool wait_each, double *ret_submit,
			bool *ret_wrong)
{
	float got[2];
	quoit_tensor y = QUOIT_NO_TENSOR;
	double begin = now(), seconds;

	for (int i = 0; i < ADDS; i++) {
		quoit_free(q, y);
		y = quoit_create_vector(q, QUOIT_F32, 2);
		quoit_push(q, quoit_add_scalar(y, x, 1));
		if (wait_each && quoit_wait_tensor(q, y, QUOIT_FOREVER))
			*ret_wrong = true;
	}
	quoit_flush(q);
	*ret_submit = now() - begin;
	if (quoit_wait_all(q, QUOIT_FOREVER))
		*ret_wrong = true;
	seconds = now() - begin;
	if (quoit_read(q, y, got, sizeof got) || got[0] != 2 || got[1] != 2)
		*ret_wrong = true;
	quoit_free(q, y);
	return seconds;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *x)
{
	qsort(x, ROUNDS, sizeof *x, compare);
	return x[ROUNDS / 2];
}

/*
 * t1 is the time to submit one addition, t2 to run it, t3 to return its result.  Waiting each time
 * costs 1000 (t1 + t2 + t3), waiting once t1 + 1000 t2 + t3, and the loop alone 1000 t1.
 */
static int run(struct quoit_ring *q)
{
	double each[ROUNDS], once[ROUNDS], loop[ROUNDS], unused, sum, t1, t2;
	quoit_tensor x = quoit_create_vector(q, QUOIT_F32, 2);
	bool wrong = false;
	struct quoit_error last;

	quoit_push(q, quoit_fill(x, 1));
	for (int i = 0; i < ROUNDS; i++) {
		each[i] = add_often(q, x, true, &unused, &wrong);
		once[i] = add_often(q, x, false, &loop[i], &wrong);
	}
	sum = median(each) / ADDS;
	t1 = median(loop) / ADDS;
	t2 = (median(once) - sum) / (ADDS - 1);
	printf("e   1000 x (y = x + 1), waiting for each %11.3f ms\n", 1e3 * median(each));
	printf("    1000 x (y = x + 1), waiting once     %11.3f ms\n", 1e3 * median(once));
	printf("    t1 (submit) %.3f us, t2 (run) %.3f us, t3 (return) %.3f us\n", 1e6 * t1,
	       1e6 * t2, 1e6 * (sum - t1 - t2));
	if (quoit_count_failures(q, &last))
		return last.code;
	return wrong ? -EDOM : quoit_free(q, x);
}

int main(void)
{
	struct quoit_session *s;
	struct quoit_ring *q = NULL;
	char text[256];
	int err = quoit_open(NULL, &s);

	if (err) {
		fprintf(stderr, "w1_adds: %s: %s\n", quoit_strerror(err), quoit_open_text());
		return 1;
	}
	err = quoit_open_ring(s, NULL, &q);
	if (!err)
		err = where_begin(q);
	if (!err)
		err = run(q);
	if (!err)
		err = where_report(s);
	if (err)
		fprintf(stderr, "w1_adds: %s\n", quoit_strerror_wait(q, err, text, sizeof text));
	quoit_close(s, 0);
	return err != 0;
}
