/* SPDX-License-Identifier: MIT */
/* test_order.c - which jobs may run before which, and how far a failure reaches. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "client.h"

static const struct quoit_ring_params with_stamps = {.flags = QUOIT_RING_STAMPS, .entries = 1024};
static struct client c;

static void open_client(void)
{
	client_open(&c, (const char *const[]){"--blas=auto", NULL}, &with_stamps);
}

static void close_client(void)
{
	client_close(&c);
}

TestSuite(order, .init = open_client, .fini = close_client, .timeout = 120);

static quoit_job start(struct quoit_sqe sqe)
{
	return client_start(&c, sqe);
}

static struct quoit_stamps stamps_of(quoit_job job)
{
	struct quoit_stamps stamps;

	cr_assert_eq(quoit_wait_all_of(c.q, &job, 1, QUOIT_FOREVER), 1);
	cr_assert(quoit_get_job_stamps(c.q, job, &stamps));
	return stamps;
}

static int32_t read_int(quoit_tensor t)
{
	int32_t value = -1;

	cr_assert_eq(quoit_read(c.q, t, &value, sizeof value), 0);
	return value;
}

/* Make a tensor that a job has failed to write; *ret_cause: that job's user_data. */
static quoit_tensor failed_tensor(void)
{
	quoit_tensor index = quoit_create_vector(c.q, QUOIT_I32, 4),
		     x = quoit_create_vector(c.q, QUOIT_I32, 2);
	quoit_tensor out = quoit_create_vector(c.q, QUOIT_I32, 4);

	cr_assert_eq(quoit_push(c.q, quoit_fill_int(index, 2)), 0);
	cr_assert_eq(quoit_push(c.q, quoit_gather(out, x, index, 3)), 0);
	return out;
}

/* ---- data ---- */

Test(order, a_chain_runs_in_its_order)
{
	quoit_tensor t = quoit_create_vector(c.q, QUOIT_I32, 1);

	for (int i = 1; i <= 200; i++) { /* these do not commute */
		cr_assert_eq(quoit_push(c.q, quoit_mul_int(t, t, 3)), 0);
		cr_assert_eq(quoit_push(c.q, quoit_add_int(t, t, i)), 0);
	}
	uint32_t expected = 0;
	for (uint32_t i = 1; i <= 200; i++)
		expected = expected * 3 + i;
	cr_expect_eq((uint32_t)read_int(t), expected);
}

Test(order, what_does_not_fit_is_told_with_what_would)
{
	quoit_tensor from = quoit_create_vector(c.q, QUOIT_F32, 1000);
	quoit_tensor to = quoit_create_vector(c.q, QUOIT_F32, 999);
	char text[256];
	float x[999];
	int err;

	cr_assert_eq(quoit_push(c.q, quoit_add(to, from, from)), 0);
	err = quoit_read(c.q, to, x, sizeof x);
	cr_expect_lt(err, 0);
	quoit_strerror_wait(c.q, err, text, sizeof text);
	cr_expect(strstr(text, "dim 3 of tensor 1 is 1000") && strstr(text, "999"), "%s", text);
}

Test(order, jobs_on_other_bytes_do_not_wait)
{
	quoit_tensor slow = client_large(&c), quick = quoit_create_vector(c.q, QUOIT_I32, 1);
	quoit_job last, first;

	client_hold(&c, slow);
	last = start(quoit_nop(slow));
	first = start(quoit_fill_int(quick, 1));
	cr_expect_lt(stamps_of(first).end, stamps_of(last).end);
}

static quoit_tensor columns(quoit_tensor t, uint32_t rows, uint32_t width, uint32_t from)
{
	const struct quoit_shape panel = {.dtype = QUOIT_F32,
					  .dim = {1, 1, rows, width / 2},
					  .stride = {0, 0, (int32_t)width, 1}};

	return quoit_view(c.q, t, &panel, from * sizeof(float));
}

