/* SPDX-License-Identifier: MIT */
/* test_device_secrets.c - old contents of device memory are never seen, whatever fails */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <quoit.h>

#include "direct.h"

TestSuite(device_secrets, .timeout = 60);

#define N      1000u
#define SECRET 5.0f
#define MUCH   (1u << 20) /* as long as a slab */

static const struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, 1, N}};

/* Leave bytes in memory that the next two buffers of this size will get, of any user. */
static void leave_secrets(struct quoit_ring *q, uint32_t elements)
{
	quoit_tensor x[2];

	for (unsigned i = 0; i < 2; i++) {
		x[i] = quoit_create_vector(q, QUOIT_F32, elements);
		quoit_push(q, quoit_fill(x[i], (double)SECRET));
	}
	cr_assert_eq(quoit_wait_all(q, 20000), 0);
	for (unsigned i = 0; i < 2; i++)
		quoit_free(q, x[i]);
	cr_assert_eq(quoit_wait_all(q, 20000), 0);
}

/* Create a tensor in the client's memory, which shows what a copy wrote, even one that failed. */
static float *arena(struct device_room *r, quoit_tensor *ret)
{
	float *memory = quoit_alloc(r->s, N * sizeof *memory);

	cr_assert_not_null(memory);
	for (unsigned i = 0; i < N; i++)
		memory[i] = 1.0f;
	*ret = quoit_create_in(r->d, &shape, memory);
	return memory;
}

static unsigned count_secrets(const float *memory)
{
	unsigned n = 0;

	for (unsigned i = 0; i < N; i++)
		n += memory[i] == SECRET;
	return n;
}

/* Put jobs behind a long one, so that all are sent before any of them has failed. */
static struct quoit_sqe later(struct device_room *r, struct quoit_sqe sqe)
{
	quoit_push(r->d, quoit_normal(quoit_create_vector(r->d, QUOIT_F32, MUCH), 1, 0));
	return quoit_with_link(sqe, 1);
}

/* The maximum of an empty tensor: it writes nothing. */
static struct quoit_sqe write_nothing(struct device_room *r, quoit_tensor out)
{
	const struct quoit_shape nothing = {.dtype = QUOIT_F32, .dim = {1, 1, 0, N}};

	return quoit_amax(out, quoit_create(r->d, &nothing, QUOIT_CREATE_ON(1)), 2);
}

Test(device_secrets, are_not_read_behind_a_job_that_wrote_nothing)
{
	struct device_room r = room_open("--gpu=soft", 64);
	quoit_tensor seen, out, copy;
	float *memory = arena(&r, &seen);
	quoit_job job;

	leave_secrets(r.d, N);
	out = quoit_create_vector(r.d, QUOIT_F32, N);
	copy = quoit_create_vector(r.d, QUOIT_F32, N);
	cr_assert_eq(quoit_start(r.d, later(&r, write_nothing(&r, out)), &job), 0);
	quoit_push(r.d, quoit_add_scalar(copy, out, 0.0));
	quoit_push(r.d, quoit_copy(seen, copy));
	cr_assert_eq(quoit_wait_all(r.d, 20000), 0);
	cr_expect_eq(quoit_get_result(r.d, job), -EINVAL);
	cr_expect_eq(count_secrets(memory), 0);
	room_close(&r);
}

Test(device_secrets, of_others_are_not_in_a_slab)
{
	struct device_room r = direct_open("", NULL);
	struct quoit_session *other = direct_session(&r, false);
	quoit_tensor seen, out;
	float *memory = arena(&r, &seen);
	quoit_job job;

	leave_secrets(direct_ring(other, 1), MUCH);
	out = quoit_create_vector(r.d, QUOIT_F32, N);
	cr_assert_eq(quoit_start(r.d, later(&r, write_nothing(&r, out)), &job), 0);
	quoit_push(r.d, quoit_copy(seen, out));
	cr_assert_eq(quoit_wait_all(r.d, 20000), 0);
	cr_expect_eq(quoit_get_result(r.d, job), -EINVAL);
	cr_expect_eq(count_secrets(memory), 0);
	quoit_close(other, 0);
	room_close(&r);
}

/* ---- failing calls of the driver ---- */

struct fault {
	char list[80]; /* an array, since Criterion copies it, and does not follow pointers */
};

/* The first three operations are those of leave_secrets and later. */
static struct fault faults[] = {
	{"run:4:EIO"},
	{"run:4-:EIO"},
	{"clear:1:EIO"},
	{"clear:1-:EIO"},
	{"run:4:EIO,clear:1:EIO"},
	{"run:4:EIO,clear:1+2:EIO"},
	{"copy:1:EIO"},
	{"stream_wait:1:EIO"},
	{"event_record:1:EIO"},
	{"stamp:1-:EIO"},
	{"signal:3:EIO"},
	{"clear:1:EAGAIN,run:4:EIO"},
};

ParameterizedTestParameters(device_secrets, are_not_read_behind_a_failure)
{
	return cr_make_param_array(struct fault, faults, sizeof faults / sizeof faults[0]);
}

ParameterizedTest(struct fault *f, device_secrets, are_not_read_behind_a_failure)
{
	struct quoit_shape part = {
		.dtype = QUOIT_F32, .dim = {1, 1, 1, N / 2}, .stride = {1, 1, 1, 1}};
	const char *options[] = {"--gpu=soft", "--log=error", "--gpu-ms=2000", NULL};
	quoit_tensor seen[2], whole, half, view;
	struct device_room r;
	float *memory[2];

	setenv("QUOIT_SOFT_FAULTS", f->list, 1);
	r = room_open_with(options, 64);
	for (unsigned i = 0; i < 2; i++)
		memory[i] = arena(&r, &seen[i]);
	for (unsigned round = 0; round < 3; round++) {
		leave_secrets(r.d, N);
		whole = quoit_create_vector(r.d, QUOIT_F32, N);
		half = quoit_create_vector(r.d, QUOIT_F32, N);
		view = quoit_view(r.d, half, &part, 0);
		quoit_push(r.d, later(&r, quoit_fill(whole, 2.0)));
		quoit_push(r.d, quoit_add_scalar(view, view, 1.0));
		quoit_push(r.d, quoit_copy(seen[0], whole));
		quoit_push(r.d, quoit_copy(seen[1], half));
		cr_assert_eq(quoit_wait_all(r.d, 20000), 0);
		for (unsigned i = 0; i < 2; i++)
			cr_expect_eq(count_secrets(memory[i]), 0, "%s", f->list);
		quoit_free(r.d, view);
		quoit_free(r.d, half);
		quoit_free(r.d, whole);
	}
	room_close(&r);
}
