/* SPDX-License-Identifier: MIT */
/* test_direct_faults.c - GPU-direct mode when consumers do not come, stop, lie or die */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "direct.h"

TestSuite(direct_faults, .timeout = 120);

/* ---- without a consumer ---- */

/* The devices' text says why there are no consumers. */
static void expect_streams_alone(const char *faults, const char *why)
{
	struct device_room r = direct_open(faults, NULL);

	direct_expect_works(&r, 100);
	cr_expect_eq(direct_device(&r).jobs_direct, 0);
	cr_expect_eq(direct_device(&r).jobs_streamed, 101);
	cr_expect(!why || room_topology_says(&r, why), "no \"%s\"", why);
	room_close(&r);
}

Test(direct_faults, goes_through_streams_where_there_are_no_consumers)
{
	expect_streams_alone("direct_open:1:ENOTSUP",
			     "no GPU-direct mode: Operation not supported");
}

Test(direct_faults, goes_through_streams_when_no_consumer_starts)
{
	expect_streams_alone("direct_start:1-:ENOMEM", NULL);
}

/* Jobs in the ring of a consumer that does not beat are neither lost nor run twice. */
static void expect_streams_behind_a_consumer(const char *faults)
{
	struct device_room r = direct_open(faults, NULL);
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_F32, 3);
	float got[3];

	cr_assert_eq(direct_run(r.d, quoit_fill(x, 1.0), NULL), 0);
	for (int round = 1; round <= 4; round++) { /* the second round finds it up, but stalled */
		cr_assert_eq(direct_run(r.d, quoit_add_scalar(x, x, 1.0), NULL), 0);
		usleep(1000);
		for (int i = 0; i < 30; i++)
			quoit_push(r.d, quoit_add_scalar(x, x, 1.0));
		cr_assert_eq(quoit_read(r.d, x, got, sizeof got), 0);
		cr_expect_eq(got[2], 1.0f + 31.0f * (float)round);
	}
	cr_expect_eq(direct_device(&r).jobs_direct, 0);
	cr_expect_eq(direct_device(&r).jobs_streamed, 1 + 4 * 31);
	cr_assert_eq(quoit_count_failures(r.d, NULL), 0);
	room_close(&r);
}

/* Then the streams have no other work, so no events are polled. */
Test(direct_faults, goes_through_streams_that_write_no_words)
{
	expect_streams_behind_a_consumer("silent,stall:1-");
}

Test(direct_faults, goes_through_streams_when_the_consumer_stops_beating)
{
	expect_streams_behind_a_consumer("stall:1-");
}

Test(direct_faults, goes_through_streams_that_are_full_now_and_then)
{
	expect_streams_behind_a_consumer("stall:1-,run:1+3:EAGAIN,signal:1+2:EAGAIN");
}

Test(direct_faults, waits_for_a_consumer_that_leaves_late)
{
	struct device_room r = direct_open("late:1-", NULL);
	quoit_tensor large;

	direct_bring_up(&r);
	for (uint32_t i = 0; i < 3; i++) {
		large = quoit_create_vector(r.d, QUOIT_F32, 100000u * (i + 1));
		cr_assert_eq(direct_run(r.d, quoit_fill(large, 1.0), NULL), 0);
		direct_expect_works(&r, 10);
	}
	room_close(&r);
}

/* ---- faults ---- */

/* A new place of the slab has old bytes of this session; it must still read as zero. */
Test(direct_faults, a_place_that_could_not_be_cleared_is_not_read)
{
	const struct quoit_shape part = {
		.dtype = QUOIT_F32, .dim = {1, 1, 1, 10}, .stride = {1, 1, 1, 1}};
	/* the first clear is that of the slab */
	struct device_room r = direct_open("clear:2:ENOMEM", NULL);
	quoit_tensor old = quoit_create_vector(r.d, QUOIT_F32, 1000), fresh, view;
	float got[1000];

	cr_assert_eq(direct_run(r.d, quoit_fill(old, 5.0), NULL), 0);
	quoit_free(r.d, old);
	fresh = quoit_create_vector(r.d, QUOIT_F32, 1000);
	view = quoit_view(r.d, fresh, &part, 0);
	cr_expect_eq(direct_run(r.d, quoit_fill(view, 1.0), NULL), -ENOMEM);
	cr_expect_eq(quoit_read(r.d, fresh, got, sizeof got), -QUOIT_EPOISON);
	cr_expect_eq(direct_run(r.d, quoit_fill(view, 1.0), NULL), 0);
	cr_expect_eq(quoit_read(r.d, fresh, got, sizeof got), -QUOIT_EPOISON);
	cr_expect_eq(direct_run(r.d, quoit_fill(fresh, 1.0), NULL), 0);
	cr_expect_eq(quoit_read(r.d, fresh, got, sizeof got), 0);
	room_close(&r);
}

