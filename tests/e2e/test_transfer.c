/* SPDX-License-Identifier: MIT */
/* test_transfer.c - quoit_write and quoit_read keep the bytes of any shape and size. */
#include <errno.h>
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

TestSuite(transfer, .init = open_client, .fini = close_client, .timeout = 120);

static const uint8_t element_bytes[] = {[QUOIT_F32] = 4, [QUOIT_F64] = 8,  [QUOIT_I32] = 4,
					[QUOIT_I64] = 8, [QUOIT_BF16] = 2, [QUOIT_F16] = 2};

static size_t bytes_of(const struct quoit_shape *shape)
{
	size_t bytes = element_bytes[shape->dtype];

	for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++)
		bytes *= shape->dim[d];
	return bytes;
}

static uint8_t *pattern(size_t bytes, uint32_t seed)
{
	uint8_t *p = malloc(bytes + 1);

	for (size_t i = 0; i < bytes; i++) {
		seed = seed * 1664525 + 1013904223;
		p[i] = (uint8_t)(seed >> 24);
	}
	return p;
}

/*
 * Larger tensors go in pieces: the arena is an eighth of the lease, and a piece takes at most 1/32
 * of the arena.
 */
static const struct quoit_shape shapes[] = {
	{QUOIT_F32, {1, 1, 1, 1}, {0}},       {QUOIT_I64, {1, 1, 1, 1}, {0}},
	{QUOIT_I32, {1, 1, 1, 0}, {0}},       {QUOIT_F64, {1, 2, 0, 4}, {0}},
	{QUOIT_F32, {2, 3, 4, 5}, {0}},       {QUOIT_F64, {7, 1, 1, 3}, {0}},
	{QUOIT_I32, {1, 1, 1000, 1000}, {0}}, {QUOIT_I32, {1, 1, 1, 3000001}, {0}},
	{QUOIT_F32, {1, 1, 3000001, 1}, {0}}, {QUOIT_F64, {3, 1, 700, 701}, {0}},
	{QUOIT_I32, {1, 3, 1, 1000003}, {0}}, {QUOIT_I32, {5, 7, 11, 1300}, {0}},
	{QUOIT_BF16, {1, 1, 1, 1}, {0}},      {QUOIT_F16, {3, 1, 701, 1301}, {0}},
};

Test(transfer, what_was_written_is_read)
{
	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		size_t bytes = bytes_of(&shapes[i]);
		uint8_t *from = pattern(bytes, (uint32_t)i), *to = calloc(1, bytes + 1);
		quoit_tensor t = quoit_create(c.q, &shapes[i], 0);

		cr_expect_eq(quoit_write(c.q, t, from, bytes), 0, "shape %zu", i);
		cr_expect_eq(quoit_read(c.q, t, to, bytes), 0, "shape %zu", i);
		cr_expect_eq(memcmp(from, to, bytes), 0, "shape %zu", i);
		quoit_free(c.q, t);
		free(from);
		free(to);
	}
}

Test(transfer, a_size_that_is_not_the_tensors_is_refused)
{
	quoit_tensor t = quoit_create_vector(c.q, QUOIT_F32, 10);
	float values[11] = {0};

	cr_expect_eq(quoit_write(c.q, t, values, 44), -EINVAL);
	cr_expect_eq(quoit_read(c.q, t, values, 36), -EINVAL);
	cr_expect_eq(quoit_read(c.q, t, values, 0), -EINVAL);
	cr_expect_eq(quoit_read(c.q, 0, values, 40), -EINVAL);
}

/* A view of `rows` x `cols` on a dense matrix, and where its elements lie there. */
struct window {
	const char *what;
	uint32_t rows, cols;
	int32_t row_step, col_step;
	uint32_t first;
};

