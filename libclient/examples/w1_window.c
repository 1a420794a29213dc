/* SPDX-License-Identifier: MIT */
/* w1_window.c - finish batch t before batch t + 2 starts (W1 g) */
#include <errno.h>
#include <stdio.h>

#include <quoit.h>

#include "now.h"
#include "where.h"

#define BATCHES 10
#define SIDE    1000u

/* Do cores compute the same?  Ten times the product, apart from the order of sums. */
static int compare(struct quoit_ring *q, quoit_tensor b)
{
	const struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, SIDE, SIDE}};
	quoit_tensor x = quoit_create(q, &shape, QUOIT_CREATE_ON(0));
	quoit_tensor y = quoit_create(q, &shape, QUOIT_CREATE_ON(0));

	quoit_push(q, quoit_normal(x, 1, 0));
	quoit_push(q, quoit_gemm(y, x, x, 0, BATCHES, 0.0));
	return where_compare(q, b, y, SIDE * SIDE, 1e-1f);
}

/* A window of one lets one batch run while the next one is being submitted. */
static int run(struct quoit_ring *q)
{
	quoit_tensor a = quoit_create_matrix(q, QUOIT_F32, SIDE, SIDE);
	quoit_tensor b = quoit_create_matrix(q, QUOIT_F32, SIDE, SIDE);
	quoit_job job[BATCHES];
	double begin = now();
	int err = 0;

	quoit_push(q, quoit_normal(a, 1, 0));
	for (int t = 0; t < BATCHES && !err; t++) {
		err = quoit_start(q, quoit_gemm(b, a, a, 0, 1.0, 1.0), &job[t]);
		if (!err)
			err = quoit_window(q, 1, QUOIT_FOREVER);
		if (!err && t > 0) /* the batch before has ended by now, so this does not wait */
			err = quoit_get_result(q, job[t - 1]);
	}
	if (!err)
		err = quoit_window(q, 0, QUOIT_FOREVER);
	if (!err)
		err = quoit_get_result(q, job[BATCHES - 1]);
	printf("g   %d products of 1000x1000, at most two batches open: %.3f ms\n", BATCHES,
	       1e3 * (now() - begin));
	return err ? err : compare(q, b);
}

int main(void)
{
	struct quoit_session *s;
	struct quoit_ring *q = NULL;
	char text[256];
	int err = quoit_open(NULL, &s);

	if (err) {
		fprintf(stderr, "w1_window: %s: %s\n", quoit_strerror(err), quoit_open_text());
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
		fprintf(stderr, "w1_window: %s\n", quoit_strerror_wait(q, err, text, sizeof text));
	quoit_close(s, 0);
	return err != 0;
}
