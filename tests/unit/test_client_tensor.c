/* SPDX-License-Identifier: MIT */
/* test_client_tensor.c - handles, views, and copies through the arena, against a fake quoitd */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <quoit.h>

#include "fake_daemon.h"

#define SOON 5000 /* milliseconds: longer than anything here takes */

static struct fake_daemon *f;
static struct quoit_session *s;
static struct quoit_ring *q;

static void open_all(uint64_t arena_bytes)
{
	struct fake_options options = {.arena_bytes = arena_bytes};
	struct quoit_open_params p;

	f = fake_start(&options);
	p = (struct quoit_open_params){.socket = fake_path(f)};
	cr_assert_eq(quoit_open(&p, &s), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(s, NULL, &q), 0);
}

static void setup(void)
{
	open_all(256 << 10); /* with pieces of 8 KiB */
}

static void teardown(void)
{
	quoit_close(s, 0);
	fake_stop(f);
}

TestSuite(tensor, .init = setup, .fini = teardown);

/* ---- handles ---- */

Test(tensor, create_says_type_dims_and_strides)
{
	quoit_tensor t = quoit_create_matrix(q, QUOIT_F64, 3, 5);
	struct quoit_shape shape;
	struct quoit_sqe e;

	cr_assert(quoit_get_shape(q, t, &shape));
	cr_assert_eq(shape.dtype, QUOIT_F64);
	cr_assert_eq(shape.dim[2], 3);
	cr_assert_eq(quoit_wait_all(q, SOON), 0);
	e = fake_sqe(f, 0);
	cr_assert_eq(e.opcode, QUOIT_OP_CREATE);
	cr_assert_eq(e.arg, QUOIT_F64);
	cr_assert_eq(e.base[0], t);
	cr_assert_eq(e.dim[0], 1);
	cr_assert_eq(e.dim[3], 5);
	cr_assert_eq(e.stride[3], 0);
	cr_assert_eq(e.flags, QUOIT_SQE_QUIET);
}

Test(tensor, a_freed_handle_names_nothing_any_more)
{
	quoit_tensor t = quoit_create_vector(q, QUOIT_F32, 4), next;
	struct quoit_shape shape = {.dim = {1, 1, 1, 1}};

	cr_assert_eq(quoit_free(q, t), 0);
	cr_assert_eq(quoit_free(q, t), -EINVAL);
	cr_assert_not(quoit_get_shape(q, t, &shape));
	cr_assert_eq(quoit_view(q, t, &shape, 0), QUOIT_NO_TENSOR);
	next = quoit_create_vector(q, QUOIT_F32, 4);
	cr_assert_eq(next & QUOIT_HANDLE_INDEX_MASK, t & QUOIT_HANDLE_INDEX_MASK);
	cr_assert_neq(next, t);
	cr_assert_eq(quoit_free(q, t), -EINVAL);
}

Test(tensor, none_and_foreign_handles_are_refused)
{
	struct quoit_shape shape;

	cr_assert_eq(quoit_free(q, QUOIT_NO_TENSOR), -EINVAL);
	cr_assert_eq(quoit_free(q, 5), -EINVAL);
	cr_assert_eq(quoit_free(q, UINT32_MAX), -EINVAL);
	cr_assert_not(quoit_get_shape(q, UINT32_MAX, &shape));
	shape = (struct quoit_shape){.dtype = QUOIT_DTYPE_NR, .dim = {1, 1, 1, 1}};
	cr_assert_eq(quoit_create(q, &shape, 0), QUOIT_NO_TENSOR);
	shape.dtype = QUOIT_F32;
	cr_assert_eq(quoit_create(q, &shape, 0x80), QUOIT_NO_TENSOR);
}

/* ---- refusals ---- */

static bool says(const char *word)
{
	return strstr(quoit_error_text(q), word);
}

