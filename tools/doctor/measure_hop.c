/* SPDX-License-Identifier: MIT */
/* measure_hop.c - measure one way through a ring between two CPUs */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <quoit/pause.h>

#include "bench/bench.h"
#include "measure.h"

#define LINE    64
#define SLOTS   256u
#define ROUNDS  21
#define TRIPS   2000u
#define ROUND_S 0.02 /* a round ends after this time, with fewer trips if they are slow */
#define STOP    UINT64_MAX
#define SPINS   4096u /* between two looks at the clock */

/* Only the ring's tails, each on a line of its own; requests are as large as Quoit's. */
struct hop {
	_Alignas(LINE) uint64_t request_tail;
	_Alignas(LINE) uint64_t reply_tail;
	_Alignas(LINE) uint64_t request[SLOTS][8];
	double until; /* both threads give up at this time */
	double round_ns[ROUNDS];
	bool late;
};

/* STOP: the time is over; the other CPU may not run its thread at all. */
static uint64_t await_change(const uint64_t *word, uint64_t old, double until)
{
	uint64_t value;
	unsigned spins = 0;

	while ((value = __atomic_load_n(word, __ATOMIC_ACQUIRE)) == old) {
		if (++spins % SPINS == 0 && bench_now() > until)
			return STOP;
		quoit_pause();
	}
	return value;
}

/* Answers each request as soon as it sees it. */
static void answer(void *arg)
{
	struct hop *h = arg;
	uint64_t tail = 0, sum = 0;

	while ((tail = await_change(&h->request_tail, tail, h->until)) != STOP) {
		sum += h->request[tail % SLOTS][0];
		/* The sum is always that of 1 to tail, which proves that the request was read. */
		__atomic_store_n(&h->reply_tail, sum == tail * (tail + 1) / 2 ? tail : STOP - 1,
				 __ATOMIC_RELEASE);
	}
}

static uint64_t one_trip(struct hop *h, uint64_t tail)
{
	for (unsigned i = 0; i < 8; i++)
		h->request[tail % SLOTS][i] = tail;
	__atomic_store_n(&h->request_tail, tail, __ATOMIC_RELEASE);
	return await_change(&h->reply_tail, tail - 1, h->until);
}

/* False: an answer came too late. */
static bool ask_for_a_round(struct hop *h, uint64_t *tail, double *ret_ns)
{
	double start = bench_now(), now = start;
	unsigned trips = 0;

	while (trips < TRIPS && now - start < ROUND_S) {
		for (unsigned i = 0; i < 4; i++)
			if (one_trip(h, ++*tail) == STOP)
				return false;
		trips += 4;
		now = bench_now();
	}
	*ret_ns = (now - start) * 1e9 / trips / 2;
	return true;
}

static void ask(void *arg)
{
	struct hop *h = arg;
	uint64_t tail = 0;

	for (unsigned round = 0; round < ROUNDS && !h->late; round++)
		h->late = bench_now() > h->until || !ask_for_a_round(h, &tail, &h->round_ns[round]);
	__atomic_store_n(&h->request_tail, STOP, __ATOMIC_RELEASE);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int measure_hop(unsigned from, unsigned to, double *ret_ns)
{
	struct hop *h = aligned_alloc(LINE, sizeof *h);
	void *asker = NULL, *answerer = NULL;
	int err = h ? 0 : -ENOMEM;
	bool ended;

	if (h)
		*h = (struct hop){.until = bench_now() + MEASURE_MOST_S};
	if (!err)
		err = measure_start(to, answer, h, &answerer);
	if (!err)
		err = measure_start(from, ask, h, &asker);
	if (err && answerer)
		__atomic_store_n(&h->request_tail, STOP, __ATOMIC_RELEASE);
	ended = measure_join(asker);
	ended = measure_join(answerer) && ended;
	if (!ended)
		return -ETIMEDOUT; /* the threads may still use `h` */
	if (!err && h->late)
		err = -ETIMEDOUT;
	if (!err) {
		qsort(h->round_ns, ROUNDS, sizeof h->round_ns[0], by_value);
		*ret_ns = h->round_ns[ROUNDS / 2];
	}
	free(h);
	return err;
}
