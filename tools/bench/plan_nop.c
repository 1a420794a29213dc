/* SPDX-License-Identifier: MIT */
/* plan_nop.c - measure a job that does nothing: round trip, rate, submit side */
#include <errno.h>

#include <quoit/pause.h>

#include "bench.h"

#define FLUSH 32u /* jobs of one flush, as in quoit-peer write */

/* ---- nop ---- */

/*
 * Nanoseconds, and millions per second.  The ring has the default number of slots, as many as the
 * floor's with 256 in flight: with 1024, the SQ alone does not fit into the L1 cache of many cores.
 */
static int measure_nops(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct quoit_ring_params params = {.flags = QUOIT_RING_RAW};
	struct bench_client c;
	double start;
	int err = bench_open(b, s->cores, &params, &c);

	if (err)
		return err;
	err = bench_run_nops(c.ring, s->depth, s->count / 10);
	start = bench_now();
	if (!err)
		err = bench_run_nops(c.ring, s->depth, s->count);
	ret[0] = (bench_now() - start) * 1e9 / (double)s->count;
	ret[1] = 1e3 / ret[0];
	bench_close(&c);
	return err;
}

static const struct bench_series nop_series[] = {
	{"quoit_1", "ns", BENCH_ALL_CORES, measure_nops, 1, 200000},
	{"quoit_1_rate", "M/s"},
	{"floor_1", "ns", 0, bench_peer, .peer = {"floor", "1", "200000"}, .peer_word = "ns"},
	{"sqpoll_1", "ns", 0, bench_peer, .peer = {"sqpoll", "1", "100000"}, .peer_word = "ns"},
	{"quoit_256", "ns", BENCH_ALL_CORES, measure_nops, 256, 4000000},
	{"quoit_256_rate", "M/s"},
	{"floor_256", "M/s", 0, bench_peer, .peer = {"floor", "256", "4000000"},
	 .peer_word = "mrate"},
	{"sqpoll_256", "M/s", 0, bench_peer, .peer = {"sqpoll", "256", "1000000"},
	 .peer_word = "mrate"},
	{NULL},
};

static const struct bench_ratio nop_ratios[] = {
	{"nop_1/floor", "quoit_1", "floor_1"},
	{"nop_1/sqpoll", "quoit_1", "sqpoll_1"},
	{"nop_256_rate/floor", "quoit_256_rate", "floor_256"},
	{"nop_256_rate/sqpoll", "quoit_256_rate", "sqpoll_256"},
	{NULL},
};

const struct bench_plan bench_nop = {"nop",
				     "a job that does nothing, one at a time and 256 in flight", 15,
				     nop_series, nop_ratios};

/* ---- submit ---- */

/* Put 32 jobs into the ring, published together; only the last one gives a CQE. */
static void put_flush(struct quoit_ring *q)
{
	static const struct quoit_sqe nop = {.opcode = QUOIT_OP_NOP};

	for (unsigned i = 1; i <= FLUSH; i++) {
		struct quoit_sqe *sqe = quoit_get_sqe(q);

		*sqe = nop;
		sqe->user_data = i;
		sqe->flags = i < FLUSH ? QUOIT_SQE_QUIET : 0;
	}
	(void)quoit_flush(q);
}

/* Wait until at most `most` flushes are in flight. */
static int await_room(struct quoit_ring *q, uint64_t *in_flight, uint64_t most)
{
	while (*in_flight > most) {
		const struct quoit_cqe *cqe;
		int n = quoit_peek(q, &cqe);

		if (n < 0)
			return n;
		if (!n)
			quoit_pause();
		quoit_release(q, (unsigned)n);
		*in_flight -= (unsigned)n;
	}
	return 0;
}

/* The time between two readings of the clock with nothing in between. */
static double clock_cost(void)
{
	double least = 1;

	for (int i = 0; i < 100; i++) {
		double start = bench_now(), cost = bench_now() - start;

		least = cost < least ? cost : least;
	}
	return least;
}

static int drive_submits(struct quoit_ring *q, uint64_t flushes, uint64_t most, double *ret_spent)
{
	double clock = clock_cost();
	uint64_t in_flight = 0;
	int err = 0;

	*ret_spent = 0;
	for (uint64_t i = 0; !err && i < flushes; i++) {
		double start;

		err = await_room(q, &in_flight, most - 1);
		start = bench_now();
		put_flush(q);
		*ret_spent += bench_now() - start - clock;
		in_flight++;
	}
	return err ? err : await_room(q, &in_flight, 0);
}

static int measure_submits(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct quoit_ring_params params = {.entries = s->depth, .flags = QUOIT_RING_RAW};
	uint64_t flushes = s->count / FLUSH;
	struct bench_client c;
	double spent;
	int err = bench_open(b, s->cores, &params, &c);

	if (err)
		return err;
	err = drive_submits(c.ring, flushes / 10, s->depth / FLUSH, &spent);
	if (!err)
		err = drive_submits(c.ring, flushes, s->depth / FLUSH, &spent);
	*ret = spent * 1e9 / (double)(flushes * FLUSH);
	bench_close(&c);
	return err;
}

static const struct bench_series submit_series[] = {
	{"quoit_submit", "ns", BENCH_ALL_CORES, measure_submits, 1024, 4000000},
	{"floor_write", "ns", 0, bench_peer, .peer = {"write", "4000000"}, .peer_word = "ns"},
	{NULL},
};

static const struct bench_ratio submit_ratios[] = {
	{"submit/floor_write", "quoit_submit", "floor_write"},
	{NULL},
};

const struct bench_plan bench_submit = {"submit",
					"the submitting side's own cost of a job, 32 in each flush",
					7, submit_series, submit_ratios};