Test(order, jobs_on_other_columns_of_a_matrix_do_not_wait)
{
	enum { ROWS = 4096, WIDTH = 256 };
	quoit_tensor t = quoit_create_matrix(c.q, QUOIT_F32, ROWS, WIDTH);
	quoit_tensor left = columns(t, ROWS, WIDTH, 0), right = columns(t, ROWS, WIDTH, WIDTH / 2);
	const struct quoit_shape four = {
		.dtype = QUOIT_F32, .dim = {1, 1, 1, 4}, .stride = {0, 0, 0, 1}};
	quoit_tensor corner = quoit_view(c.q, t, &four, WIDTH / 2 * sizeof(float));
	quoit_job last, first;

	cr_assert_eq(quoit_push(c.q, quoit_fill(t, 1)), 0);
	cr_assert_eq(quoit_wait_all(c.q, QUOIT_FOREVER), 0);
	for (unsigned i = 0; i < 1000; i++) /* as client_hold */
		cr_assert_eq(quoit_push(c.q, quoit_exp(left, left)), 0);
	last = start(quoit_nop(left));
	first = start(quoit_fill(corner, 2)); /* lies between two rows of the panel */
	cr_expect_eq(quoit_wait(c.q, start(quoit_fill(right, 3)), QUOIT_FOREVER), 0);
	cr_expect_lt(stamps_of(first).end, stamps_of(last).end);
}

Test(order, a_panel_of_a_matrix_is_made_of_two_others)
{
	enum { N = 64 };
	static float x[N][4 * N];
	quoit_tensor t = quoit_create_matrix(c.q, QUOIT_F32, N, 4 * N), part[4];

	for (unsigned i = 0; i < 4; i++)
		part[i] = quoit_view(c.q, t,
				     &(struct quoit_shape){.dtype = QUOIT_F32,
							   .dim = {1, 1, N, N},
							   .stride = {0, 0, 4 * N, 1}},
				     i * N * sizeof(float));
	cr_assert_eq(quoit_push(c.q, quoit_fill(t, -1)), 0);
	cr_assert_eq(quoit_push(c.q, quoit_fill(part[0], 2)), 0);
	cr_assert_eq(quoit_push(c.q, quoit_fill(part[1], 3)), 0);
	cr_assert_eq(quoit_push(c.q, quoit_gemm(part[2], part[0], part[1], 0, 1, 0)), 0);
	cr_assert_eq(quoit_push(c.q, quoit_add(part[0], part[1], part[2])), 0);
	cr_assert_eq(quoit_read(c.q, t, x, sizeof x), 0);
	for (unsigned i = 0; i < N; i++)
		for (unsigned j = 0; j < 4 * N; j++)
			cr_assert_eq(x[i][j], ((float[]){3 + 6 * N, 3, 6 * N, -1})[j / N], "%u %u",
				     i, j);
	cr_expect_eq(quoit_count_failures(c.q, NULL), 0);
}

Test(order, a_tensor_reads_as_zeros_until_it_is_written)
{
	static int32_t zeros[5000], values[5000];

	for (unsigned round = 0; round < 8; round++) {
		quoit_tensor t = quoit_create_vector(c.q, QUOIT_I32, 5000);
		struct quoit_shape half = {.dtype = QUOIT_I32, .dim = {1, 1, 1, 2500}};
		quoit_tensor part;

		half.stride[3] = 2;
		part = quoit_view(c.q, t, &half, 0);
		cr_assert_eq(quoit_push(c.q, quoit_fill_int(part, 7)), 0);
		cr_assert_eq(quoit_read(c.q, t, values, sizeof values), 0);
		for (unsigned i = 0; i < 5000; i++)
			cr_assert_eq(values[i], i % 2 ? 0 : 7, "round %u element %u", round, i);
		/* left for the next tensor */
		cr_assert_eq(quoit_push(c.q, quoit_fill_int(t, 9)), 0);
		quoit_free(c.q, part);
		quoit_free(c.q, t);
		t = quoit_create_vector(c.q, QUOIT_I32, 5000);
		cr_assert_eq(quoit_push(c.q, quoit_copy(t, t)), 0);
		cr_assert_eq(quoit_read(c.q, t, values, sizeof values), 0);
		cr_assert_eq(memcmp(values, zeros, sizeof values), 0, "round %u", round);
		cr_assert_eq(quoit_push(c.q, quoit_fill_int(t, 9)), 0);
		quoit_free(c.q, t);
	}
}

