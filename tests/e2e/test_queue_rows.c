/* SPDX-License-Identifier: MIT */
/* test_queue_rows.c - many messages of a queue that one job sends, or receives */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "parties.h"

#define COLUMNS 3u

/* A matrix in which each element says where it is: 100 times its row and its column. */
static quoit_tensor matrix(struct party *p, uint32_t rows, float first)
{
	quoit_tensor t = quoit_create_matrix(p->q, QUOIT_F32, rows, COLUMNS);
	float *all = malloc(rows * COLUMNS * sizeof *all);

	cr_assert(all);
	for (unsigned i = 0; i < rows * COLUMNS; i++)
		all[i] = first + (float)(100 * (i / COLUMNS) + i % COLUMNS);
	cr_assert_eq(quoit_write(p->q, t, all, rows * COLUMNS * sizeof *all), 0);
	free(all);
	return t;
}

static void read_row(struct party *p, quoit_tensor t, uint32_t row, float ret[COLUMNS])
{
	const struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, 1, COLUMNS}};
	quoit_tensor view = quoit_view(p->q, t, &shape, row * COLUMNS * sizeof(float));

	cr_assert_eq(quoit_read(p->q, view, ret, COLUMNS * sizeof *ret), 0);
	quoit_free(p->q, view);
}

static void expect_row(struct party *p, quoit_tensor t, uint32_t row, float first)
{
	float got[COLUMNS];

	read_row(p, t, row, got);
	for (unsigned i = 0; i < COLUMNS; i++)
		cr_expect_eq(got[i], first + (float)i, "row %u: %g, not %g", row, (double)got[i],
			     (double)(first + (float)i));
}

static void expect_zeros(struct party *p, quoit_tensor t, uint32_t row)
{
	float got[COLUMNS];

	read_row(p, t, row, got);
	for (unsigned i = 0; i < COLUMNS; i++)
		cr_expect_eq(got[i], 0);
}

Test(queue_rows, each_row_can_be_received_alone)
{
	struct parties t = parties_begin_with(quoit_open_queue, NULL);
	quoit_tensor got = quoit_create_vector(t.b.q, QUOIT_F32, COLUMNS);

	cr_expect_eq(quoit_run(t.a.q, quoit_send_rows(t.a.number, matrix(&t.a, 3, 0)), SOON_MS), 0);
	for (unsigned i = 0; i < 3; i++) {
		cr_expect_eq(quoit_run(t.b.q, quoit_receive(t.b.number, got), SOON_MS), 0);
		expect_row(&t.b, got, 0, 100 * (float)i);
	}
	parties_end(&t);
}

Test(queue_rows, what_was_sent_alone_comes_in_rows_and_the_rest_becomes_zeros)
{
	struct parties t = parties_begin_with(quoit_open_queue, NULL);
	quoit_tensor row = matrix(&t.a, 1, 5), got = matrix(&t.b, 4, 7000);

	cr_expect_eq(quoit_run(t.a.q, quoit_send(t.a.number, row), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.a.q, quoit_send_rows(t.a.number, matrix(&t.a, 2, 50)), SOON_MS),
		     0);
	cr_expect_eq(quoit_run(t.b.q, quoit_receive_rows(t.b.number, got), SOON_MS), 3);
	expect_row(&t.b, got, 0, 5);
	expect_row(&t.b, got, 1, 50);
	expect_row(&t.b, got, 2, 150);
	expect_zeros(&t.b, got, 3);
	parties_end(&t);
}

Test(queue_rows, no_more_come_than_there_are_rows_for)
{
	struct parties t = parties_begin_with(quoit_open_queue, NULL);
	quoit_tensor got = matrix(&t.b, 2, 7000);

	cr_expect_eq(quoit_run(t.a.q, quoit_send_rows(t.a.number, matrix(&t.a, 3, 0)), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_receive_rows(t.b.number, got), SOON_MS), 2);
	cr_expect_eq(quoit_run(t.b.q, quoit_receive_rows(t.b.number, got), SOON_MS), 1);
	expect_row(&t.b, got, 0, 200);
	expect_zeros(&t.b, got, 1);
	parties_end(&t);
}

Test(queue_rows, they_wait_for_one_message_and_take_that)
{
	struct parties t = parties_begin_with(quoit_open_queue, NULL);
	quoit_tensor got = matrix(&t.b, 4, 7000);
	quoit_job job = party_start(&t.b, quoit_receive_rows(t.b.number, got));

	party_waits(&t.b, job);
	cr_expect_eq(quoit_run(t.a.q, quoit_send(t.a.number, matrix(&t.a, 1, 9)), SOON_MS), 0);
	cr_expect_eq(quoit_wait(t.b.q, job, SOON_MS), 1);
	expect_row(&t.b, got, 0, 9);
	expect_zeros(&t.b, got, 1);
	parties_end(&t);
}

