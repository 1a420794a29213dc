/* SPDX-License-Identifier: MIT */
/* test_device_retries.c - a driver's streams are full now and then, which no job notices */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <quoit.h>

#include "device.h"

TestSuite(device_retries, .timeout = 60);

#define N      100000u /* of float64: four parts of the staging buffer */
#define CHAINS 6u      /* more chains than there are streams for work */

static double data[N], result[2][CHAINS + 1][N];

/* Expect a job to have its times. */
static void expect_stamps(struct quoit_ring *q, quoit_tensor x, bool there)
{
	struct quoit_stamps t;
	quoit_job job;

	cr_assert_eq(quoit_start(q, quoit_add_scalar(x, x, 0.0), &job), 0);
	cr_assert_eq(quoit_wait_n(q, &job, 1, 1, 20000), 1);
	cr_expect_eq(quoit_get_result(q, job), 0);
	cr_assert(quoit_get_job_stamps(q, job, &t));
	if (there)
		cr_expect(t.device_start && t.device_start <= t.device_end);
	quoit_detach(q, job);
}

/* Copies of all kinds, clears, chains, and chains that meet. */
static void compute(struct quoit_ring *q, bool there, double ret[CHAINS + 1][N])
{
	const struct quoit_shape whole = {.dtype = QUOIT_F64, .dim = {1, 1, 1, N}};
	const struct quoit_shape part = {
		.dtype = QUOIT_F64, .dim = {1, 1, 1, N / 2}, .stride = {1, 1, 1, 2}};
	quoit_tensor x[CHAINS], sum, pinned, view;

	cr_assert_eq(quoit_use_device(q, there), 0);
	pinned = quoit_create(q, &whole, QUOIT_CREATE_PINNED);
	sum = quoit_create_vector(q, QUOIT_F64, N);
	view = quoit_view(q, sum, &part, 0);
	quoit_push(q, quoit_fill(view, 0.5)); /* quoit-exec clears the rest */
	for (unsigned i = 0; i < CHAINS; i++) {
		x[i] = quoit_create_vector(q, QUOIT_F64, N);
		cr_assert_eq(quoit_write(q, x[i], data, sizeof data), 0);
		for (unsigned k = 0; k < 20; k++)
			quoit_push(q, quoit_mul_scalar(x[i], x[i], 0.75 + i));
		quoit_push(q, quoit_copy(pinned, x[i]));
		quoit_push(q, quoit_copy(x[i], pinned));
	}
	for (unsigned i = 0; i < CHAINS; i++)
		quoit_push(q, quoit_add(sum, sum, x[i]));
	expect_stamps(q, sum, there);
	for (unsigned i = 0; i < CHAINS; i++)
		cr_assert_eq(quoit_read(q, x[i], ret[i], sizeof ret[i]), 0);
	cr_assert_eq(quoit_read(q, sum, ret[CHAINS], sizeof ret[CHAINS]), 0);
	cr_assert_eq(quoit_count_failures(q, NULL), 0);
}

struct list {
	char faults[200]; /* an array, since Criterion copies it, and does not follow pointers */
};

static struct list lists[] = {
	{"copy:1+2:EAGAIN"},
	{"clear:1+2:EAGAIN"},
	{"run:1+2:EAGAIN"},
	{"signal:1+2:EAGAIN"},
	{"stamp:1+2:EAGAIN"},
	{"event_record:1+2:EAGAIN"},
	{"stream_wait:1+2:EAGAIN"},
	{"copy:2+3:EAGAIN,clear:1+2:EAGAIN,run:2+5:EAGAIN,signal:3+4:EAGAIN,stamp:1+2:EAGAIN,"
	 "event_record:1+3:EAGAIN,stream_wait:2+3:EAGAIN"},
};

ParameterizedTestParameters(device_retries, change_nothing)
{
	return cr_make_param_array(struct list, lists, sizeof lists / sizeof lists[0]);
}

ParameterizedTest(struct list *list, device_retries, change_nothing)
{
	const char *options[] = {"--gpu=soft", "--log=error", "--gpu-ms=3000", NULL};
	struct quoit_ring_params params = {.flags = QUOIT_RING_STAMPS};
	struct device_room r;
	struct quoit_ring *q;

	for (unsigned i = 0; i < N; i++)
		data[i] = 1.0 + i / 1000.0;
	setenv("QUOIT_SOFT_FAULTS", list->faults, 1);
	r = room_open_with(options, 64);
	cr_assert_eq(quoit_open_ring(r.s, &params, &q), 0);
	compute(q, false, result[0]);
	compute(q, true, result[1]);
	for (unsigned i = 0; i <= CHAINS; i++)
		cr_expect_eq(memcmp(result[0][i], result[1][i], sizeof result[0][i]), 0,
			     "%s: tensor %u", list->faults, i);
	room_close(&r);
}

/*
 * The driver reports this error once.  Only this job fails, and its work in the stream ends
 * properly.
 */
Test(device_retries, a_mark_that_fails_once_fails_its_job_alone)
{
	const char *options[] = {"--gpu=soft", "--log=error", NULL};
	struct device_room r;
	quoit_tensor x;
	quoit_job job;
	float got[10];

	setenv("QUOIT_SOFT_FAULTS", "signal:2:EIO,copy:1:EIO", 1);
	r = room_open_with(options, 64);
	x = quoit_create_vector(r.d, QUOIT_F32, 10);
	for (int i = 1; i <= 3; i++) {
		cr_assert_eq(quoit_start(r.d, quoit_fill(x, i), &job), 0);
		cr_expect_eq(quoit_wait(r.d, job, 20000), i == 2 ? -EIO : 0);
	}
	cr_expect_eq(quoit_read(r.d, x, got, sizeof got), -EIO, "a staged copy");
	cr_expect_eq(quoit_read(r.d, x, got, sizeof got), 0);
	cr_expect_eq(got[9], 3.0f);
	room_close(&r);
}