/*
 * A tensor gets memory with old contents, and its first job fails: a reader must still see zeros.
 */
static void expect_zeros_after_failure(unsigned busy)
{
	quoit_tensor bad = failed_tensor(), out = quoit_create_vector(c.q, QUOIT_I32, 4);
	quoit_tensor slow = client_large(&c), old = quoit_create_vector(c.q, QUOIT_I32, 4), fresh;
	int32_t values[4];

	cr_assert_eq(quoit_push(c.q, quoit_fill_int(out, 1)), 0);
	cr_assert_eq(quoit_push(c.q, quoit_fill_int(old, 9)), 0);
	cr_assert_eq(quoit_push(c.q, quoit_fill(slow, 0)), 0);
	cr_assert_eq(quoit_free(c.q, old), 0);
	cr_assert_eq(quoit_wait_all(c.q, QUOIT_FOREVER), 0);
	fresh = quoit_create_vector(c.q, QUOIT_I32, 4);
	client_busy(&c, slow, busy);
	cr_assert_eq(quoit_push(c.q, quoit_nop(slow)), 0);
	cr_assert_eq(quoit_push(c.q, busy ? quoit_with_link(quoit_add(out, bad, fresh), 1)
					  : quoit_add(out, bad, fresh)),
		     0);
	cr_expect_eq(quoit_wait_tensor(c.q, out, QUOIT_FOREVER), -QUOIT_EPOISON);
	cr_assert_eq(quoit_read(c.q, fresh, values, sizeof values), 0);
	for (unsigned i = 0; i < 4; i++)
		cr_expect_eq(values[i], 0, "element %u is %d", i, values[i]);
}

Test(order, a_failed_first_job_leaves_zeros_when_it_could_run_at_once)
{
	expect_zeros_after_failure(0);
}

Test(order, a_failed_first_job_leaves_zeros_when_it_had_to_wait)
{
	expect_zeros_after_failure(5);
}

Test(order, a_freed_tensor_is_there_for_the_jobs_before)
{
	quoit_tensor slow = client_large(&c), sum = quoit_create_vector(c.q, QUOIT_F32, 1);
	float value;

	client_busy(&c, slow, 10);
	cr_assert_eq(quoit_push(c.q, quoit_fill(slow, 1.0)), 0);
	cr_assert_eq(quoit_push(c.q, quoit_sum(sum, slow, QUOIT_AXIS_ALL)), 0);
	cr_assert_eq(quoit_free(c.q, slow), 0);
	cr_assert_eq(quoit_read(c.q, sum, &value, sizeof value), 0);
	cr_expect_float_eq(value, 1048576.0f, 0.5);
}

/* ---- links and AFTER_ALL ---- */

Test(order, a_linked_job_starts_after_the_other_has_ended)
{
	quoit_tensor slow = client_large(&c), quick = quoit_create_vector(c.q, QUOIT_I32, 1);
	quoit_job a, b;

	client_busy(&c, slow, 10);
	a = start(quoit_normal(slow, 1, 0));
	b = start(quoit_with_link(quoit_fill_int(quick, 1), 1));
	cr_expect_geq(stamps_of(b).start, stamps_of(a).end);
}

Test(order, a_link_carries_no_failure_and_may_name_what_is_over)
{
	quoit_tensor t = quoit_create_vector(c.q, QUOIT_I32, 1);

	(void)failed_tensor();
	cr_expect_eq(
		quoit_wait(c.q, start(quoit_with_link(quoit_fill_int(t, 5), 1)), QUOIT_FOREVER), 0);
	cr_expect_eq(
		quoit_wait(c.q, start(quoit_with_link(quoit_fill_int(t, 6), 1000)), QUOIT_FOREVER),
		0);
	cr_expect_eq(read_int(t), 6);
}

