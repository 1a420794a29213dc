/* SPDX-License-Identifier: MIT */
/*
 * test_line.c - long jobs that wait for each other, one behind the other with the workers: their
 * order and their ends are those of jobs that start one by one
 */
#include <errno.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit.h>
#include <quoit/stats.h>

#include "client.h"

#define ROWS    4096u
#define COLUMNS 256u
#define JOBS    60u
#define BAD     (-1)

static struct client c;

static void begin(void)
{
	client_open(&c, NULL, NULL);
}

static void end(void)
{
	client_close(&c);
}

TestSuite(line, .init = begin, .fini = end, .timeout = 300);

/* A matrix that takes workers a fraction of a millisecond, full of `value`. */
static quoit_tensor matrix(double value)
{
	quoit_tensor t = quoit_create_matrix(c.q, QUOIT_F32, ROWS, COLUMNS);

	cr_assert_eq(quoit_push(c.q, quoit_fill(t, value)), 0);
	return t;
}

static void expect_all(quoit_tensor t, float value)
{
	static float all[ROWS * COLUMNS];

	cr_assert_eq(quoit_read(c.q, t, all, sizeof all), 0);
	for (unsigned i = 0; i < ROWS * COLUMNS; i++)
		cr_assert_float_eq(all[i], value, 0, "element %u is %g", i, all[i]);
}

Test(line, each_begins_when_the_one_ahead_has_ended)
{
	quoit_tensor x = matrix(0), one = matrix(1);

	for (unsigned i = 0; i < JOBS; i++)
		cr_assert_eq(quoit_push(c.q, quoit_add(x, x, one)), 0);
	expect_all(x, JOBS);
}

/* One writes what the next one reads, in a ring of three tensors. */
Test(line, what_one_has_written_the_next_one_reads)
{
	quoit_tensor t[3] = {matrix(1), matrix(0), matrix(0)}, one = matrix(1);

	for (unsigned i = 0; i < JOBS; i++)
		cr_assert_eq(quoit_push(c.q, quoit_add(t[(i + 1) % 3], t[i % 3], one)), 0);
	expect_all(t[JOBS % 3], JOBS + 1);
}

/* Row numbers of which the last one does not exist. */
static quoit_tensor bad_rows(void)
{
	static int32_t row[ROWS];
	quoit_tensor index = quoit_create_vector(c.q, QUOIT_I32, ROWS);

	for (unsigned i = 0; i < ROWS; i++)
		row[i] = i == ROWS - 1 ? BAD : 0;
	cr_assert_eq(quoit_write(c.q, index, row, sizeof row), 0);
	return index;
}

/* Start gathering such rows of x into `out`. */
static quoit_job start_bad(quoit_tensor out, quoit_tensor x)
{
	quoit_tensor index = bad_rows();
	quoit_job job = client_start(&c, quoit_gather(out, x, index, 2));

	quoit_free(c.q, index);
	return job;
}

static void expect_poison(quoit_job job)
{
	struct quoit_error error = {0};

	cr_expect_eq(quoit_get_result(c.q, job), -QUOIT_EPOISON);
	cr_expect(quoit_get_job_error(c.q, job, &error));
	cr_expect_eq(error.code, -ERANGE, "the first cause is told: %d", error.code);
	quoit_detach(c.q, job);
}

Test(line, behind_one_that_fails_they_are_poisoned_by_it)
{
	quoit_tensor x = matrix(1), y = matrix(0);

	for (unsigned tries = 0; tries < 100; tries++) {
		quoit_job bad = start_bad(y, x), behind[3];

		for (unsigned i = 0; i < 3; i++)
			behind[i] = client_start(&c, quoit_add(y, y, x));
		cr_expect_eq(quoit_wait_all(c.q, QUOIT_FOREVER), 0);
		cr_expect_eq(quoit_get_result(c.q, bad), -ERANGE);
		for (unsigned i = 0; i < 3; i++)
			expect_poison(behind[i]);
		quoit_detach(c.q, bad);
		cr_assert_eq(quoit_push(c.q, quoit_fill(y, 0)), 0);
	}
	expect_all(y, 0);
}