Test(tensor, a_refusal_says_what_was_wrong)
{
	quoit_tensor t = quoit_create_vector(q, QUOIT_F32, 4);
	struct quoit_shape shape = {.dtype = 9, .dim = {1, 1, 1, 4}};
	float x[4] = {0};
	char text[200];

	cr_assert_str_eq(quoit_error_text(q), "");
	cr_assert_str_eq(quoit_error_text(NULL), quoit_open_text());
	cr_expect_eq(quoit_create(q, &shape, 0), QUOIT_NO_TENSOR);
	cr_expect(says("type 9"), "%s", quoit_error_text(q));
	shape.dtype = QUOIT_F64;
	cr_expect_eq(quoit_view(q, t, &shape, 0), QUOIT_NO_TENSOR);
	cr_expect(says("the view has type 1, its tensor type 0"), "%s", quoit_error_text(q));
	cr_expect_eq(quoit_create(q, &shape, 0x80), QUOIT_NO_TENSOR);
	cr_expect(says("flags 0x80"), "%s", quoit_error_text(q));
	cr_expect_eq(quoit_create(q, &shape, QUOIT_CREATE_ON(200)), QUOIT_NO_TENSOR);
	cr_expect(says("no device 200"), "%s", quoit_error_text(q));
	cr_expect_eq(quoit_create_in(q, &shape, x), QUOIT_NO_TENSOR);
	cr_expect(says("arena"), "%s", quoit_error_text(q));
	cr_expect_eq(quoit_free(q, 77), -EINVAL);
	cr_expect(says("0x4d"), "%s", quoit_error_text(q));
	cr_expect_eq(quoit_write(q, t, x, 8), -EINVAL);
	cr_expect_str_eq(quoit_strerror_wait(q, -EINVAL, text, sizeof text),
			 "EINVAL: 8 bytes were given, but the tensor has 16");
	cr_expect_eq(quoit_wait_tensor(q, QUOIT_NO_TENSOR, SOON), -EBADF);
	cr_expect(says("QUOIT_NO_TENSOR"), "%s", quoit_error_text(q));
	cr_expect_not(quoit_get_shape(q, 78, &shape));
	cr_expect(says("0x4e"), "%s", quoit_error_text(q));
	while (quoit_create_vector(q, QUOIT_F32, 1))
		;
	cr_expect(says("max_tensors"), "%s", quoit_error_text(q));
}

Test(tensor, use_of_what_was_not_made_says_why_it_was_not)
{
	struct quoit_shape shape = {.dtype = QUOIT_F64, .dim = {1, 1, 1, 4}};
	quoit_tensor t, v;
	float x[4];
	void *at;

	cr_expect_eq(quoit_wait_tensor(q, QUOIT_NO_TENSOR, SOON), -EBADF);
	cr_expect(says("making it has failed"), "%s", quoit_error_text(q));
	t = quoit_create(q, &shape, 0x80);
	cr_expect_eq(quoit_free(q, 77), -EINVAL); /* another refusal between the two */
	v = quoit_view(q, t, &shape, 0);
	cr_expect_eq(v, QUOIT_NO_TENSOR);
	cr_expect(says("making it has failed: unknown flags 0x80"), "%s", quoit_error_text(q));
	cr_expect_eq(quoit_read(q, v, x, sizeof x), -EINVAL);
	cr_expect(says("making it has failed: unknown flags 0x80"), "%s", quoit_error_text(q));
	cr_expect_eq(quoit_wait_tensor(q, t, SOON), -EBADF);
	cr_expect(says("making it has failed: unknown flags 0x80"), "%s", quoit_error_text(q));
	cr_expect_eq(quoit_acquire(q, t, QUOIT_ACCESS_READ, SOON, &at), -EINVAL);
	cr_expect(says("making it has failed: unknown flags 0x80"), "%s", quoit_error_text(q));
	while (quoit_create_vector(q, QUOIT_F32, 1))
		;
	cr_expect_eq(quoit_free(q, QUOIT_NO_TENSOR), -EINVAL);
	cr_expect(says("(quoit_open_params.max_tensors)"), "%s", quoit_error_text(q));
}

/* ---- axes ---- */

Test(tensor, negative_axes_count_from_the_last)
{
	static const int none[] = {-5, -6, -252, -257, 256, 259, INT32_MIN, INT32_MAX};

	for (int axis = 0; axis < QUOIT_MAX_DIMS; axis++) {
		const int negative = axis - QUOIT_MAX_DIMS;

		cr_expect_eq(quoit_axis(axis), axis);
		cr_expect_eq(quoit_axis(negative), axis);
		cr_expect_eq(quoit_sum(1, 2, negative).arg, axis);
		cr_expect_eq(quoit_argmax(1, 2, negative).arg, axis);
		cr_expect_eq(quoit_roll(1, 2, negative, 5).arg, axis);
		cr_expect_eq(quoit_gather(1, 2, 3, negative).arg, axis);
	}
	for (unsigned i = 0; i < sizeof none / sizeof none[0]; i++)
		cr_expect_eq(quoit_axis(none[i]), QUOIT_AXIS_NONE, "%d", none[i]);
	cr_expect_eq(quoit_axis(4), 4, "quoitd refuses it, and names it");
	cr_expect_eq(quoit_mean(1, 2, QUOIT_AXIS_ALL).arg, QUOIT_AXIS_ALL);
	cr_expect_eq(QUOIT_PERM(0, 1, -1, -2), QUOIT_PERM(0, 1, 3, 2));
	cr_expect_eq(QUOIT_PERM(-4, -3, -2, -1), QUOIT_PERM(0, 1, 2, 3));
}

