/* SPDX-License-Identifier: MIT */
/*
 * test_device_cost.c - the cost of jobs on a device in round trips: counted, not timed.
 *
 * The executor is stopped while jobs are pushed, so all requests that are there when it goes on
 * needed no answer from it.  tests/unit/test_launcher.c counts its work for each request.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit.h>
#include <quoit/stats.h>

#include "direct.h"
#include "process.h"

TestSuite(device_cost, .timeout = 60);

#define JOBS 150 /* fewer than may be in flight (limits.md) */

struct cost {
	uint64_t requests, answers;
};

static struct cost cost_now(const struct device_room *r)
{
	return (struct cost){.requests = room_count(r, QUOIT_REACTOR_EXEC_REQUESTS),
			     .answers = room_count(r, QUOIT_REACTOR_EXEC_ANSWERS)};
}

/* Counters are published now and then: wait until both have these values, or for ten seconds. */
static struct cost cost_at(const struct device_room *r, uint64_t requests, uint64_t answers)
{
	struct cost now = cost_now(r);

	for (int i = 0; i < 5000 && (now.requests < requests || now.answers < answers); i++) {
		usleep(2000);
		now = cost_now(r);
	}
	return now;
}

static void expect_cost(const struct device_room *r, uint64_t requests, uint64_t answers)
{
	struct cost now = cost_at(r, requests, answers);

	cr_expect_eq(now.requests, requests, "%lu requests", (unsigned long)now.requests);
	cr_expect_eq(now.answers, answers, "%lu answers", (unsigned long)now.answers);
}

/* Create a vector there with a number in it: the first request, answered. */
static quoit_tensor start(struct device_room *r)
{
	quoit_tensor x = quoit_create_vector(r->d, QUOIT_I64, 1);

	cr_assert_eq(quoit_push(r->d, quoit_fill_int(x, 0)), 0);
	cr_assert_eq(quoit_wait_all(r->d, 20000), 0);
	expect_cost(r, 1, 1);
	return x;
}

static void expect_number(struct device_room *r, quoit_tensor x, int64_t number)
{
	int64_t got = 0;

	cr_assert_eq(quoit_read(r->d, x, &got, sizeof got), 0);
	cr_expect_eq(got, number, "%ld", (long)got);
}

Test(device_cost, a_chain_of_jobs_is_sent_without_one_answer)
{
	struct device_room r = room_open("--gpu=soft", 64);
	pid_t executor = room_executor(&r, 0);
	quoit_tensor x = start(&r);

	process_stop(executor);
	for (int i = 0; i < JOBS; i++)
		quoit_push(r.d, quoit_add_int(x, x, 1));
	quoit_flush(r.d);
	expect_cost(&r, 1 + JOBS, 1);
	kill(executor, SIGCONT);
	cr_assert_eq(quoit_wait_all(r.d, 20000), 0);
	expect_cost(&r, 1 + JOBS, 1 + JOBS);
	expect_number(&r, x, JOBS);
	room_close(&r);
}

/* Creates cost nothing, and a free is a request without an answer. */
Test(device_cost, a_chain_through_new_tensors_is_two_requests_and_an_answer_each)
{
	struct device_room r = room_open("--gpu=soft", 64);
	quoit_tensor x = start(&r), y;

	for (int i = 0; i < JOBS; i++) {
		y = quoit_create_vector(r.d, QUOIT_I64, 1);
		quoit_push(r.d, quoit_add_int(y, x, 1));
		quoit_free(r.d, x);
		x = y;
	}
	cr_assert_eq(quoit_wait_all(r.d, 20000), 0);
	expect_cost(&r, 1 + 2 * JOBS, 1 + JOBS);
	expect_number(&r, x, JOBS);
	room_close(&r);
}

#define MARKED 8 /* small jobs that reach a stream together share a mark (launcher_stream.h) */

/* If streams cannot write words, each mark's event is polled at least once. */
Test(device_cost, events_that_are_asked_for_are_counted)
{
	struct device_room r;
	uint64_t queries;
	quoit_tensor x;

	setenv("QUOIT_SOFT_FAULTS", "silent", 1);
	r = room_open("--gpu=soft", 64);
	x = start(&r);
	for (int i = 0; i < JOBS; i++)
		quoit_push(r.d, quoit_add_int(x, x, 1));
	cr_assert_eq(quoit_wait_all(r.d, 20000), 0);
	expect_cost(&r, 1 + JOBS, 1 + JOBS);
	queries = room_count(&r, QUOIT_REACTOR_EXEC_QUERIES);
	cr_expect_geq(queries, JOBS / MARKED, "%lu", (unsigned long)queries);
	expect_number(&r, x, JOBS);
	room_close(&r);
}