/* How many elements of the window differ from those of the whole. */
static size_t count_wrong(const struct window *w, const int32_t *all, const int32_t *part)
{
	size_t wrong = 0;

	for (uint32_t r = 0; r < w->rows; r++)
		for (uint32_t k = 0; k < w->cols; k++)
			wrong +=
				part[r * w->cols + k] !=
				all[w->first + (int64_t)r * w->row_step + (int64_t)k * w->col_step];
	return wrong;
}

Test(transfer, a_view_is_read_and_written_in_its_own_order)
{
	enum { ROWS = 1500, COLS = 1100 };
	static const struct window windows[] = {
		{"transposed", COLS, ROWS, 1, COLS, 0},
		{"every second column", ROWS, COLS / 2, COLS, 2, 1},
		{"a block", 300, 200, COLS, 1, 100 * COLS + 50},
		{"rows backwards", ROWS, COLS, -COLS, 1, (ROWS - 1) * COLS},
		{"all backwards", ROWS, COLS, -COLS, -1, ROWS * COLS - 1},
		{"a column", ROWS, 1, COLS, 1, 7},
	};
	int32_t *all = (int32_t *)pattern(ROWS * COLS * 4, 1), *part = malloc(ROWS * COLS * 4);
	quoit_tensor t = quoit_create_matrix(c.q, QUOIT_I32, ROWS, COLS);

	for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
		const struct window *w = &windows[i];
		struct quoit_shape shape = {QUOIT_I32, {1, 1, w->rows, w->cols}, {0}};
		size_t bytes = (size_t)w->rows * w->cols * 4, wrong;
		quoit_tensor view;

		shape.stride[2] = w->row_step;
		shape.stride[3] = w->col_step;
		cr_assert_eq(quoit_write(c.q, t, all, ROWS * COLS * 4), 0);
		view = quoit_view(c.q, t, &shape, w->first * UINT64_C(4));
		cr_assert_eq(quoit_read(c.q, view, part, bytes), 0, "%s", w->what);
		wrong = count_wrong(w, all, part);
		cr_expect_eq(wrong, 0, "%s: %zu elements", w->what, wrong);
		cr_assert_eq(quoit_push(c.q, quoit_fill_int(t, 0)), 0);
		cr_assert_eq(quoit_write(c.q, view, part, bytes), 0, "%s", w->what);
		memset(part, 1, bytes);
		cr_assert_eq(quoit_read(c.q, view, part, bytes), 0, "%s", w->what);
		wrong = count_wrong(w, all, part);
		cr_expect_eq(wrong, 0, "%s: %zu elements after a write", w->what, wrong);
		quoit_free(c.q, view);
	}
	free(all);
	free(part);
}

/* Where the elements of a view with four dims lie among all: the last dim first, all turned round. */
static size_t at(const struct quoit_shape *shape, size_t i)
{
	size_t offset = 0;

	for (unsigned d = QUOIT_MAX_DIMS; d-- > 0;) {
		offset += i % shape->dim[d] * (size_t)shape->stride[d];
		i /= shape->dim[d];
	}
	return offset;
}

static size_t count_misplaced(const struct quoit_shape *shape, const int32_t *all,
			      const int32_t *part)
{
	size_t wrong = 0;

	for (size_t i = 0; i < bytes_of(shape) / 4; i++)
		wrong += part[i] != all[at(shape, i)];
	return wrong;
}

/*
 * A piece ends in any dim, so the place of the next one is carried over one dim or more.  What a
 * read and a write get wrong alike, only other addresses show.
 */