Test(queue_rows, rows_wait_until_the_queue_has_room_for_all)
{
	const struct quoit_sync_params four = {.value = 4};
	struct parties t = parties_begin_with(quoit_open_queue, &four);
	quoit_tensor got = matrix(&t.b, 4, 7000);
	quoit_job job;

	cr_expect_eq(quoit_run(t.a.q, quoit_send_rows(t.a.number, matrix(&t.a, 2, 0)), SOON_MS), 0);
	job = party_start(&t.a, quoit_send_rows(t.a.number, matrix(&t.a, 3, 50)));
	party_waits(&t.a, job);
	cr_expect_eq(quoit_run(t.b.q, quoit_receive_rows(t.b.number, got), SOON_MS), 2);
	cr_expect_eq(quoit_wait(t.a.q, job, SOON_MS), 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_receive_rows(t.b.number, got), SOON_MS), 3);
	expect_row(&t.b, got, 2, 250);
	parties_end(&t);
}

/* ---- order ---- */

Test(queue_rows, rows_and_single_messages_of_one_ring_keep_their_order)
{
	struct parties t = parties_begin_with(quoit_open_queue, NULL);
	const struct quoit_shape one = {.dtype = QUOIT_F32, .dim = {1, 1, 1, COLUMNS}};
	quoit_tensor held = quoit_create(t.a.q, &one, QUOIT_CREATE_SHARED), got;
	quoit_job rows;

	memset(acquire(t.a.q, held, QUOIT_ACCESS_WRITE), 0, COLUMNS * sizeof(float));
	(void)party_start(&t.a, quoit_send(t.a.number, held));
	rows = party_start(&t.a, quoit_send_rows(t.a.number, matrix(&t.a, 2, 50)));
	(void)party_start(&t.a, quoit_send(t.a.number, matrix(&t.a, 1, 9)));
	party_waits(&t.a, rows);
	release(t.a.q, held);
	cr_expect_eq(quoit_wait_all(t.a.q, SOON_MS), 0);
	got = matrix(&t.b, 4, 7000);
	cr_expect_eq(quoit_run(t.b.q, quoit_receive_rows(t.b.number, got), SOON_MS), 4);
	expect_row(&t.b, got, 1, 50);
	expect_row(&t.b, got, 2, 150);
	expect_row(&t.b, got, 3, 9);
	parties_end(&t);
}

/* ---- views, and rows that are copied in parts ---- */

#define LONG_ROWS 3u
#define LONG      70001u /* elements of a row */

/* The columns of a matrix of so many, as rows. */
static quoit_tensor columns_as_rows(struct party *p, quoit_tensor t, uint32_t columns)
{
	const struct quoit_shape across = {.dtype = QUOIT_F32,
					   .dim = {1, 1, columns, LONG},
					   .stride = {1, 1, 1, (int32_t)columns}};

	return quoit_view(p->q, t, &across, 0);
}

Test(queue_rows, long_rows_of_views_arrive_whole)
{
	const struct quoit_sync_params large = {.value = LONG_ROWS, .most = 2 * MIB};
	struct parties t = parties_begin_with(quoit_open_queue, &large);
	quoit_tensor x = quoit_create_matrix(t.a.q, QUOIT_F32, LONG, LONG_ROWS), y;
	static float sent[LONG][LONG_ROWS], got[LONG][LONG_ROWS + 1]; /* one gets none */

	for (unsigned i = 0; i < LONG * LONG_ROWS; i++)
		sent[i / LONG_ROWS][i % LONG_ROWS] = (float)i;
	memset(got, 1, sizeof got);
	y = quoit_create_matrix(t.b.q, QUOIT_F32, LONG, LONG_ROWS + 1);
	cr_assert_eq(quoit_write(t.a.q, x, sent, sizeof sent), 0);
	cr_assert_eq(quoit_write(t.b.q, y, got, sizeof got), 0);
	x = columns_as_rows(&t.a, x, LONG_ROWS);
	cr_expect_eq(quoit_run(t.a.q, quoit_send_rows(t.a.number, x), SOON_MS), 0);
	cr_expect_eq(
		quoit_run(t.b.q,
			  quoit_receive_rows(t.b.number, columns_as_rows(&t.b, y, LONG_ROWS + 1)),
			  SOON_MS),
		LONG_ROWS);
	cr_assert_eq(quoit_read(t.b.q, y, got, sizeof got), 0);
	for (unsigned i = 0; i < LONG; i++) {
		cr_assert_eq(memcmp(got[i], sent[i], sizeof sent[i]), 0);
		cr_assert_eq(got[i][LONG_ROWS], 0);
	}
	parties_end(&t);
}