Test(tensor, scalars_of_a_launch_leave_its_kernel_alone)
{
	const struct quoit_sqe sqe = quoit_with_scalars(quoit_launch(200, 1, 2, 3, 4),
							quoit_float_bits(1.5f), UINT64_MAX);

	cr_expect_eq(sqe.opcode, QUOIT_OP_LAUNCH);
	cr_expect_eq(sqe.arg, 200);
	cr_expect_eq(sqe.tensor[3], 4);
	cr_expect_eq(sqe.scalar[0], 0x3fc00000);
	cr_expect_eq(sqe.scalar[1], UINT64_MAX);
	cr_expect_eq(sqe.flags, 0);
}

Test(tensor, dims_left_out_are_no_empty_tensor)
{
	static const uint32_t bad[][QUOIT_MAX_DIMS] = {{4},          {3, 4},       {0, 0, 0, 4},
						       {0, 0, 3, 4}, {0, 2, 3, 4}, {0}};
	static const uint32_t good[][QUOIT_MAX_DIMS] = {
		{1, 1, 0, 4}, {1, 1, 4, 0}, {1, 1, 0, 0}, {2, 3, 4, 0}, {2, 1, 0, 4}};
	struct quoit_shape shape = {.dtype = QUOIT_F32};
	quoit_tensor t = quoit_create_vector(q, QUOIT_F32, 100);

	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		memcpy(shape.dim, bad[i], sizeof shape.dim);
		cr_expect_eq(quoit_create(q, &shape, 0), QUOIT_NO_TENSOR, "%u", i);
		cr_expect(says("not used must be 1"), "%s", quoit_error_text(q));
		cr_expect_eq(quoit_view(q, t, &shape, 0), QUOIT_NO_TENSOR, "%u", i);
	}
	for (unsigned i = 0; i < sizeof good / sizeof good[0]; i++) {
		memcpy(shape.dim, good[i], sizeof shape.dim);
		cr_expect_neq(quoit_create(q, &shape, 0), QUOIT_NO_TENSOR, "%u", i);
	}
	cr_expect_neq(quoit_create_matrix(q, QUOIT_F32, 0, 5), QUOIT_NO_TENSOR);
}

Test(tensor, sizes_of_a_ring_that_cannot_be_are_told)
{
	const struct quoit_ring_params odd = {.entries = 9}, flags = {.flags = 4};
	struct quoit_ring *other;

	cr_assert_eq(quoit_open_ring(s, &odd, &other), -EINVAL);
	cr_assert(strstr(quoit_open_text(), "9 entries"));
	cr_assert_eq(quoit_open_ring(s, &flags, &other), -EINVAL);
	cr_assert(strstr(quoit_open_text(), "flags 0x4"));
	cr_assert_eq(quoit_open_rings(s, NULL, 0, &other), -EINVAL);
	cr_assert(strstr(quoit_open_text(), "0 rings"));
}

Test(tensor, a_view_has_the_type_of_what_it_views)
{
	quoit_tensor t = quoit_create_vector(q, QUOIT_F32, 4);
	struct quoit_shape shape = {.dtype = QUOIT_F64, .dim = {1, 1, 1, 1}};

	cr_assert_eq(quoit_view(q, t, &shape, 0), QUOIT_NO_TENSOR);
	shape.dtype = QUOIT_F32;
	cr_assert_neq(quoit_view(q, t, &shape, 8), QUOIT_NO_TENSOR);
	cr_assert_eq(quoit_wait_all(q, SOON), 0);
	cr_assert_eq(quoit_count_failures(q, NULL), 0);
}