Test(order, after_all_ends_last_of_all_before_and_holds_nobody_back)
{
	quoit_tensor t[4], quick = quoit_create_vector(c.q, QUOIT_I32, 1);
	quoit_job job[4], all, behind;

	for (unsigned i = 0; i < 4; i++) {
		t[i] = client_large(&c);
		if (i == 0)
			client_hold(&c, t[i]);
		job[i] = start(quoit_normal(t[i], i, 0));
	}
	all = start(quoit_after_all());
	behind = start(quoit_fill_int(quick, 1));
	for (unsigned i = 0; i < 4; i++)
		cr_expect_geq(stamps_of(all).end, stamps_of(job[i]).end);
	cr_expect_lt(stamps_of(behind).end, stamps_of(all).end);
	cr_expect_eq(quoit_wait(c.q, all, QUOIT_FOREVER), 0);
}

/* CQEs that are posted early give their credits back, so that credits do not limit these jobs. */
Test(order, more_late_after_all_jobs_than_the_ring_has_entries_end_all_the_same)
{
	static const struct quoit_ring_params small = {.entries = 8, .cq_entries = 8};
	struct quoit_ring *q;
	quoit_tensor slow;

	cr_assert_eq(quoit_open_ring(c.s, &small, &q), 0);
	slow = quoit_create_vector(q, QUOIT_F32, 1u << 20);
	for (unsigned i = 0; i < 6; i++)
		cr_assert_eq(quoit_push(q, quoit_normal(slow, i, 0)), 0);
	for (unsigned i = 0; i < 500; i++)
		cr_assert_eq(quoit_push(q, quoit_with_deadline(quoit_after_all(), 1)), 0);
	cr_expect_eq(quoit_wait_all(q, QUOIT_FOREVER), 0);
	cr_expect_eq(quoit_close_ring(q), 0);
}

/* ---- priorities and stamps ---- */

Test(order, an_urgent_job_is_started_before_those_that_wait)
{
	enum { JOBS = 40, LONG = 1 << 16 };
	const struct quoit_shape many = {
		.dtype = QUOIT_F32, .dim = {1, 1, CLIENT_GIANT_ROWS / 2, CLIENT_GIANT_COLUMNS}};
	quoit_tensor one = quoit_create_vector(c.q, QUOIT_F32, 1),
		     sum = quoit_create_vector(c.q, QUOIT_F32, 1);
	quoit_tensor all = quoit_view(c.q, one, &many, 0), out[JOBS + 1];
	quoit_job low[JOBS], high;
	uint64_t last = 0;

	/*
	 * They have their bytes already, which are given in the order of fetch, whatever the
	 * priority.
	 */
	for (unsigned i = 0; i <= JOBS; i++) {
		out[i] = quoit_create_vector(c.q, QUOIT_F32, LONG);
		cr_assert_eq(quoit_push(c.q, quoit_fill(out[i], 0)), 0);
	}
	cr_assert_eq(quoit_push(c.q, quoit_fill(one, 1)), 0);
	cr_assert_eq(quoit_wait_all(c.q, QUOIT_FOREVER), 0);
	/* Put them behind a long job, so that none begins before all are there. */
	cr_assert_eq(quoit_push(c.q, quoit_sum(sum, all, QUOIT_AXIS_ALL)), 0);
	for (unsigned i = 0; i < JOBS; i++)
		low[i] = start(quoit_with_link(
			quoit_with_priority(quoit_normal(out[i], i, 0), QUOIT_PRIO_LOW), i + 1));
	high = start(quoit_with_link(
		quoit_with_priority(quoit_normal(out[JOBS], 0, 0), QUOIT_PRIO_HIGH), JOBS + 1));
	for (unsigned i = 0; i < JOBS; i++)
		if (stamps_of(low[i]).start > last)
			last = stamps_of(low[i]).start;
	cr_expect_lt(stamps_of(high).start, last);
}

Test(order, stamps_go_up)
{
	quoit_tensor large = client_large(&c), small = quoit_create_vector(c.q, QUOIT_I32, 1);
	quoit_job job[] = {start(quoit_nop(0)), start(quoit_fill_int(small, 1)),
			   start(quoit_normal(large, 1, 0)), start(quoit_after_all()),
			   start(quoit_fill_int(0, 1))};

	for (unsigned i = 0; i < 5; i++) {
		struct quoit_stamps s = stamps_of(job[i]);

		cr_expect_gt(s.submit, 0, "job %u", i);
		cr_expect_leq(s.submit, s.fetch, "job %u", i);
		cr_expect_leq(s.fetch, s.start, "job %u", i);
		cr_expect_leq(s.start, s.end, "job %u", i);
		cr_expect_leq(s.end, s.post, "job %u", i);
	}
}

