/* SPDX-License-Identifier: MIT */
/* test_wait.c - waiting, timing out, cancelling, deadlines, and a program's epoll loop. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "client.h"

static struct client c;

static void open_client(void)
{
	client_open(&c, NULL, NULL);
}

static void close_client(void)
{
	client_close(&c);
}

TestSuite(wait, .init = open_client, .fini = close_client, .timeout = 120);

static quoit_job start(struct quoit_sqe sqe)
{
	return client_start(&c, sqe);
}

/* ---- waiting ---- */

Test(wait, a_job_that_has_not_ended_in_time_stays_valid)
{
	quoit_tensor slow = client_large(&c);
	quoit_job job;

	client_hold(&c, slow);
	job = start(quoit_nop(slow));
	cr_expect_eq(quoit_wait(c.q, job, 0), -ETIME);
	cr_expect_eq(quoit_get_result(c.q, job), -EINPROGRESS);
	cr_expect_eq(quoit_wait(c.q, job, QUOIT_FOREVER), 0);
	cr_expect_eq(quoit_wait(c.q, job, QUOIT_FOREVER), -EINVAL, "its slot is free now");
}

Test(wait, any_comes_before_all)
{
	quoit_tensor slow = client_large(&c);
	quoit_job jobs[3];

	client_hold(&c, slow);
	jobs[0] = start(quoit_nop(slow));
	jobs[1] = start(quoit_nop(0));
	jobs[2] = start(quoit_nop(0));
	cr_expect_geq(quoit_wait_any(c.q, jobs, 3, QUOIT_FOREVER), 1);
	cr_expect_eq(quoit_wait_n(c.q, jobs, 3, 2, QUOIT_FOREVER), 2);
	cr_expect_eq(quoit_get_result(c.q, jobs[0]), -EINPROGRESS);
	cr_expect_eq(quoit_wait_n(c.q, jobs, 3, 3, 0), -ETIME);
	cr_expect_eq(quoit_wait_all_of(c.q, jobs, 3, QUOIT_FOREVER), 3);
	for (unsigned i = 0; i < 3; i++)
		cr_expect_eq(quoit_wait(c.q, jobs[i], 0), 0);
}

/* How many of these have not ended; each of them waits for the one before. */
static unsigned in_flight(const quoit_job *batch, unsigned count)
{
	unsigned open = 0;

	while (open < count && quoit_get_result(c.q, batch[count - 1 - open]) == -EINPROGRESS)
		open++;
	return open;
}

Test(wait, a_window_keeps_so_many_batches_in_flight)
{
	enum { BATCHES = 20, WIDTH = 3 };
	quoit_tensor slow = client_large(&c);
	quoit_job batch[BATCHES];

	client_hold(&c, slow); /* the first one takes long */
	for (unsigned i = 0; i < BATCHES; i++) {
		client_busy(&c, slow, 2);
		batch[i] = start(quoit_nop(slow));
		if (i < WIDTH)
			cr_expect_eq(quoit_window(c.q, WIDTH, 0), 0, "nothing to wait for");
		else
			cr_assert_eq(quoit_window(c.q, WIDTH, QUOIT_FOREVER), 0);
		cr_expect_leq(in_flight(batch, i + 1), WIDTH, "batch %u", i);
	}
	cr_expect_eq(quoit_window(c.q, 0, QUOIT_FOREVER), 0);
	cr_expect_eq(in_flight(batch, BATCHES), 0);
	cr_expect_neq(quoit_wait_tensor(c.q, slow, 0), -EINVAL);
	cr_expect_eq(quoit_window(c.q, QUOIT_MAX_WINDOW + 1, 0), -EINVAL);
}

