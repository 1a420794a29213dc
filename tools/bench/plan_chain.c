/* SPDX-License-Identifier: MIT */
/* plan_chain.c - workload W1e: create, add and free for each x = x + 1 on a 1x2 tensor */
#include <errno.h>

#include "bench.h"

/* a batch is 32 additions of three SQEs; two are in flight: a window of 192 SQEs */
#define BATCH 32u

/* x becomes a new tensor with x + 1. */
static int add_one(struct quoit_ring *q, quoit_tensor *x)
{
	quoit_tensor y = quoit_create_matrix(q, QUOIT_F32, 1, 2);
	int err = y ? quoit_push(q, quoit_add_scalar(y, *x, 1.0)) : -ENOSPC;

	if (!err)
		err = quoit_free(q, *x);
	*x = y;
	return err;
}

static int add_many(struct quoit_ring *q, quoit_tensor *x, uint64_t count)
{
	int err = 0;

	for (uint64_t i = 0; !err && i < count; i++) {
		err = add_one(q, x);
		if (!err && i % BATCH == BATCH - 1)
			err = quoit_window(q, 1, QUOIT_FOREVER);
	}
	return err ? err : quoit_wait_all(q, QUOIT_FOREVER);
}

int bench_additions(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct quoit_ring_params params = {.entries = 256};
	struct bench_client c;
	quoit_tensor x;
	double start;
	int err = bench_open(b, s->cores, &params, &c);

	if (err)
		return err;
	x = quoit_create_matrix(c.ring, QUOIT_F32, 1, 2);
	err = add_many(c.ring, &x, s->count / 10);
	start = bench_now();
	if (!err)
		err = add_many(c.ring, &x, s->count);
	*ret = (bench_now() - start) * 1e9 / (double)s->count;
	if (!err)
		err = bench_expect(c.ring, x, s->count + s->count / 10);
	bench_close(&c);
	return err;
}

static const struct bench_series series[] = {
	{"quoit_addition", "ns", BENCH_ALL_CORES, bench_additions, 192, 300000},
	{"floor_256", "ns", 0, bench_peer, .peer = {"floor", "256", "4000000"}, .peer_word = "ns"},
	{"numpy_addition", "ns", 0, bench_peer, .peer = {"numpy", "add"}, .peer_word = "ns"},
	{"torch_addition", "ns", 0, bench_peer, .peer = {"torch", "add"}, .peer_word = "ns"},
	{NULL},
};

static const struct bench_ratio ratios[] = {
	{"chain/floor", "quoit_addition", "floor_256"},
	{"chain/numpy", "quoit_addition", "numpy_addition"},
	{"chain/torch", "quoit_addition", "torch_addition"},
	{NULL},
};

const struct bench_plan bench_chain = {
	"chain", "x = x + 1 on a 1x2 tensor: create, add, free, 192 in flight", 5, series, ratios};