Test(transfer, pieces_of_four_dims_are_where_they_belong)
{
	enum { A = 3, B = 5, C = 7, D = 33000 };
	static const struct quoit_shape shapes_4d[] = {
		{QUOIT_I32, {A, B, C, D}, {B * C * D, C * D, D, 1}},
		{QUOIT_I32, {C, B, A, D}, {D, C * D, B * C * D, 1}},
		{QUOIT_I32, {C, A, 1, D}, {D, B * C * D, D, 1}},
		{QUOIT_I32, {D, C, B, A}, {1, D, C * D, B * C * D}},
	};
	const size_t bytes = (size_t)A * B * C * D * 4;
	int32_t *all = (int32_t *)pattern(bytes, 3), *part = malloc(bytes), *got = malloc(bytes);
	quoit_tensor t = quoit_create_vector(c.q, QUOIT_I32, A * B * C * D);

	for (size_t i = 0; i < sizeof shapes_4d / sizeof shapes_4d[0]; i++) {
		const struct quoit_shape *shape = &shapes_4d[i];
		size_t n = bytes_of(shape);
		quoit_tensor view;

		cr_assert_eq(quoit_write(c.q, t, all, bytes), 0);
		view = quoit_view(c.q, t, shape, 0);
		cr_assert_eq(quoit_read(c.q, view, part, n), 0);
		cr_expect_eq(count_misplaced(shape, all, part), 0, "%zu, read", i);
		cr_assert_eq(quoit_push(c.q, quoit_fill_int(t, 0)), 0);
		for (size_t k = 0; k < n / 4; k++)
			part[k] = (int32_t)(k + 1);
		cr_assert_eq(quoit_write(c.q, view, part, n), 0);
		cr_assert_eq(quoit_read(c.q, t, got, bytes), 0);
		cr_expect_eq(count_misplaced(shape, got, part), 0, "%zu, written", i);
		quoit_free(c.q, view);
	}
	free(all);
	free(part);
	free(got);
}

Test(transfer, writes_reads_and_jobs_keep_their_order)
{
	enum { N = 500000 };
	int32_t *values = malloc(N * 4);
	quoit_tensor t = quoit_create_vector(c.q, QUOIT_I32, N);

	for (int32_t round = 0; round < 20; round++) {
		int32_t last;

		for (int i = 0; i < N; i++)
			values[i] = round + i;
		cr_assert_eq(quoit_write(c.q, t, values, N * 4), 0);
		/* quoit_write has returned, so `values` may be used again */
		memset(values, 0xff, N * 4);
		cr_assert_eq(quoit_push(c.q, quoit_add_int(t, t, 1)), 0);
		cr_assert_eq(quoit_read(c.q, t, values, N * 4), 0);
		last = values[N - 1];
		cr_assert_eq(values[0], round + 1);
		cr_assert_eq(last, round + N);
	}
	free(values);
}

/* A large tensor is read in pieces, only some of which were not written. */
Test(transfer, a_failed_read_has_the_record_of_what_failed_first)
{
	const uint32_t n = 3000001, part = 1000;
	const struct quoit_shape last = {QUOIT_F32, {1, 1, 1, part}, {0, 0, 0, 1}};
	quoit_tensor whole = quoit_create_vector(c.q, QUOIT_F32, n);
	quoit_tensor end = quoit_view(c.q, whole, &last, (n - part) * sizeof(float));
	float *got = malloc(n * sizeof *got);
	struct quoit_error error;
	char text[256];
	int err;

	cr_assert_eq(quoit_push(c.q, quoit_fill(whole, 1.0)), 0);
	/* tensors overlap, and do not fit */
	cr_assert_eq(quoit_push(c.q, quoit_roll(end, whole, 3, 1)), 0);
	err = quoit_read(c.q, whole, got, n * sizeof *got);
	cr_expect_eq(err, -QUOIT_EPOISON);
	cr_assert(quoit_get_wait_error(c.q, &error));
	cr_expect_eq(error.opcode, QUOIT_OP_ROLL);
	cr_expect_eq(error.code, -EINVAL);
	quoit_strerror_wait(c.q, err, text, sizeof text);
	cr_expect(strstr(text, "of ring 0), which failed with EINVAL: dim 3 of tensor 1 is "
			       "3000001, allowed is 1000"),
		  "%s", text);
	cr_assert_eq(quoit_push(c.q, quoit_fill(whole, 1.0)), 0);
	cr_expect_eq(quoit_read(c.q, whole, got, n * sizeof *got), 0);
	cr_expect_not(quoit_get_wait_error(c.q, &error));
	free(got);
}