Test(tensor, all_indices_but_zero_can_be_alive_at_once)
{
	quoit_tensor t[FAKE_TENSORS];

	for (uint32_t i = 0; i < FAKE_TENSORS - 1; i++)
		cr_assert_neq(t[i] = quoit_create_vector(q, QUOIT_F32, 1), QUOIT_NO_TENSOR, "%u",
			      i);
	cr_assert_eq(quoit_create_vector(q, QUOIT_F32, 1), QUOIT_NO_TENSOR);
	cr_assert_eq(quoit_free(q, t[9]), 0);
	cr_assert_neq(quoit_create_vector(q, QUOIT_F32, 1), QUOIT_NO_TENSOR);
}

Test(tensor, a_ring_s_indices_come_back_when_it_closes)
{
	struct quoit_ring *other;
	unsigned got = 0;

	cr_assert_eq(quoit_open_ring(s, NULL, &other), 0);
	cr_assert_eq(quoit_free(other, quoit_create_vector(other, QUOIT_F32, 1)), 0);
	cr_assert_eq(quoit_close_ring(other), 0);
	while (quoit_create_vector(q, QUOIT_F32, 1))
		got++;
	cr_assert_eq(got, FAKE_TENSORS - 1);
}

Test(tensor, an_index_moves_between_rings_only_after_its_free_was_fetched)
{
	struct quoit_ring *other;
	quoit_tensor t[FAKE_TENSORS];

	cr_assert_eq(quoit_open_ring(s, NULL, &other), 0);
	for (int round = 0; round < 50; round++) {
		for (uint32_t i = 0; i < FAKE_TENSORS - 1; i++)
			cr_assert_neq(t[i] = quoit_create_vector(q, QUOIT_F32, 1), QUOIT_NO_TENSOR);
		cr_assert_eq(quoit_wait_all(q, SOON), 0);
		for (uint32_t i = 0; i < FAKE_TENSORS - 1; i++)
			cr_assert_eq(quoit_free(other, t[i]), 0);
		cr_assert_eq(quoit_wait_all(other, SOON), 0);
		/* They lie on the other ring's stack, and come back as they are used. */
		for (uint32_t i = 0; i < FAKE_TENSORS - 1; i++)
			cr_assert_neq(t[i] = quoit_create_vector(other, QUOIT_F32, 1),
				      QUOIT_NO_TENSOR);
		cr_assert_eq(quoit_wait_all(other, SOON), 0);
		for (uint32_t i = 0; i < FAKE_TENSORS - 1; i++)
			cr_assert_eq(quoit_free(q, t[i]), 0);
		cr_assert_eq(quoit_wait_all(q, SOON), 0);
	}
	cr_assert_eq(quoit_count_failures(q, NULL) + quoit_count_failures(other, NULL), 0);
}

Test(tensor, arena_memory_can_be_a_tensor_and_other_memory_cannot)
{
	struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, 1, 4}};
	float *memory = quoit_alloc(s, 16), other[4];
	struct quoit_sqe e;

	(void)quoit_alloc(s, 64);
	memory = quoit_alloc(s, 16);
	cr_assert_neq(quoit_create_in(q, &shape, memory), QUOIT_NO_TENSOR);
	cr_assert_eq(quoit_create_in(q, &shape, other), QUOIT_NO_TENSOR);
	cr_assert_eq(quoit_wait_all(q, SOON), 0);
	e = fake_sqe(f, 0);
	cr_assert_eq(e.arg, QUOIT_F32 | QUOIT_CREATE_ARENA);
	cr_assert_eq(e.offset, 128);
}

/* ---- copies ---- */

static void fill(uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(i * 31 + (i >> 8) * 17 + (i >> 16));
}

ParameterizedTestParameters(tensor, bytes_written_are_read_back)
{
	static struct quoit_shape cases[] = {
		{QUOIT_F32, {1, 1, 1, 2}, {0}},     /* one piece */
		{QUOIT_F32, {1, 1, 1, 2048}, {0}},  /* exactly one piece */
		{QUOIT_F32, {1, 1, 1, 2049}, {0}},  /* cut along the last axis */
		{QUOIT_F64, {1, 1, 300, 100}, {0}}, /* rows */
		{QUOIT_I32, {1, 3, 7, 1500}, {0}},  /* several rows, a rest */
		{QUOIT_I64, {2, 3, 5, 1100}, {0}},  /* rows longer than a piece */
		{QUOIT_F16, {5, 4, 3, 700}, {0}},   /* planes */
		/* transposed: dense in no order of its dims */
		{QUOIT_F32, {1, 1, 64, 64}, {0, 0, 1, 64}},
		{QUOIT_F32, {2, 2, 50, 60}, {20000, 8000, 100, 1}}, /* gaps */
		{QUOIT_F32, {1, 1, 3, 3000}, {0, 0, 4000, 1}},
		{QUOIT_F32, {1, 1, 0, 7}, {0}}, /* no elements */
	};

	return cr_make_param_array(struct quoit_shape, cases, sizeof cases / sizeof *cases);
}