Test(queue_rows, as_many_rows_as_a_job_may_send_arrive)
{
	const struct quoit_sync_params large = {.value = QUOIT_MESSAGE_ROWS + 1, .most = MIB};
	const uint32_t n = QUOIT_MESSAGE_ROWS;
	struct parties t = parties_begin_with(quoit_open_queue, &large);
	quoit_tensor got = matrix(&t.b, n + 1, 7);

	cr_expect_eq(quoit_run(t.a.q, quoit_send_rows(t.a.number, matrix(&t.a, n, 0)), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.a.q, quoit_send(t.a.number, matrix(&t.a, 1, 0)), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_receive_rows(t.b.number, got), SOON_MS), (int)n);
	for (unsigned i = 0; i < n; i += 93)
		expect_row(&t.b, got, i, 100 * (float)i);
	expect_zeros(&t.b, got, n);
	parties_end(&t);
}

/* ---- what is refused ---- */

static void expect_text(struct party *p, int error, const char *words)
{
	char text[256];

	quoit_strerror_wait(p->q, error, text, sizeof text);
	cr_expect(strstr(text, words), "%s", text);
}

Test(queue_rows, more_rows_than_fit_are_refused_with_how_many_would)
{
	const struct quoit_sync_params two = {.value = 2};
	struct parties t = parties_begin_with(quoit_open_queue, &two);

	cr_expect_eq(quoit_run(t.a.q, quoit_send_rows(t.a.number, matrix(&t.a, 3, 0)), SOON_MS),
		     -EMSGSIZE);
	expect_text(&t.a, -EMSGSIZE, "has 3 rows: of this queue a job sends at most 2 at once");
	parties_end(&t);
}

Test(queue_rows, more_rows_than_a_job_may_send_are_refused)
{
	const struct quoit_sync_params many = {.value = 2 * QUOIT_MESSAGE_ROWS, .most = MIB};
	struct parties t = parties_begin_with(quoit_open_queue, &many);
	quoit_tensor rows = matrix(&t.a, QUOIT_MESSAGE_ROWS + 1, 0);

	cr_expect_eq(quoit_run(t.a.q, quoit_send_rows(t.a.number, rows), SOON_MS), -EMSGSIZE);
	expect_text(&t.a, -EMSGSIZE, "a job sends at most 1024 at once");
	parties_end(&t);
}

Test(queue_rows, what_was_late_can_be_asked_for_again)
{
	struct parties t = parties_begin_with(quoit_open_queue, NULL);
	quoit_tensor got = matrix(&t.b, 2, 7000);

	cr_expect_eq(quoit_run(t.b.q, quoit_receive_rows(t.b.number, got), SHORT_MS), -ETIME);
	cr_expect_eq(quoit_run(t.a.q, quoit_send(t.a.number, matrix(&t.a, 1, 9)), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_receive_rows(t.b.number, got), SOON_MS), 1);
	expect_row(&t.b, got, 0, 9);
	parties_end(&t);
}

Test(queue_rows, a_message_that_is_no_row_stays)
{
	struct parties t = parties_begin_with(quoit_open_queue, NULL);
	quoit_tensor got = matrix(&t.b, 4, 7000), other = quoit_create_vector(t.a.q, QUOIT_F32, 2);

	cr_expect_eq(quoit_run(t.a.q, quoit_send(t.a.number, matrix(&t.a, 1, 9)), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.a.q, quoit_send(t.a.number, other), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_receive_rows(t.b.number, got), SOON_MS), 1);
	expect_row(&t.b, got, 0, 9);
	cr_expect_eq(quoit_run(t.b.q, quoit_receive_rows(t.b.number, got), SOON_MS), -EMSGSIZE);
	expect_text(&t.b, -EMSGSIZE, "the next message has dims 1 1 1 2");
	other = quoit_create_vector(t.b.q, QUOIT_F32, 2);
	cr_expect_eq(quoit_run(t.b.q, quoit_receive(t.b.number, other), SOON_MS), 0);
	parties_end(&t);
}
