/* SPDX-License-Identifier: MIT */
/* test_device.c - jobs on a device: results, order, memory.  The device is a soft one. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <quoit.h>

#include "device.h"

TestSuite(device, .timeout = 60);

/* ---- descriptions ---- */

Test(device, is_described_to_its_client)
{
	struct device_room r = room_open("--gpu=soft:2", 64);
	struct quoit_device_desc d;
	struct quoit_info info;

	quoit_get_info(r.s, &info);
	cr_expect(info.devices == 2 || !room_is_soft());
	cr_expect_eq(info.device_bytes, 64u << 20);
	cr_assert_eq(quoit_query_device(r.s, 2, &d), 0);
	cr_expect(d.up && !d.lost && d.units && d.bytes >= info.device_bytes);
	cr_expect_eq(quoit_query_device(r.s, 0, &d), -ENODEV);
	cr_expect_eq(quoit_query_device(r.s, info.devices + 1, &d), -ENODEV);
	room_close(&r);
}

Test(device, that_is_not_there_has_no_tensors)
{
	struct device_room r = room_open("--gpu=none", 0);
	struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, 1, 1}};
	struct quoit_sqe create = {.opcode = QUOIT_OP_CREATE, .device = 1};
	struct quoit_error error;

	cr_expect_eq(quoit_use_device(r.q, 1), -ENODEV);
	cr_expect_eq(quoit_create(r.q, &shape, QUOIT_CREATE_ON(1)), QUOIT_NO_TENSOR);
	create.base[0] = 1u << QUOIT_HANDLE_INDEX_BITS | 9;
	memcpy(create.dim, shape.dim, sizeof create.dim);
	cr_assert_eq(quoit_push(r.q, create), 0);
	cr_assert_eq(quoit_wait_all(r.q, 10000), 0);
	cr_assert_eq(quoit_count_failures(r.q, &error), 1);
	cr_expect_eq(error.code, -ENODEV);
	cr_expect_eq(error.field, QUOIT_FIELD_DEVICE);
	room_close(&r);
}

/* The driver's module may not be built here: that is a reason, too. */
Test(device, of_cuda_without_a_driver_is_missed_for_a_reason_and_cores_go_on)
{
	const char *const options[] = {"--gpu=cuda", "--log=error", NULL};
	struct quoit_open_params p = {.host_bytes = UINT64_C(4) << 20};
	struct quoit_device_desc desc;
	struct device_room r = {0};

	if (!room_is_soft() || access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0)
		cr_skip_test("there is a driver");
	cr_assert_eq(daemon_start(&r.daemon, options), 0);
	p.socket = r.daemon.socket;
	cr_assert_eq(quoit_open(&p, &r.s), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(r.s, NULL, &r.q), 0);
	cr_expect_eq(quoit_query_device(r.s, 1, &desc), -ENODEV);
	cr_expect(strstr(quoit_open_text(), "no device 1: ") == quoit_open_text(), "%s",
		  quoit_open_text());
	cr_expect_gt(strlen(quoit_open_text()), strlen("no device 1: "));
	cr_expect_eq(quoit_use_device(r.q, 1), -ENODEV);
	cr_expect_eq(room_run(r.q, quoit_fill(quoit_create_vector(r.q, QUOIT_F32, 9), 1.0), NULL),
		     0);
	room_close(&r);
}

/* ---- results ---- */

#define N 777u