ParameterizedTest(struct quoit_shape *shape, tensor, bytes_written_are_read_back)
{
	static const size_t element[] = {4, 8, 4, 8, 2, 2};
	size_t size = element[shape->dtype];
	uint8_t *from, *to;
	quoit_tensor t;

	for (int i = 0; i < 4; i++)
		size *= shape->dim[i];
	from = malloc(size + 1);
	to = calloc(1, size + 1);
	fill(from, size);
	t = quoit_create(q, shape, 0);
	cr_assert_eq(quoit_write(q, t, from, size), 0);
	cr_assert_eq(quoit_read(q, t, to, size), 0);
	cr_assert_eq(memcmp(from, to, size), 0);
	cr_assert_eq(quoit_wait_all(q, SOON), 0);
	cr_assert_eq(quoit_count_failures(q, NULL), 0);
	cr_assert_eq(fake_tensors_alive(f), 1, "what the copies needed is freed");
	cr_assert_not_null(quoit_alloc(s, 256 << 10), "and so is the arena");
	free(from);
	free(to);
}

Test(tensor, a_wrong_size_is_refused)
{
	quoit_tensor t = quoit_create_vector(q, QUOIT_F32, 4);
	float x[5] = {0};

	cr_assert_eq(quoit_write(q, t, x, 12), -EINVAL);
	cr_assert_eq(quoit_read(q, t, x, 20), -EINVAL);
	cr_assert_eq(quoit_write(q, QUOIT_NO_TENSOR, x, 16), -EINVAL);
}

Test(tensor, a_write_returns_before_its_jobs_end_and_the_source_may_change)
{
	quoit_tensor t = quoit_create_vector(q, QUOIT_F32, 2);
	float x[2] = {1, 2}, y[2];

	fake_hold_jobs(f, true);
	cr_assert_eq(quoit_write(q, t, x, sizeof x), 0);
	x[0] = 9;
	fake_hold_jobs(f, false);
	cr_assert_eq(quoit_read(q, t, y, sizeof y), 0);
	cr_assert_float_eq(y[0], 1, 0);
}

Test(tensor, a_read_that_fails_says_so)
{
	static uint8_t bytes[100000];
	quoit_tensor t = quoit_create_vector(q, QUOIT_F32, sizeof bytes / 4);

	fake_fail(f, QUOIT_OP_COPY, EFAULT);
	cr_assert_eq(quoit_read(q, t, bytes, sizeof bytes), -EFAULT);
	cr_assert_eq(quoit_write(q, t, bytes, sizeof bytes), 0);
	cr_assert_eq(quoit_wait_all(q, SOON), 0);
	cr_assert_eq(quoit_count_failures(q, NULL), 13, "one for each piece");
	cr_assert_not_null(quoit_alloc(s, 256 << 10), "nothing of the arena is lost");
}

Test(tensor, a_full_arena_is_a_return_value)
{
	quoit_tensor t = quoit_create_vector(q, QUOIT_F32, 4);
	void *all = quoit_alloc(s, 256 << 10);
	float x[4] = {0};

	cr_assert_eq(quoit_write(q, t, x, sizeof x), -ENOMEM);
	cr_assert_eq(quoit_read(q, t, x, sizeof x), -ENOMEM);
	quoit_dealloc(s, all);
	cr_assert_eq(quoit_write(q, t, x, sizeof x), 0);
	cr_assert_eq(quoit_read(q, t, x, sizeof x), 0);
}

Test(tensor, copies_do_not_outlive_the_daemon)
{
	static uint8_t bytes[100000];
	quoit_tensor t = quoit_create_vector(q, QUOIT_F32, sizeof bytes / 4);

	fake_kill(f);
	cr_assert_eq(quoit_read(q, t, bytes, sizeof bytes), -ECONNRESET);
	cr_assert_eq(quoit_write(q, t, bytes, sizeof bytes), -ECONNRESET);
}