Test(wait, a_detached_job_is_forgotten_and_its_failure_counted)
{
	quoit_tensor t = quoit_create_vector(c.q, QUOIT_I32, 4);
	struct quoit_error last;

	for (unsigned i = 0; i < 1000; i++) {
		quoit_detach(c.q, start(quoit_fill_int(t, i)));
		if (i % 100 == 0) /* the job table has 256 slots */
			cr_assert_eq(quoit_wait_all(c.q, QUOIT_FOREVER), 0);
	}
	quoit_detach(c.q, start(quoit_gather(t, t, t, 3))); /* overlaps: refused */
	cr_expect_eq(quoit_wait_all(c.q, QUOIT_FOREVER), 0);
	cr_expect_eq(quoit_count_failures(c.q, &last), 1);
	cr_expect_eq(last.code, -EINVAL);
	cr_expect_eq(last.opcode, QUOIT_OP_GATHER);
}

Test(wait, quiet_jobs_of_a_raw_ring_are_heard_only_when_they_fail)
{
	static const struct quoit_ring_params raw = {.flags = QUOIT_RING_RAW, .entries = 64};
	const struct quoit_cqe *cqe;
	struct quoit_ring *q;

	cr_assert_eq(quoit_open_ring(c.s, &raw, &q), 0);
	for (unsigned i = 0; i < 50; i++) {
		struct quoit_sqe sqe = i == 20 ? quoit_copy(1, 2) : quoit_nop(0);

		sqe.user_data = i;
		sqe.flags = QUOIT_SQE_QUIET;
		*quoit_get_sqe(q) = sqe;
	}
	*quoit_get_sqe(q) = quoit_after_all();
	cr_assert_eq(quoit_wait_cqe(q, QUOIT_FOREVER), 0);
	cr_assert_gt(quoit_peek(q, &cqe), 0);
	cr_expect_eq(cqe->user_data, 20);
	cr_expect_eq(cqe->res, -EBADF);
	cr_expect_eq(quoit_get_error(q, 0)->field, QUOIT_FIELD_TENSOR0);
	quoit_release(q, 1);
	cr_assert_eq(quoit_wait_cqe(q, QUOIT_FOREVER), 0);
	cr_assert_eq(quoit_peek(q, &cqe), 1);
	cr_expect_eq(cqe->res, 0, "the NOP after all");
	quoit_release(q, 1);
	cr_expect_eq(quoit_close_ring(q), 0);
}

Test(wait, a_full_raw_ring_says_so_and_takes_more_after_a_reap)
{
	static const struct quoit_ring_params raw = {
		.flags = QUOIT_RING_RAW, .entries = 8, .cq_entries = 8};
	const struct quoit_cqe *cqe;
	struct quoit_ring *q;
	unsigned put = 0, got = 0;
	struct quoit_sqe *slot;

	cr_assert_eq(quoit_open_ring(c.s, &raw, &q), 0);
	while (got < 1000) {
		while (put < 1000 && (slot = quoit_get_sqe(q)) != NULL) {
			*slot = quoit_nop(0);
			slot->user_data = put++;
		}
		cr_assert_leq(put - got, 16, "at most the SQ and the CQ are full");
		cr_assert_eq(quoit_wait_cqe(q, QUOIT_FOREVER), 0);
		for (int n = quoit_peek(q, &cqe); n > 0; n--, got++) {
			cr_assert_eq(quoit_get_cqe(q, 0)->user_data, got);
			quoit_release(q, 1);
		}
	}
	cr_expect_eq(quoit_close_ring(q), 0);
}

/* ---- cancelling ---- */

Test(wait, a_queued_job_is_cancelled_and_its_readers_fail)
{
	quoit_tensor slow = client_large(&c), copy = client_large(&c);
	quoit_job victim, reader;
	struct quoit_error error;

	client_hold(&c, slow);
	victim = start(quoit_copy(copy, slow));
	reader = start(quoit_nop(copy));
	cr_expect_eq(quoit_cancel(c.q, victim), 0);
	cr_expect_eq(quoit_wait(c.q, victim, QUOIT_FOREVER), -ECANCELED);
	cr_expect_eq(quoit_wait_all_of(c.q, &reader, 1, QUOIT_FOREVER), 1);
	cr_expect_eq(quoit_get_result(c.q, reader), -QUOIT_EPOISON);
	cr_assert(quoit_get_job_error(c.q, reader, &error));
	cr_expect_eq(error.code, -ECANCELED);
	cr_expect_eq(quoit_wait_tensor(c.q, slow, QUOIT_FOREVER), 0);
}