/* The same operations on both; the results must have the same bits. */
static void compute(struct quoit_ring *q, unsigned where, double *ret)
{
	quoit_tensor x, y, z, sum, c;

	cr_assert_eq(quoit_use_device(q, where), 0);
	x = quoit_create_matrix(q, QUOIT_F64, N, 5);
	y = quoit_create_matrix(q, QUOIT_F64, 1, 5);
	z = quoit_create_matrix(q, QUOIT_F64, N, 5);
	c = quoit_create_matrix(q, QUOIT_F64, 5, 5);
	sum = quoit_create_matrix(q, QUOIT_F64, 1, 5);
	quoit_push(q, quoit_normal(x, 1, 0));
	quoit_push(q, quoit_uniform(y, 2, 0));
	quoit_push(q, quoit_mul(z, x, y)); /* y is broadcast */
	quoit_push(q, quoit_exp(z, z));
	quoit_push(q, quoit_gemm(c, z, x, QUOIT_GEMM_TRANS_A, 0.5, 0.0));
	quoit_push(q, quoit_sum(sum, c, 2));
	cr_assert_eq(quoit_read(q, z, ret, N * 5 * sizeof *ret), 0);
	cr_assert_eq(quoit_read(q, c, ret + N * 5, 25 * sizeof *ret), 0);
	cr_assert_eq(quoit_read(q, sum, ret + N * 5 + 25, 5 * sizeof *ret), 0);
	cr_assert_eq(quoit_count_failures(q, NULL), 0);
}

Test(device, computes_what_the_host_does)
{
	static double here[N * 5 + 30], there[N * 5 + 30];
	struct device_room r = room_open("--gpu=soft", 64);

	compute(r.q, 0, here);
	compute(r.q, 1, there);
	for (unsigned i = 0; i < N * 5 + 30; i++)
		cr_assert(memcmp(&here[i], &there[i], sizeof here[i]) == 0 ||
				  ((i >= N * 5 || !room_is_soft()) &&
				   fabs(here[i] - there[i]) < 1e-9 * fabs(here[i])),
			  "number %u: %.17g here, %.17g there", i, here[i], there[i]);
	room_close(&r);
}

Test(device, runs_a_chain_in_its_order)
{
	struct device_room r = room_open("--gpu=soft", 64);
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_I64, 3), y;
	int64_t got[3];

	quoit_push(r.d, quoit_fill_int(x, 5));
	for (int i = 0; i < 2000; i++) {
		y = quoit_create_vector(r.d, QUOIT_I64, 3);
		quoit_push(r.d, i % 3 ? quoit_add_int(y, x, i) : quoit_mul_int(y, x, -1));
		quoit_free(r.d, x);
		x = y;
	}
	cr_assert_eq(quoit_read(r.d, x, got, sizeof got), 0);
	for (int64_t i = 0, v = 5; i < 2000; i++) {
		v = i % 3 ? v + i : -v;
		if (i == 1999)
			cr_expect(got[0] == v && got[2] == v, "%ld, not %ld", (long)got[0],
				  (long)v);
	}
	room_close(&r);
}

Test(device, and_cores_wait_for_each_other)
{
	struct device_room r = room_open("--gpu=soft", 64);
	quoit_tensor here = quoit_create_vector(r.q, QUOIT_F64, 1000), there;
	double got[1000];

	quoit_use_device(r.q, 1);
	there = quoit_create_vector(r.q, QUOIT_F64, 1000);
	quoit_push(r.q, quoit_fill(here, 1.0));
	for (int i = 0; i < 100; i++) {
		quoit_push(r.q, quoit_copy(there, here));
		quoit_push(r.q, quoit_add_scalar(there, there, 1.0));
		quoit_push(r.q, quoit_copy(here, there));
		quoit_push(r.q, quoit_mul_scalar(here, here, 0.5));
		quoit_push(r.q, quoit_add_scalar(here, here, 1.0));
	}
	cr_assert_eq(quoit_read(r.q, here, got, sizeof got), 0);
	cr_assert_eq(quoit_count_failures(r.q, NULL), 0);
	cr_expect_float_eq(got[0], 3.0, 1e-9);
	cr_expect_float_eq(got[999], 3.0, 1e-9);
	room_close(&r);
}

Test(device, reads_zeros_from_what_was_never_written)
{
	struct device_room r = room_open("--gpu=soft", 64);

	for (int i = 0; i < 20; i++)
		room_expect_zeros(&r, 100000);
	room_close(&r);
}