/*
 * The first job of a new place misses its deadline before it is sent; the place is cleared all the
 * same.
 */
Test(direct_faults, a_place_whose_first_job_never_ran_is_zero)
{
	struct device_room r = direct_open("", NULL);
	quoit_tensor old[2], fresh, sum, much;
	float got[1000];
	quoit_job job;

	for (unsigned i = 0; i < 2; i++) {
		old[i] = quoit_create_vector(r.d, QUOIT_F32, 1000);
		cr_assert_eq(direct_run(r.d, quoit_fill(old[i], 5.0), NULL), 0);
	}
	for (unsigned i = 0; i < 2; i++)
		quoit_free(r.d, old[i]);
	fresh = quoit_create_vector(r.d, QUOIT_F32, 1000);
	sum = quoit_create_vector(r.d, QUOIT_F32, 1000);
	much = quoit_create_vector(r.q, QUOIT_F32, 1u << 20);
	cr_assert_eq(quoit_wait_all(r.q, DIRECT_PATIENCE_MS), 0);
	quoit_push(r.d, quoit_normal(much, 1, 0)); /* runs on cores; jobs behind it are not sent */
	cr_assert_eq(quoit_start(r.d,
				 quoit_with_deadline(
					 quoit_with_link(quoit_add_scalar(sum, fresh, 1.0), 1), 1),
				 &job),
		     0);
	cr_expect_eq(direct_finish(r.d, job, NULL), -ETIME);
	cr_assert_eq(quoit_read(r.d, fresh, got, sizeof got), 0);
	cr_expect(got[0] == 0.0f && got[999] == 0.0f, "%f", (double)got[0]);
	room_close(&r);
}

/* Put a job into the ring of a consumer that will never run it, and two jobs behind it. */
static void start_frozen(const struct device_room *r, quoit_tensor x, quoit_job job[3])
{
	for (int i = 0; i < DIRECT_PATIENCE_MS; i++) {
		cr_assert_eq(quoit_start(r->d, quoit_fill(x, 1.0), &job[0]), 0);
		if (quoit_wait_n(r->d, &job[0], 1, 1, 300) != 1)
			break;
		cr_assert_eq(direct_finish(r->d, job[0], NULL), 0);
	}
	for (int i = 1; i < 3; i++)
		cr_assert_eq(quoit_start(r->d, quoit_add_scalar(x, x, 1.0), &job[i]), 0);
}

static bool is_lost(int res)
{
	return res == -QUOIT_EGPUFAULT || res == -QUOIT_EPOISON;
}

Test(direct_faults, jobs_of_a_frozen_consumer_fail_by_name_and_others_go_on)
{
	struct device_room r = direct_open("freeze:1-", "--gpu-ms=1500");
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_F32, 3),
		     y = quoit_create_vector(r.d, QUOIT_F32, 3);
	quoit_job job[3];
	float got[3];

	start_frozen(&r, x, job);
	cr_expect_eq(direct_run(r.d, quoit_fill(y, 3.0), NULL), 0, "through a stream");
	cr_expect_eq(direct_finish(r.d, job[0], NULL), -ETIME);
	cr_expect(is_lost(direct_finish(r.d, job[1], NULL)));
	cr_expect(is_lost(direct_finish(r.d, job[2], NULL)));
	cr_expect_eq(direct_run(r.d, quoit_fill(x, 4.0), NULL), 0);
	cr_assert_eq(quoit_read(r.d, x, got, sizeof got), 0);
	cr_expect_eq(got[1], 4.0f);
	room_close(&r);
}