/* It is looked at while poison is there that the job ahead overwrites. */
Test(line, one_that_fails_by_itself_has_a_record_of_its_own)
{
	quoit_tensor x = matrix(1), t = matrix(0), y = matrix(0), index = bad_rows();
	struct quoit_sqe poison = quoit_with_deadline(quoit_add(t, t, x), 1);
	struct quoit_error error = {0};
	quoit_job late, job;

	client_hold(&c, x);
	late = client_start(&c, poison);
	cr_expect_eq(quoit_wait(c.q, late, QUOIT_FOREVER), -ETIME);
	cr_assert_eq(quoit_push(c.q, quoit_add(t, x, x)), 0);
	job = client_start(&c, quoit_gather(y, t, index, 2));
	cr_expect_eq(quoit_wait_all(c.q, QUOIT_FOREVER), 0);
	cr_expect_eq(quoit_get_result(c.q, job), -ERANGE);
	cr_expect(quoit_get_job_error(c.q, job, &error));
	cr_expect_eq(error.code, -ERANGE, "%d", error.code);
}

/* ---- taken out of the line ---- */

static uint64_t figure(unsigned counter)
{
	struct quoit_info info;

	quoit_get_info(c.s, &info);
	return daemon_session_counter(&c.d, info.session, counter);
}

/*
 * Start a job that takes hundreds of milliseconds, and one that reads its result; false: the first
 * had ended before it was seen to run.
 */
static bool try_two(quoit_tensor out, uint32_t deadline_us, quoit_job ret[2])
{
	const struct quoit_shape wide = {
		.dtype = QUOIT_F32, .dim = {1, 1, ROWS, COLUMNS}, .stride = {1}};
	struct quoit_sqe giant = client_giant(&c), copy;

	copy = quoit_copy(out, quoit_view(c.q, giant.tensor[0], &wide, 0));
	while (figure(QUOIT_SESSION_RUNNING)) /* quoitd may still show the jobs before */
		usleep(1000);
	ret[0] = client_start(&c, giant);
	ret[1] = client_start(&c, deadline_us ? quoit_with_deadline(copy, deadline_us) : copy);
	cr_assert_eq(quoit_flush(c.q), 0);
	while (quoit_get_result(c.q, ret[0]) == -EINPROGRESS) {
		if (figure(QUOIT_SESSION_RUNNING) == 1 &&
		    (deadline_us || figure(QUOIT_SESSION_WAIT_DATA) == 1))
			return true;
		usleep(1000);
	}
	for (unsigned i = 0; i < 2; i++)
		(void)!quoit_wait(c.q, ret[i], QUOIT_FOREVER);
	return false;
}

/* The second one waits for the first, which runs. */
static void start_two(uint32_t deadline_us, quoit_job ret[2])
{
	quoit_tensor out = matrix(0);

	cr_assert_eq(quoit_wait_tensor(c.q, out, QUOIT_FOREVER), 0);
	while (!try_two(out, deadline_us, ret))
		;
}

Test(line, one_that_waits_there_can_be_cancelled)
{
	quoit_job job[2];

	start_two(0, job);
	cr_expect_eq(quoit_cancel(c.q, job[0]), -EALREADY);
	cr_expect_eq(quoit_cancel(c.q, job[1]), 0);
	cr_expect_eq(quoit_wait(c.q, job[1], QUOIT_FOREVER), -ECANCELED);
	cr_expect_eq(quoit_wait(c.q, job[0], QUOIT_FOREVER), 0);
}

Test(line, one_with_a_deadline_is_late_while_it_waits)
{
	quoit_job job[2];

	start_two(1000, job);
	cr_expect_eq(quoit_wait(c.q, job[1], QUOIT_FOREVER), -ETIME);
	cr_expect_eq(quoit_get_result(c.q, job[0]), -EINPROGRESS);
	cr_expect_eq(quoit_wait(c.q, job[0], QUOIT_FOREVER), 0);
}

Test(line, a_session_that_ends_takes_them_along)
{
	struct quoit_session *other = c.s;
	quoit_job job[2];

	start_two(0, job);
	c.s = client_session(&c, UINT64_C(64) << 20);
	cr_expect_eq(quoit_close(other, QUOIT_CLOSE_CANCEL), 0);
	cr_assert_eq(quoit_open_ring(c.s, NULL, &c.q), 0);
	expect_all(matrix(1), 1);
}