/* ---- copies ---- */

struct way {
	const char *name;
	unsigned flags; /* flags of the host's tensor */
	uint32_t bytes;
};

static struct way ways[] = {
	{"nothing", 0, 0},
	{"one byte short of a part", 0, (256u << 10) - 4},
	{"many parts through the staging buffer", 0, (5u << 20) + 12},
	{"memory that the device reaches", QUOIT_CREATE_PINNED, (5u << 20) + 12},
};

ParameterizedTestParameters(device, copies_bytes_there_and_back)
{
	return cr_make_param_array(struct way, ways, sizeof ways / sizeof ways[0]);
}

ParameterizedTest(struct way *w, device, copies_bytes_there_and_back)
{
	struct device_room r = room_open("--gpu=soft", 64);
	struct quoit_shape shape = {.dtype = QUOIT_I32, .dim = {1, 1, 1, w->bytes / 4}};
	quoit_tensor from = quoit_create(r.q, &shape, w->flags);
	quoit_tensor to = quoit_create(r.q, &shape, w->flags);
	quoit_tensor there = quoit_create(r.q, &shape, QUOIT_CREATE_ON(1));
	int32_t *bytes = malloc(w->bytes + 4), *got = malloc(w->bytes + 4);

	for (uint32_t i = 0; i < w->bytes / 4; i++)
		bytes[i] = (int32_t)(i * 2654435761u);
	cr_assert_eq(quoit_write(r.q, from, bytes, w->bytes), 0);
	for (int i = 0; i < 3; i++) {
		quoit_push(r.q, quoit_copy(there, from));
		quoit_push(r.q, quoit_copy(to, there));
	}
	cr_assert_eq(quoit_read(r.q, to, got, w->bytes), 0);
	cr_assert_eq(quoit_wait_all(r.q, 10000), 0); /* reading an empty tensor waits for nothing */
	cr_expect_eq(memcmp(bytes, got, w->bytes), 0, "%s", w->name);
	cr_assert_eq(quoit_count_failures(r.q, NULL), 0);
	free(bytes);
	free(got);
	room_close(&r);
}

/* ---- refusals ---- */

static void expect_failure(struct quoit_ring *q, struct quoit_sqe sqe, int code, int field)
{
	struct quoit_error error;
	quoit_job job;

	cr_assert_eq(quoit_start(q, sqe, &job), 0);
	cr_expect_eq(quoit_wait_n(q, &job, 1, 1, 10000), 1);
	cr_expect_eq(quoit_get_result(q, job), code, "%d, not %d", quoit_get_result(q, job), code);
	cr_assert(quoit_get_job_error(q, job, &error));
	cr_expect_eq(error.field, field, "field %u, not %d", error.field, field);
	quoit_detach(q, job);
}

Test(device, takes_no_tensors_from_elsewhere)
{
	struct device_room r = room_open("--gpu=soft:2", 64);
	struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, 4, 4}};
	struct quoit_shape columns = {
		.dtype = QUOIT_F32, .dim = {1, 1, 4, 4}, .stride = {16, 16, 1, 4}};
	quoit_tensor host = quoit_create(r.q, &shape, 0);
	quoit_tensor one = quoit_create(r.q, &shape, QUOIT_CREATE_ON(1));
	quoit_tensor two = quoit_create(r.q, &shape, QUOIT_CREATE_ON(2));
	quoit_tensor turned = quoit_view(r.q, one, &columns, 0);

	expect_failure(r.q, quoit_add(one, one, host), -EXDEV, QUOIT_FIELD_TENSOR2);
	expect_failure(r.q, quoit_add(host, one, one), -EXDEV, QUOIT_FIELD_TENSOR0);
	expect_failure(r.q, quoit_add(one, one, two), -EXDEV, QUOIT_FIELD_TENSOR0);
	expect_failure(r.q, quoit_copy(host, turned), -ENOTSUP, QUOIT_FIELD_STRIDE);
	expect_failure(r.q, quoit_write_file(one, 0, 0), -ENOTSUP, QUOIT_FIELD_TENSOR0);
	room_close(&r);
}