#define FLOOD_S 8 /* time limit: five times what a job may take */

/* The streams are never empty, but another session's jobs there must not excuse this job. */
Test(direct_faults, a_frozen_consumer_is_seen_beside_busy_streams)
{
	struct device_room r = direct_open("freeze:1-", "--gpu-ms=1500");
	struct quoit_session *other = direct_session(&r, false);
	struct quoit_ring *q = direct_ring(other, 1);
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_F32, 3), large;
	const time_t begin = time(NULL);
	quoit_job job[3];
	bool over = false;

	large = quoit_create_vector(q, QUOIT_F32, 1u << 18);
	/* Before the consumer comes, since new memory would have to wait for it. */
	cr_assert_eq(direct_run(q, quoit_fill(large, 1.0), NULL), 0);
	start_frozen(&r, x, job);
	while (!over && time(NULL) - begin < FLOOD_S) {
		for (int i = 0; i < 64; i++)
			quoit_push(q, quoit_add_scalar(large, large, 1.0));
		(void)!quoit_window(q, 4, DIRECT_PATIENCE_MS);
		over = quoit_wait_n(r.d, job, 1, 1, 0) == 1;
	}
	cr_assert(over, "a job had the consumer for more than %d s", FLOOD_S);
	cr_expect_eq(direct_finish(r.d, job[0], NULL), -ETIME);
	(void)quoit_close(other, QUOIT_CLOSE_CANCEL);
	room_close(&r);
}

Test(direct_faults, a_late_job_has_its_answer_at_once)
{
	struct device_room r = direct_open("freeze:1-", "--gpu-ms=1500");
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_F32, 3);
	quoit_job job[3], late;

	start_frozen(&r, x, job);
	cr_assert_eq(
		quoit_start(r.d, quoit_with_deadline(quoit_add_scalar(x, x, 1.0), 20000), &late),
		0);
	cr_expect_eq(direct_finish(r.d, late, NULL), -ETIME);
	cr_expect_neq(quoit_wait_n(r.d, job, 1, 1, 0), 1, "the others are as they were");
	room_close(&r);
}

Test(direct_faults, jobs_of_a_killed_executor_fail_by_name)
{
	struct device_room r = direct_open("freeze:1-", NULL);
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_F32, 3),
		     here = quoit_create_vector(r.q, QUOIT_F32, 3);
	pid_t executor = room_executor(&r, 0);
	struct quoit_error error = {0};
	quoit_job job[3];
	float got[3];

	start_frozen(&r, x, job);
	kill(executor, SIGKILL);
	for (int i = 0; i < 3; i++) {
		cr_expect(is_lost(direct_finish(r.d, job[i], &error)), "job %d", i);
		cr_expect(error.field == QUOIT_FIELD_DEVICE && error.value[0] == 1, "job %d", i);
	}
	(void)room_executor(&r, executor);
	cr_expect_eq(direct_run(r.q, quoit_fill(here, 1.0), NULL), 0);
	cr_expect_lt(quoit_read(r.d, x, got, sizeof got), 0);
	cr_expect_eq(direct_run(r.d, quoit_fill(x, 4.0), NULL), 0);
	cr_expect_eq(quoit_read(r.d, x, got, sizeof got), 0);
	cr_expect_eq(got[0], 4.0f);
	room_close(&r);
}

Test(direct_faults, an_executor_that_lies_is_ended)
{
	struct device_room r = direct_open("lie:1-", NULL);
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_F32, 3),
		     here = quoit_create_vector(r.q, QUOIT_F32, 3);
	pid_t executor = room_executor(&r, 0);
	int res = 0;

	for (int i = 0; i < DIRECT_PATIENCE_MS && !res; i++) {
		res = direct_run(r.d, quoit_fill(x, 1.0), NULL);
		usleep(1000);
	}
	cr_expect_eq(res, -QUOIT_EGPUFAULT);
	(void)room_executor(&r, executor);
	cr_expect_eq(direct_run(r.q, quoit_fill(here, 1.0), NULL), 0, "quoitd is as it was");
	cr_expect_eq(direct_run(r.d, quoit_fill(x, 1.0), NULL), 0);
	room_close(&r);
}