/* ---- failures ---- */

Test(order, who_reads_what_was_not_written_fails_with_the_first_cause_in_words)
{
	quoit_tensor bad = failed_tensor(), copy = quoit_create_vector(c.q, QUOIT_I32, 4);
	quoit_tensor again = quoit_create_vector(c.q, QUOIT_I32, 4);
	struct quoit_error error;
	struct quoit_cqe cqe = {.flags = QUOIT_CQE_ERROR};
	char text[256];
	quoit_job job;

	cr_assert_eq(quoit_push(c.q, quoit_copy(copy, bad)), 0);
	job = start(quoit_copy(again, copy));
	cqe.res = quoit_wait_all_of(c.q, &job, 1, QUOIT_FOREVER) == 1 ? quoit_get_result(c.q, job)
								      : 0;
	cr_expect_eq(cqe.res, -QUOIT_EPOISON);
	cr_assert(quoit_get_job_error(c.q, job, &error));
	cr_expect_eq(error.code, -ERANGE);
	cr_expect_eq(error.opcode, QUOIT_OP_GATHER);
	quoit_strerror_cqe(&cqe, &error, text, sizeof text);
	cr_expect(strstr(text, "gather"), "%s", text);
	cr_expect(strstr(text, "ERANGE"), "%s", text);
	cr_expect_eq(quoit_wait_tensor(c.q, copy, QUOIT_FOREVER), -QUOIT_EPOISON);
	cr_expect_eq(quoit_wait_all(c.q, QUOIT_FOREVER), 0, "waiting for all does not fail");
	cr_expect_eq(quoit_count_failures(c.q, NULL), 2, "the gather and the first copy");
}

/* A refused job never becomes a job, but its output still counts as failed. */
Test(order, who_reads_what_a_refused_job_should_have_written_fails_by_its_fault)
{
	quoit_tensor a = quoit_create_matrix(c.q, QUOIT_F32, 2, 3),
		     b = quoit_create_matrix(c.q, QUOIT_F32, 4, 2);
	quoit_tensor product = quoit_create_matrix(c.q, QUOIT_F32, 2, 2);
	struct quoit_error error;
	quoit_job job;
	float got[4];

	cr_assert_eq(quoit_push(c.q, quoit_fill(a, 1.0)), 0);
	cr_assert_eq(quoit_push(c.q, quoit_fill(b, 1.0)), 0);
	cr_assert_eq(quoit_push(c.q, quoit_gemm(product, a, b, 0, 1.0, 0.0)), 0);
	job = start(quoit_copy(b, product));
	cr_expect_eq(quoit_read(c.q, product, got, sizeof got), -QUOIT_EPOISON);
	/* of another shape, so it is refused itself */
	cr_expect_eq(quoit_get_result(c.q, job), -EINVAL);
	job = start(quoit_nop(product));
	cr_assert_eq(quoit_wait_all_of(c.q, &job, 1, QUOIT_FOREVER), 1);
	cr_expect_eq(quoit_get_result(c.q, job), -QUOIT_EPOISON);
	cr_assert(quoit_get_job_error(c.q, job, &error));
	cr_expect_eq(error.code, -EINVAL);
	cr_expect_eq(error.opcode, QUOIT_OP_GEMM);
	cr_assert_eq(quoit_push(c.q, quoit_fill(product, 2.0)), 0);
	cr_expect_eq(quoit_read(c.q, product, got, sizeof got), 0);
	cr_expect_eq(got[3], 2.0f);
}

