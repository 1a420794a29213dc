/* SPDX-License-Identifier: MIT */
/* test_shares.c - how much of an executor a session gets when others flood it: counts, not times */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include <quoit.h>

#include "device.h"
#include "executor.h"

TestSuite(shares, .timeout = 120);

#define ROUNDS 15

struct flood {
	struct quoit_session *s;
	struct quoit_ring *q; /* a raw ring */
	unsigned ended;       /* jobs that were reaped */
};

/* How many of its jobs have ended by now. */
static unsigned ended(struct flood *f)
{
	const struct quoit_cqe *cqe;

	for (int n; (n = quoit_peek(f->q, &cqe)) > 0; f->ended += (unsigned)n)
		quoit_release(f->q, (unsigned)n);
	return f->ended;
}

static void await(struct flood *f, unsigned count)
{
	while (ended(f) < count)
		(void)!quoit_wait_cqe(f->q, 1000);
}

static void submit(struct flood *f, struct quoit_sqe sqe, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		house_submit(f->q, sqe, i);
}

static int compare(const void *a, const void *b)
{
	return (int)*(const unsigned *)a - (int)*(const unsigned *)b;
}

static unsigned median(unsigned *count, unsigned n)
{
	qsort(count, n, sizeof *count, compare);
	return count[n / 2];
}

/* ---- a device ---- */

/*
 * Streams for work; and the depth of one stream, in jobs of about a millisecond, since a stream
 * holds 10 ms of work (launcher_stream.h).  Without that bound the depth would be 48.
 */
#define STREAMS 4u
#define DEPTH   16u

#define TENSORS  12u
#define ELEMENTS 1000000u /* normal numbers, which take about a millisecond */
#define FLOOD    3600u

/* Start independent jobs over all streams. */
static struct flood begin_flood(const struct device_room *r, uint8_t priority)
{
	struct quoit_open_params p = {.socket = r->daemon.socket,
				      .host_bytes = UINT64_C(16) << 20,
				      .device_bytes = UINT64_C(64) << 20};
	struct quoit_ring_params params = {.flags = QUOIT_RING_RAW, .entries = 4096};
	struct flood f = {0};

	cr_assert_eq(quoit_open(&p, &f.s), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(f.s, &params, &f.q), 0);
	cr_assert_eq(quoit_use_device(f.q, 1), 0);
	for (unsigned i = 0; i < TENSORS; i++) {
		quoit_tensor x = quoit_create_vector(f.q, QUOIT_F32, ELEMENTS);

		submit(&f, quoit_with_priority(quoit_normal(x, i, 0), priority), FLOOD / TENSORS);
	}
	return f;
}

/* How many of the flood's jobs end while one job of ours is open. */
static unsigned overtaken(struct flood *f, struct quoit_ring *q, struct quoit_sqe sqe)
{
	unsigned before = ended(f);
	quoit_job job;

	cr_assert_eq(quoit_start(q, sqe, &job), 0);
	cr_assert_eq(quoit_wait(q, job, 20000), 0);
	return ended(f) - before;
}

static unsigned overtaken_mostly(uint8_t ours, uint8_t theirs)
{
	struct device_room r = room_open("--gpu=soft", 64);
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_F32, 10);
	struct quoit_sqe sqe = quoit_with_priority(quoit_fill(x, 1.0), ours);
	unsigned count[ROUNDS];
	struct flood f;
	quoit_job job;

	cr_assert_eq(quoit_start(r.d, sqe, &job), 0);
	cr_assert_eq(quoit_wait(r.d, job, 20000), 0);
	f = begin_flood(&r, theirs);
	await(&f, 1);
	for (unsigned i = 0; i < ROUNDS; i++)
		count[i] = overtaken(&f, r.d, sqe);
	cr_assert_lt(ended(&f), FLOOD, "it was no flood");
	quoit_close(f.s, QUOIT_CLOSE_CANCEL);
	room_close(&r);
	return median(count, ROUNDS);
}

/* Our job's stream has DEPTH jobs before it; meanwhile the other streams go on. */
Test(shares, a_flood_on_a_device_keeps_others_waiting_for_what_is_in_streams_alone)
{
	unsigned n = overtaken_mostly(QUOIT_PRIO_NORMAL, QUOIT_PRIO_NORMAL);

	cr_expect_leq(n, 2 * STREAMS * DEPTH, "%u", n);
}

Test(shares, an_urgent_job_is_not_behind_a_flood_of_others)
{
	unsigned n = overtaken_mostly(QUOIT_PRIO_HIGH, QUOIT_PRIO_NORMAL);

	cr_expect_leq(n, DEPTH, "%u", n);
}

/* ---- a module ---- */

#define MODULE_FLIGHTS 8u
#define CROWD          8u

/* All sessions together may have as much in flight in a module as a single one. */
Test(shares, many_floods_in_a_module_are_no_longer_than_one)
{
	const char *build = getenv("QUOIT_BUILD");
	char module[PATH_MAX];
	const char *options[] = {module, "--log=error", "--reactors=1", NULL};
	struct flood f[CROWD] = {0};
	unsigned count[ROUNDS];
	struct house h = {0};

	snprintf(module, sizeof module, "--module=%s/modules/sample.so", build ? build : "build");
	cr_assert_eq(daemon_start(&h.d, options), 0);
	house_visit(&h, &h.s, &h.q);
	h.sleep = quoit_find_op(h.s, "sample_sleep");
	for (unsigned i = 0; i < CROWD; i++) {
		house_visit(&h, &f[i].s, &f[i].q);
		submit(&f[i], house_nap(&h, QUOIT_NO_TENSOR, 1, SLEEP_WELL), 200);
	}
	for (unsigned i = 0; i < CROWD; i++)
		await(&f[i], MODULE_FLIGHTS);
	for (unsigned i = 0; i < ROUNDS; i++) {
		count[i] = 0;
		for (unsigned k = 0; k < CROWD; k++)
			count[i] -= ended(&f[k]);
		cr_assert_eq(house_run(h.q, house_nap(&h, QUOIT_NO_TENSOR, 0, SLEEP_WELL)), 0);
		for (unsigned k = 0; k < CROWD; k++)
			count[i] += ended(&f[k]);
	}
	cr_expect_leq(median(count, ROUNDS), 2 * MODULE_FLIGHTS, "%u", median(count, ROUNDS));
	for (unsigned i = 0; i < CROWD; i++)
		quoit_close(f[i].s, QUOIT_CLOSE_CANCEL);
	house_close(&h);
}