Test(device, has_no_pinned_tensors_which_are_on_the_host)
{
	struct device_room r = room_open("--gpu=soft", 64);
	struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, 4, 4}};

	cr_expect_eq(quoit_create(r.q, &shape, QUOIT_CREATE_PINNED | QUOIT_CREATE_ON(1)),
		     QUOIT_NO_TENSOR);
	cr_expect_neq(quoit_create(r.q, &shape, QUOIT_CREATE_PINNED | QUOIT_CREATE_ON(0)),
		      QUOIT_NO_TENSOR);
	cr_expect_neq(quoit_create(r.d, &shape, QUOIT_CREATE_PINNED), QUOIT_NO_TENSOR);
	room_close(&r);
}

Test(device, says_what_it_found_and_poisons_what_depends_on_it)
{
	struct device_room r = room_open("--gpu=soft", 64);
	int32_t bad = 100;
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_F32, 10),
		     y = quoit_create_vector(r.d, QUOIT_F32, 1);
	quoit_tensor index = quoit_create_vector(r.d, QUOIT_I32, 1),
		     z = quoit_create_vector(r.d, QUOIT_F32, 1);
	struct quoit_error error;
	quoit_job gather, after;
	float got;

	quoit_push(r.d, quoit_fill(x, 1.0));
	cr_assert_eq(quoit_write(r.d, index, &bad, sizeof bad), 0);
	cr_assert_eq(quoit_start(r.d, quoit_gather(y, x, index, 3), &gather), 0);
	cr_assert_eq(quoit_start(r.d, quoit_add_scalar(z, y, 1.0), &after), 0);
	cr_assert_eq(quoit_wait_all(r.d, 10000), 0);
	cr_expect_eq(quoit_get_result(r.d, gather), -ERANGE);
	cr_assert(quoit_get_job_error(r.d, gather, &error));
	cr_expect_eq(error.value[0], 100);
	cr_expect_eq(error.value[1], 10);
	cr_expect_eq(quoit_get_result(r.d, after), -QUOIT_EPOISON);
	cr_assert(quoit_get_job_error(r.d, after, &error));
	cr_expect_eq(error.code, -ERANGE);
	cr_expect_lt(quoit_read(r.d, z, &got, sizeof got), 0);
	/* Writing all of it removes the poison. */
	quoit_push(r.d, quoit_fill(y, 2.0));
	quoit_push(r.d, quoit_add_scalar(z, y, 1.0));
	cr_expect_eq(quoit_read(r.d, z, &got, sizeof got), 0);
	cr_expect_eq(got, 3.0f);
	room_close(&r);
}

/* ---- memory ---- */

Test(device, runs_what_fits_one_at_a_time_however_deep_the_queue)
{
	struct device_room r = room_open("--gpu=soft", 16);
	quoit_tensor x = quoit_create_matrix(r.d, QUOIT_F32, 1024, 1024), y;
	float got[4];

	quoit_push(r.d, quoit_fill(x, 1.0));
	for (int i = 0; i < 300; i++) { /* 4 MiB each: three fit at a time */
		y = quoit_create_matrix(r.d, QUOIT_F32, 1024, 1024);
		quoit_push(r.d, quoit_add_scalar(y, x, 1.0));
		quoit_free(r.d, x);
		x = y;
	}
	y = quoit_create_matrix(r.d, QUOIT_F32, 1, 1);
	quoit_push(r.d, quoit_amax(y, x, QUOIT_AXIS_ALL));
	cr_assert_eq(quoit_read(r.d, y, got, 4), 0);
	cr_expect_eq(got[0], 301.0f);
	cr_expect_eq(quoit_count_failures(r.d, NULL), 0);
	room_close(&r);
}