Test(device_cost, a_device_that_writes_words_is_not_asked)
{
	struct device_room r = room_open("--gpu=soft", 64);

	(void)start(&r);
	cr_expect_eq(room_count(&r, QUOIT_REACTOR_EXEC_QUERIES), 0);
	room_close(&r);
}

#define FLOOD  100
#define SHARED 48 /* places of the GPU-direct ring that are not kept for newcomers */

/*
 * Jobs that are not in the ring are requests to a stream.  The test tries again if the consumer was
 * away.
 */
Test(device_cost, the_direct_ring_keeps_places_for_who_comes_new)
{
	struct device_room r = direct_open("", NULL);
	struct quoit_session *other = direct_session(&r, true);
	struct quoit_ring *q = direct_ring(other, 1);
	quoit_tensor x[FLOOD], y = quoit_create_vector(q, QUOIT_F32, 1);
	pid_t executor = room_executor(&r, 0);
	uint64_t before, sent = FLOOD;
	quoit_job job;

	cr_assert_eq(direct_run(q, quoit_fill(y, 0.0), NULL), 0);
	for (int i = 0; i < FLOOD; i++) {
		x[i] = quoit_create_vector(r.d, QUOIT_F32, 1);
		quoit_push(r.d, quoit_fill(x[i], 0.0));
	}
	cr_assert_eq(quoit_wait_all(r.d, 20000), 0);
	for (int tries = 0; tries < 20 && sent >= FLOOD; tries++) {
		usleep(250000); /* the counters have been published twice by then */
		before = cost_now(&r).requests + direct_bring_up_by(&r, x[0]);
		process_stop(executor);
		for (int i = 0; i < FLOOD; i++)
			quoit_push(r.d, quoit_fill(x[i], 1.0));
		quoit_flush(r.d);
		usleep(50000); /* quoitd has fetched all by then */
		cr_assert_eq(quoit_start(q, quoit_fill(y, 1.0), &job), 0);
		quoit_flush(q);
		usleep(50000);
		kill(executor, SIGCONT);
		cr_assert_eq(direct_finish(q, job, NULL), 0);
		cr_assert_eq(quoit_wait_all(r.d, 20000), 0);
		usleep(250000);
		sent = cost_now(&r).requests - before;
	}
	/* A GPU's consumer goes on while its process is stopped, and makes room. */
	cr_expect(room_is_soft() ? sent == FLOOD - SHARED : sent <= FLOOD - SHARED, "%lu requests",
		  (unsigned long)sent);
	quoit_close(other, 0);
	room_close(&r);
}

/* Fill 3 MiB on one device and copy them to another. */
static void expect_cost_of_copy(const char *peers, uint64_t cost)
{
	const char *options[] = {"--gpu=soft:2", "--log=error", peers, NULL};
	struct device_room r = room_open_with(options, 64);
	const struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, 1, 3u << 18}};
	quoit_tensor x, y;

	(void)start(&r);
	x = quoit_create(r.q, &shape, QUOIT_CREATE_ON(1));
	y = quoit_create(r.q, &shape, QUOIT_CREATE_ON(2));
	cr_assert_eq(quoit_push(r.q, quoit_fill(x, 1.0)), 0);
	cr_assert_eq(quoit_push(r.q, quoit_copy(y, x)), 0);
	cr_assert_eq(quoit_wait_all(r.q, 20000), 0);
	cr_expect_eq(quoit_count_failures(r.q, NULL), 0);
	expect_cost(&r, 1 + 1 + cost, 1 + 1 + cost);
	room_close(&r);
}

/* The first device names its buffer, and the second reads it. */
Test(device_cost, a_copy_between_devices_is_two_requests)
{
	expect_cost_of_copy("--gpu-peers", 2);
}

/* The first device reads each part, and the second writes it. */
Test(device_cost, a_copy_through_the_host_is_two_requests_a_part)
{
	expect_cost_of_copy("--gpu-peers=no", UINT64_C(2) * 6);
}