Test(wait, what_has_ended_cannot_be_cancelled)
{
	quoit_job job = start(quoit_nop(0));

	cr_assert_eq(quoit_wait_all_of(c.q, &job, 1, QUOIT_FOREVER), 1);
	cr_expect_eq(quoit_cancel(c.q, job), -EALREADY);
	cr_expect_eq(quoit_wait(c.q, job, 0), 0);
	cr_expect_eq(quoit_cancel(c.q, job), -EINVAL);
}

Test(wait, the_answer_to_a_cancel_says_how_the_job_ends)
{
	quoit_tensor t[4];
	quoit_job job[200];
	int answer[200];

	for (unsigned i = 0; i < 4; i++)
		t[i] = client_large(&c);
	for (unsigned i = 0; i < 200; i++)
		job[i] = start(quoit_normal(t[i % 4], i, 0));
	for (unsigned i = 0; i < 200; i += 3)
		answer[i] = quoit_cancel(c.q, job[i]);
	for (unsigned i = 0; i < 200; i++) {
		int res = quoit_wait(c.q, job[i], QUOIT_FOREVER);

		if (i % 3)
			cr_expect_eq(res, 0);
		else
			cr_expect_eq(res, answer[i] == 0 ? -ECANCELED : 0, "job %u: %d after %d", i,
				     res, answer[i]);
	}
}

/* ---- deadlines ---- */

Test(wait, a_job_that_cannot_start_in_time_ends_before_those_it_waits_for)
{
	quoit_tensor slow = client_large(&c), copy = client_large(&c);
	quoit_job late, last;

	client_hold(&c, slow);
	late = start(quoit_with_deadline(quoit_copy(copy, slow), 500));
	last = start(quoit_nop(slow));
	cr_expect_eq(quoit_wait(c.q, late, QUOIT_FOREVER), -ETIME);
	cr_expect_eq(quoit_get_result(c.q, last), -EINPROGRESS);
	cr_expect_eq(quoit_wait_tensor(c.q, copy, QUOIT_FOREVER), -QUOIT_EPOISON);
	cr_expect_eq(quoit_wait(c.q, last, QUOIT_FOREVER), 0);
}

Test(wait, a_deadline_that_is_kept_changes_nothing)
{
	quoit_tensor t = client_large(&c);

	cr_expect_eq(quoit_wait(c.q, start(quoit_with_deadline(quoit_fill(t, 1), UINT32_MAX)),
				QUOIT_FOREVER),
		     0);
	cr_expect_eq(quoit_wait_tensor(c.q, t, QUOIT_FOREVER), 0);
}

/* ---- a program's epoll loop ---- */

static bool readable(struct quoit_ring *q, int timeout_ms)
{
	struct pollfd p = {.fd = quoit_get_fd(q), .events = POLLIN};

	return poll(&p, 1, timeout_ms) == 1 && p.revents & POLLIN;
}

Test(wait, an_armed_descriptor_becomes_readable_at_the_next_completion)
{
	static const struct quoit_ring_params raw = {.flags = QUOIT_RING_RAW};
	const struct quoit_cqe *cqe;
	struct quoit_ring *q;

	cr_assert_eq(quoit_open_ring(c.s, &raw, &q), 0);
	for (unsigned i = 0; i < 100; i++) {
		cr_assert_eq(quoit_arm(q), 0);
		cr_assert_not(readable(q, 0), "nothing was submitted");
		*quoit_get_sqe(q) = quoit_nop(0);
		cr_assert_eq(quoit_flush(q), 0);
		cr_assert(readable(q, -1));
		cr_assert_eq(quoit_peek(q, &cqe), 1);
		cr_assert_eq(quoit_arm(q), 1, "there is something to reap");
		quoit_release(q, 1);
	}
	cr_expect_eq(quoit_close_ring(q), 0);
}
