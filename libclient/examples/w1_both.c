/* SPDX-License-Identifier: MIT */
/* w1_both.c - keep cores and a device busy at the same time (W1 g), by one program and one ring */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <quoit.h>

#include "now.h"
#include "where.h"

#define SIDE    1000u
#define SECONDS 0.3 /* how long each of the two is busy, about */

static const struct quoit_shape square = {.dtype = QUOIT_F32, .dim = {1, 1, SIDE, SIDE}};

/* A matrix a and its square b in one place. */
struct place {
	quoit_tensor a, b;
	unsigned products; /* how many products take SECONDS */
};

static int push_products(struct quoit_ring *q, const struct place *p)
{
	int err = 0;

	for (unsigned i = 0; i < p->products && !err; i++)
		err = quoit_push(q, quoit_gemm(p->b, p->a, p->a, 0, 1.0, 0.0));
	return err;
}

/* Wait for all jobs of the ring; *ret: seconds since `begin`. */
static int finish(struct quoit_ring *q, double begin, double *ret)
{
	int err = quoit_wait_all(q, QUOIT_FOREVER);
	struct quoit_error last;

	*ret = now() - begin;
	return err ? err : quoit_count_failures(q, &last) ? last.code : 0;
}

static int run_alone(struct quoit_ring *q, struct place *p, double *ret)
{
	double begin = now();
	int err = push_products(q, p);

	return err ? err : finish(q, begin, ret);
}

/* The first product loads and warms up, the second is timed. */
static int make_place(struct quoit_ring *q, unsigned device, struct place *p)
{
	double seconds;
	int err;

	p->a = quoit_create(q, &square, QUOIT_CREATE_ON(device));
	p->b = quoit_create(q, &square, QUOIT_CREATE_ON(device));
	p->products = 1;
	err = quoit_push(q, quoit_normal(p->a, 1, 0));
	if (!err)
		err = run_alone(q, p, &seconds);
	if (!err)
		err = run_alone(q, p, &seconds);
	p->products = (unsigned)(SECONDS / seconds) + 1;
	return err;
}

static int run(struct quoit_ring *q, unsigned device)
{
	struct place host, there;
	double alone[2], both, begin;
	int err = quoit_use_device(q, device); /* -ENODEV: there is no device */

	if (!err)
		err = make_place(q, 0, &host);
	if (!err)
		err = make_place(q, device, &there);
	if (!err)
		err = run_alone(q, &host, &alone[0]);
	if (!err)
		err = run_alone(q, &there, &alone[1]);
	begin = now();
	if (!err)
		err = push_products(q, &there);
	if (!err)
		err = push_products(q, &host);
	if (!err)
		err = finish(q, begin, &both);
	if (!err)
		err = where_compare(q, there.b, host.b, SIDE * SIDE, 1e-2f);
	if (!err)
		printf("g   cores alone %.3f s (%u products), device alone %.3f s (%u), at once %.3f s\n",
		       alone[0], host.products, alone[1], there.products, both);
	return err;
}

int main(void)
{
	struct quoit_session *s;
	struct quoit_ring *q = NULL;
	char text[256];
	int err = quoit_open(NULL, &s);

	if (err) {
		fprintf(stderr, "w1_both: %s: %s\n", quoit_strerror(err), quoit_open_text());
		return 1;
	}
	err = quoit_open_ring(s, NULL, &q);
	if (!err)
		err = run(q, where() ? where() : 1);
	if (!err)
		err = where_report(s);
	if (err)
		fprintf(stderr, "w1_both: %s\n", quoit_strerror_wait(q, err, text, sizeof text));
	quoit_close(s, 0);
	return err != 0;
}