Test(order, a_scalar_of_the_wrong_kind_fails_its_output)
{
	quoit_tensor n = quoit_create_vector(c.q, QUOIT_I32, 4),
		     x = quoit_create_vector(c.q, QUOIT_F32, 4);
	const struct quoit_sqe bad[] = {quoit_fill(n, 2.0),
					quoit_add_scalar(n, n, 1.5),
					quoit_axpby(n, 2.0, n, 3, n),
					quoit_compare_scalar(n, n, QUOIT_CMP_LT, 1.5),
					quoit_fill_int(x, 2),
					quoit_add_int(x, x, 1),
					quoit_axpby_int(x, 2, x, 3, x)};
	int32_t out[4];
	char text[200];

	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		quoit_tensor t = bad[i].tensor[0];
		int err;

		cr_assert_eq(quoit_push(c.q, bad[i]), 0);
		err = quoit_read(c.q, t, out, sizeof out);
		cr_expect_eq(err, -QUOIT_EPOISON, "%u: %d", i, err);
		quoit_strerror_wait(c.q, err, text, sizeof text);
		cr_expect(strstr(text,
				 t == n ? "its scalar is a double, but its tensors are int32"
					: "its scalar is an integer, but its tensors are float32"),
			  "%s", text);
		cr_assert_eq(quoit_push(c.q, t == n ? quoit_fill_int(n, 1) : quoit_fill(x, 1)), 0);
	}
	cr_assert_eq(quoit_push(c.q, quoit_axpby_int(n, 2, n, 3, n)), 0);
	cr_assert_eq(quoit_read(c.q, n, out, sizeof out), 0);
	cr_expect_eq(out[3], 5);
}

/* The CREATE is refused long before anyone asks, and so are jobs in between. */
Test(order, use_of_a_tensor_that_was_refused_says_why_it_was_not_made)
{
	struct quoit_shape huge = {.dtype = QUOIT_F32, .dim = {1, 1, 1u << 31, 1u << 31}},
			   row = {.dtype = QUOIT_F32, .dim = {1, 1, 1, 4}};
	quoit_tensor t = quoit_create(c.q, &huge, 0), v = quoit_view(c.q, t, &row, 0),
		     x = quoit_create_vector(c.q, QUOIT_F32, 4);
	static const char why[] = " was not made: create (job ";
	char text[256];
	float out[4];
	int err;

	cr_assert_eq(quoit_push(c.q, quoit_fill_int(x, 2)), 0); /* refused for another reason */
	cr_assert_eq(quoit_push(c.q, quoit_copy(x, v)), 0);
	err = quoit_wait_tensor(c.q, t, QUOIT_FOREVER);
	cr_expect_eq(err, -EBADF);
	quoit_strerror_wait(c.q, err, text, sizeof text);
	cr_expect(strstr(text, "tensor 0 was not made: create (job "), "%s", text);
	err = quoit_read(c.q, v, out, sizeof out);
	cr_expect_eq(err, -EBADF);
	quoit_strerror_wait(c.q, err, text, sizeof text);
	cr_expect(strstr(text, why), "the view was not made as its tensor was not: %s", text);
	err = quoit_read(c.q, x, out, sizeof out);
	cr_expect_eq(err, -QUOIT_EPOISON);
}

Test(order, use_of_no_tensor_says_why_it_was_not_made)
{
	quoit_tensor t = quoit_create_in(c.q, &(struct quoit_shape){.dim = {1, 1, 1, 4}}, &c);
	char text[256];
	quoit_job job;

	cr_assert_eq(t, QUOIT_NO_TENSOR);
	cr_assert_eq(quoit_start(c.q, quoit_fill(t, 1), &job), 0);
	cr_expect_eq(quoit_free(c.q, 7777), -EINVAL);
	cr_expect_eq(quoit_wait(c.q, job, QUOIT_FOREVER), -EBADF);
	quoit_strerror_wait(c.q, -EBADF, text, sizeof text);
	cr_expect(
		strstr(text, "tensor 0 was not made: the memory must be from the session's arena"),
		"%s", text);
}

Test(order, an_operation_that_is_switched_off_fails_its_output_too)
{
	static const char *const options[] = {"--disable=exp", NULL};
	struct client other;
	quoit_tensor x, y;
	float got[4];

	client_open(&other, options, NULL);
	x = quoit_create_vector(other.q, QUOIT_F32, 4);
	y = quoit_create_vector(other.q, QUOIT_F32, 4);
	cr_assert_eq(quoit_push(other.q, quoit_fill(x, 1.0)), 0);
	cr_assert_eq(quoit_push(other.q, quoit_fill(y, 1.0)), 0);
	cr_assert_eq(quoit_push(other.q, quoit_exp(y, x)), 0);
	cr_expect_eq(quoit_read(other.q, y, got, sizeof got), -QUOIT_EPOISON);
	client_close(&other);
}