Test(device, refuses_the_job_that_needs_more_than_the_lease)
{
	struct device_room r = room_open("--gpu=soft", 16);
	quoit_tensor x = quoit_create_matrix(r.d, QUOIT_F32, 1024, 3 * 1024);
	quoit_tensor y = quoit_create_matrix(r.d, QUOIT_F32, 1024, 3 * 1024);
	quoit_tensor z = quoit_create_matrix(r.d, QUOIT_F32, 1024, 512);
	float got;

	quoit_push(r.d, quoit_fill(x, 1.0));
	expect_failure(r.d, quoit_fill(y, 2.0), -ENOMEM, QUOIT_FIELD_MEMORY);
	quoit_push(r.d, quoit_fill(z, 3.0));
	quoit_free(r.d, y);
	y = quoit_create_matrix(r.d, QUOIT_F32, 1, 1);
	quoit_push(r.d, quoit_amax(y, z, QUOIT_AXIS_ALL));
	cr_assert_eq(quoit_read(r.d, y, &got, 4), 0);
	cr_expect_eq(got, 3.0f);
	room_close(&r);
}

Test(device, leaves_sessions_that_need_none_alone_when_its_memory_is_leased)
{
	const char *options[] = {"--gpu=soft", "--gpu-memory=64M", "--log=error", NULL};
	struct device_room r = room_open_with(options, 56);
	struct quoit_open_params p = {.socket = r.daemon.socket, .host_bytes = 16u << 20};
	struct quoit_session *other;
	struct quoit_info info;

	cr_assert_eq(quoit_open(&p, &other), 0, "%s", quoit_open_text());
	quoit_get_info(other, &info);
	cr_expect_eq(info.device_bytes, 0);
	quoit_close(other, 0);
	p.device_bytes = 16u << 20;
	cr_expect_eq(quoit_open(&p, &other), -EDQUOT);
	room_close(&r);
}

/* ---- waiting ---- */

Test(device, ends_waits_for_a_tensor_there)
{
	struct device_room r = room_open("--gpu=soft", 64);
	quoit_tensor x = quoit_create_matrix(r.d, QUOIT_F32, 300, 300), never;

	never = quoit_create_matrix(r.d, QUOIT_F32, 300, 300);
	cr_expect_eq(quoit_wait_tensor(r.d, never, 10000), 0);
	for (int i = 0; i < 10; i++) {
		quoit_push(r.d, quoit_normal(x, (uint64_t)i, 0));
		cr_expect_eq(quoit_window(r.d, 2, 10000), 0);
	}
	cr_expect_eq(quoit_wait_tensor(r.d, x, 10000), 0);
	room_close(&r);
}

Test(device, stamps_jobs_by_its_own_clock)
{
	struct device_room r = room_open("--gpu=soft", 64);
	struct quoit_ring_params params = {.flags = QUOIT_RING_STAMPS};
	struct quoit_stamps t;
	struct quoit_ring *q;
	quoit_tensor x;
	quoit_job job;

	cr_assert_eq(quoit_open_ring(r.s, &params, &q), 0);
	cr_assert_eq(quoit_use_device(q, 1), 0);
	x = quoit_create_matrix(q, QUOIT_F32, 500, 500);
	cr_assert_eq(quoit_start(q, quoit_normal(x, 1, 0), &job), 0);
	cr_assert_eq(quoit_wait_n(q, &job, 1, 1, 10000), 1);
	cr_assert(quoit_get_job_stamps(q, job, &t));
	cr_expect_gt(t.device_start, 0);
	cr_expect_lt(t.device_start, t.device_end + t.device_error);
	cr_expect_leq(t.start, t.device_start + t.device_error);
	cr_expect_leq(t.device_end, t.end + t.device_error);
	room_close(&r);
}