/* Jobs that use its output already are not disturbed, and later writes are valid. */
Test(order, a_refused_job_fails_its_output_in_its_place)
{
	quoit_tensor x = client_large(&c), before = quoit_create_vector(c.q, QUOIT_F32, 1),
		     none = {0};
	quoit_job busy, first, refused, behind, last;

	client_busy(&c, x, 20);
	busy = start(quoit_nop(x));
	first = start(quoit_amax(before, x, QUOIT_AXIS_ALL));
	refused = start(quoit_copy(x, none));
	behind = start(quoit_nop(x));
	last = start(quoit_fill(x, 3.0));
	cr_assert_eq(quoit_wait_all(c.q, QUOIT_FOREVER), 0);
	cr_expect_eq(quoit_get_result(c.q, busy), 0);
	cr_expect_eq(quoit_get_result(c.q, first), 0);
	cr_expect_eq(quoit_get_result(c.q, refused), -EBADF);
	cr_expect_eq(quoit_get_result(c.q, behind), -QUOIT_EPOISON);
	cr_expect_eq(quoit_get_result(c.q, last), 0);
	cr_expect_eq(quoit_wait_tensor(c.q, x, QUOIT_FOREVER), 0);
}

Test(order, a_whole_write_ends_the_poison_and_a_part_does_not)
{
	quoit_tensor bad = failed_tensor(), half;
	struct quoit_shape shape = {.dtype = QUOIT_I32, .dim = {1, 1, 1, 2}};

	shape.stride[3] = 1;
	half = quoit_view(c.q, bad, &shape, 0);
	cr_assert_eq(quoit_push(c.q, quoit_fill_int(half, 1)), 0);
	cr_expect_eq(quoit_wait_tensor(c.q, half, QUOIT_FOREVER), -QUOIT_EPOISON);
	cr_assert_eq(quoit_push(c.q, quoit_fill_int(bad, 1)), 0);
	cr_expect_eq(quoit_wait_tensor(c.q, bad, QUOIT_FOREVER), 0);
	cr_expect_eq(quoit_wait_tensor(c.q, half, QUOIT_FOREVER), 0);
}

/* Two jobs fail to write the whole, by different operations; then one fails to write a part. */
Test(order, a_whole_write_that_fails_is_the_cause_from_then_on_and_a_part_is_not)
{
	const struct quoit_shape first = {QUOIT_F32, {1, 1, 1, 5}, {0, 0, 0, 1}};
	quoit_tensor x = quoit_create_vector(c.q, QUOIT_F32, 10),
		     wrong = quoit_create_vector(c.q, QUOIT_F32, 9);
	quoit_tensor part = quoit_view(c.q, x, &first, 0);
	const struct quoit_sqe failing[] = {quoit_exp(x, wrong), quoit_log(x, wrong),
					    quoit_sqrt(part, wrong)};
	const uint8_t cause[] = {QUOIT_OP_EXP, QUOIT_OP_LOG, QUOIT_OP_LOG};
	struct quoit_error error;

	for (unsigned i = 0; i < 3; i++) {
		cr_assert_eq(quoit_push_sqe(c.q, &failing[i]), 0);
		cr_expect_eq(quoit_wait_tensor(c.q, x, QUOIT_FOREVER), -QUOIT_EPOISON);
		cr_assert(quoit_get_wait_error(c.q, &error));
		cr_expect_eq(error.opcode, cause[i], "%u: %u", i, error.opcode);
	}
}

Test(order, a_poisoned_tensor_can_be_freed_and_its_index_used_again)
{
	for (unsigned i = 0; i < 200; i++) {
		quoit_tensor bad = failed_tensor();

		cr_assert_eq(quoit_free(c.q, bad), 0);
	}
	quoit_tensor t = quoit_create_vector(c.q, QUOIT_I32, 1);
	cr_expect_eq(read_int(t), 0);
}
