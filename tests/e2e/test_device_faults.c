/* SPDX-License-Identifier: MIT */
/* test_device_faults.c - a device's executor dies, faults, hangs, or never comes up */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <quoit.h>

#include "device.h"

TestSuite(device_faults, .timeout = 60);

/* Faults of the soft device, in each of its processes. */
static struct device_room faulty(const char *faults, const char *option)
{
	const char *options[] = {"--gpu=soft", "--log=error", option, NULL};

	setenv("QUOIT_SOFT_FAULTS", faults, 1);
	return room_open_with(options, 0);
}

/* It computes again, within the time limit of `room_run`. */
static void expect_works(struct device_room *r)
{
	quoit_tensor x = quoit_create_vector(r->d, QUOIT_F32, 100);
	float got[100];

	cr_assert_eq(room_run(r->d, quoit_fill(x, 4.0), NULL), 0);
	cr_assert_eq(room_run(r->d, quoit_add_scalar(x, x, 1.0), NULL), 0);
	cr_assert_eq(quoit_read(r->d, x, got, sizeof got), 0);
	cr_expect_eq(got[99], 5.0f);
	quoit_free(r->d, x);
}

Test(device_faults, a_killed_executor_loses_the_memory_and_comes_back)
{
	struct device_room r = room_open("--gpu=soft", 64);
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_F32, 100),
		     here = quoit_create_vector(r.q, QUOIT_F32, 9);
	pid_t executor = room_executor(&r, 0);
	struct quoit_error error;
	float got[100];

	cr_assert_eq(room_run(r.d, quoit_fill(x, 1.0), NULL), 0);
	kill(executor, SIGKILL);
	(void)room_executor(&r, executor);
	cr_expect_eq(room_run(r.d, quoit_add_scalar(x, x, 1.0), &error), -QUOIT_EPOISON);
	cr_expect_eq(error.code, -QUOIT_EDEVLOST);
	cr_expect_eq(quoit_read(r.d, x, got, sizeof got), -QUOIT_EPOISON);
	cr_expect_eq(room_run(r.q, quoit_fill(here, 1.0), NULL), 0, "cores go on");
	/* A tensor that is written anew is as good as ever. */
	cr_expect_eq(room_run(r.d, quoit_fill(x, 2.0), NULL), 0);
	cr_expect_eq(quoit_read(r.d, x, got, sizeof got), 0);
	cr_expect_eq(got[0], 2.0f);
	expect_works(&r);
	room_close(&r);
}

Test(device_faults, jobs_in_flight_fail_in_their_order_when_it_is_killed)
{
	struct device_room r = room_open("--gpu=soft", 64);
	quoit_tensor x = quoit_create_matrix(r.d, QUOIT_F32, 1000, 1000);
	quoit_tensor y = quoit_create_matrix(r.d, QUOIT_F32, 1000, 1000);
	quoit_job job[40];
	unsigned done = 0;

	quoit_push(r.d, quoit_normal(x, 1, 0));
	for (unsigned i = 0; i < 40; i++)
		cr_assert_eq(quoit_start(r.d, quoit_gemm(y, x, x, 0, 1.0, i ? 1.0 : 0.0), &job[i]),
			     0);
	cr_assert_eq(quoit_wait_n(r.d, job, 40, 2, 20000) >= 2, 1);
	kill(room_executor(&r, 0), SIGKILL);
	cr_assert_eq(quoit_wait_all(r.d, 20000), 0);
	while (done < 40 && !quoit_get_result(r.d, job[done]))
		done++;
	cr_expect_geq(done, 2);
	if (done < 40)
		cr_expect_eq(quoit_get_result(r.d, job[done]), -QUOIT_EGPUFAULT);
	for (unsigned i = done; i < 40; i++)
		cr_expect_lt(quoit_get_result(r.d, job[i]), 0, "job %u after the first failure", i);
	expect_works(&r);
	room_close(&r);
}

struct fault {
	char faults[24]; /* an array, since Criterion copies it, and does not follow pointers */
	int code;
};

static struct fault faults[] = {
	{"run:3:EGPUFAULT", -QUOIT_EGPUFAULT},
	{"run:3:EDEVLOST", -QUOIT_EDEVLOST},
	{"signal:3:EGPUFAULT", -QUOIT_EGPUFAULT},
	{"memory_new:3:ENOMEM", -ENOMEM},
	{"die:3", -QUOIT_EGPUFAULT},
};

ParameterizedTestParameters(device_faults, fails_the_job_by_name_and_goes_on)
{
	return cr_make_param_array(struct fault, faults, sizeof faults / sizeof faults[0]);
}

ParameterizedTest(struct fault *f, device_faults, fails_the_job_by_name_and_goes_on)
{
	struct device_room r = faulty(f->faults, NULL);
	quoit_tensor x[6];
	int failed = 0;

	for (int i = 0; i < 6; i++)
		x[i] = quoit_create_vector(r.d, QUOIT_F32, 1000);
	for (int i = 0; i < 6 && !failed; i++)
		failed = room_run(r.d, quoit_fill(x[i], 1.0), NULL);
	cr_expect_eq(failed, f->code, "%s: %d, not %d", f->faults, failed, f->code);
	room_close(&r);
}

Test(device_faults, a_job_that_never_ends_is_ended_and_the_device_comes_back)
{
	struct device_room r = faulty("hang:2", "--gpu-ms=200");
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_F32, 10),
		     y = quoit_create_vector(r.d, QUOIT_F32, 10);

	cr_expect_eq(room_run(r.d, quoit_fill(x, 1.0), NULL), 0);
	cr_expect_eq(room_run(r.d, quoit_fill(y, 1.0), NULL), -ETIME);
	cr_expect_eq(room_run(r.d, quoit_fill(y, 1.0), NULL), 0, "the first of the next process");
	room_close(&r);
}

Test(device_faults, a_stopped_executor_is_ended)
{
	struct device_room r = faulty("stop:2", "--gpu-ms=200");
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_F32, 10),
		     y = quoit_create_vector(r.d, QUOIT_F32, 10);

	cr_expect_eq(room_run(r.d, quoit_fill(x, 1.0), NULL), 0);
	cr_expect_lt(room_run(r.d, quoit_fill(y, 1.0), NULL), 0);
	cr_expect_eq(room_run(r.d, quoit_fill(y, 1.0), NULL), 0);
	room_close(&r);
}

static void expect_text(const char *text)
{
	cr_expect_str_eq(quoit_open_text(), text);
}

Test(device_faults, one_that_cannot_be_opened_is_left_out)
{
	struct device_room r = faulty("open:1-:ENODEV", NULL);
	struct quoit_open_params p = {.device_bytes = 1 << 20};
	struct quoit_session *s;
	struct quoit_info info;

	quoit_get_info(r.s, &info);
	cr_expect_eq(info.devices, 0);
	cr_expect_eq(quoit_use_device(r.q, 1), -ENODEV);
	expect_text("no device 1: injected by QUOIT_SOFT_FAULTS");
	p.socket = r.daemon.socket;
	cr_expect_lt(quoit_open(&p, &s), 0);
	expect_text("1048576 bytes on a device, but there is none: injected by QUOIT_SOFT_FAULTS");
	room_close(&r);
}

static bool is_counted(const struct device_room *r)
{
	const struct quoit_totals *t = daemon_totals(&r->daemon);
	bool yes;

	cr_assert(t);
	yes = t->value[QUOIT_DAEMON_DEVICES] == 1 && t->value[QUOIT_DAEMON_DEVICES_LOST] == 1;
	daemon_totals_unmap(t);
	return yes;
}

Test(device_faults, one_that_always_dies_is_lost)
{
	struct device_room r = faulty("die:1", NULL);
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_F32, 10);
	quoit_tensor here = quoit_create_vector(r.q, QUOIT_F32, 10);
	struct quoit_device_desc d;
	int res = 0;

	for (int i = 0; i < 20 && res != -ENODEV; i++)
		res = room_run(r.d, quoit_fill(x, 1.0), NULL);
	cr_expect_eq(res, -ENODEV);
	cr_assert_eq(quoit_query_device(r.s, 1, &d), 0);
	cr_expect(d.lost);
	for (int i = 0; i < 1000 && !is_counted(&r); i++)
		usleep(1000);
	cr_expect(is_counted(&r));
	cr_expect_eq(room_run(r.q, quoit_fill(here, 1.0), NULL), 0);
	room_close(&r);
}

Test(device_faults, a_late_job_ends_alone)
{
	struct device_room r = room_open("--gpu=soft", 64);
	quoit_tensor x = quoit_create_matrix(r.d, QUOIT_F32, 1000, 1000);
	quoit_tensor y = quoit_create_matrix(r.d, QUOIT_F32, 1000, 1000);
	pid_t executor = room_executor(&r, 0);
	quoit_job late;

	quoit_push(r.d, quoit_normal(x, 1, 0));
	for (int i = 0; i < 10; i++)
		quoit_push(r.d, quoit_gemm(y, x, x, 0, 1.0, 1.0));
	cr_assert_eq(
		quoit_start(r.d, quoit_with_deadline(quoit_gemm(y, x, x, 0, 1.0, 0.0), 1), &late),
		0);
	cr_expect_eq(quoit_wait(r.d, late, 20000), -ETIME);
	expect_works(&r);
	cr_expect_eq(kill(executor, 0), 0, "it was not ended for that");
	room_close(&r);
}

/*
 * A view with one element for all places (a stride in a dim of 1): four bytes have work for
 * minutes, for which no process should be ended.
 */
Test(device_faults, a_job_that_would_take_too_long_is_refused)
{
	const struct quoit_shape across = {
		.dtype = QUOIT_F32, .dim = {1, 1, 1000, 100000000}, .stride = {1}};
	const struct quoit_shape down = {
		.dtype = QUOIT_F32, .dim = {1, 1, 100000000, 1000}, .stride = {1}};
	struct device_room r = room_open("--gpu=soft", 64);
	quoit_tensor one = quoit_create_vector(r.d, QUOIT_F32, 1);
	quoit_tensor a = quoit_view(r.d, one, &across, 0), b = quoit_view(r.d, one, &down, 0);
	quoit_tensor c = quoit_create_matrix(r.d, QUOIT_F32, 1000, 1000);
	pid_t executor = room_executor(&r, 0);
	struct quoit_error error;

	cr_expect_eq(room_run(r.d, quoit_gemm(c, a, b, 0, 1.0, 0.0), &error), -E2BIG);
	cr_expect_eq(error.field, QUOIT_FIELD_DIM);
	expect_works(&r);
	cr_expect_eq(room_executor(&r, 0), executor);
	room_close(&r);
}

/*
 * New device memory has another user's bytes.  If clearing it fails, the next job that uses it
 * clears it.
 */
Test(device_faults, a_buffer_that_could_not_be_cleared_is_cleared_later)
{
	struct device_room r = faulty("clear:1:ENOMEM,clear:2:ENOMEM", NULL);
	struct quoit_shape part = {
		.dtype = QUOIT_F32, .dim = {1, 1, 1, 10}, .stride = {1, 1, 1, 1}};
	quoit_tensor old = quoit_create_vector(r.d, QUOIT_F32, 1000), fresh, view;
	float got[1000];

	cr_assert_eq(room_run(r.d, quoit_fill(old, 5.0), NULL), 0);
	quoit_free(r.d, old);
	fresh = quoit_create_vector(r.d, QUOIT_F32, 1000);
	view = quoit_view(r.d, fresh, &part, 0);
	cr_expect_eq(room_run(r.d, quoit_fill(view, 1.0), NULL), -ENOMEM);
	cr_expect_eq(quoit_read(r.d, fresh, got, sizeof got), -QUOIT_EPOISON);
	cr_expect_eq(room_run(r.d, quoit_fill(view, 1.0), NULL), 0);
	cr_expect_eq(quoit_read(r.d, fresh, got, sizeof got), 0);
	cr_expect_eq(got[9], 1.0f);
	cr_expect_eq(got[10], 0.0f);
	cr_expect_eq(got[999], 0.0f);
	room_close(&r);
}

/* ---- its message when it ends ---- */

struct end {
	char faults[32]; /* an array, since Criterion copies it, and does not follow pointers */
	char why[64];
};

static struct end ends[] = {
	{"memory_new:1:ENOMEM", "the device cannot be set up: Cannot allocate memory"},
	{"host_new:1:ENOMEM", "the device cannot be set up: Cannot allocate memory"},
	{"stream_new:1:EIO", "the device cannot be set up: Input/output error"},
	{"event_new:1:EIO", "the device cannot be set up: Input/output error"},
	{"host_new:2:EDEVLOST", "the device cannot be set up: injected by QUOIT_SOFT_FAULTS"},
	{"health:1:EGPUFAULT", "injected by QUOIT_SOFT_FAULTS"},
};

ParameterizedTestParameters(device_faults, one_that_ends_by_itself_is_lost_and_says_why)
{
	return cr_make_param_array(struct end, ends, sizeof ends / sizeof ends[0]);
}

ParameterizedTest(struct end *e, device_faults, one_that_ends_by_itself_is_lost_and_says_why)
{
	struct device_room r = faulty(e->faults, NULL);
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_F32, 10);
	quoit_tensor here = quoit_create_vector(r.q, QUOIT_F32, 10);
	char words[128];

	snprintf(words, sizeof words, "lost: quoit-exec ended: %s\n", e->why);
	cr_expect(room_topology_says(&r, words), "%s: %s", e->faults, words);
	cr_expect_eq(room_run(r.d, quoit_fill(x, 1.0), NULL), -ENODEV);
	cr_expect_eq(room_run(r.q, quoit_fill(here, 1.0), NULL), 0);
	room_close(&r);
}

Test(device_faults, one_that_breaks_with_each_job_says_so)
{
	struct device_room r = faulty("run:1:EGPUFAULT", NULL);
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_F32, 10);
	int res = 0;

	for (int i = 0; i < 20 && res != -ENODEV; i++)
		res = room_run(r.d, quoit_fill(x, 1.0), NULL);
	cr_expect_eq(res, -ENODEV);
	cr_expect(
		room_topology_says(&r, "lost: quoit-exec ended: injected by QUOIT_SOFT_FAULTS\n"));
	room_close(&r);
}

Test(device_faults, what_ended_the_last_process_is_said_of_the_next_one)
{
	struct device_room r = faulty("run:2:EGPUFAULT", NULL);
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_F32, 10);

	cr_expect_eq(room_run(r.d, quoit_fill(x, 1.0), NULL), 0);
	cr_expect_eq(room_run(r.d, quoit_fill(x, 1.0), NULL), -QUOIT_EGPUFAULT);
	cr_expect(room_topology_says(
		&r, "starts: 2 (before: quoit-exec ended: injected by QUOIT_SOFT_FAULTS)\n"));
	room_close(&r);
}

/* ---- calls that fail without a job's fault ---- */

Test(device_faults, where_the_clock_is_never_told_jobs_have_no_times)
{
	struct device_room r = faulty("clock:1-:EIO", NULL);
	struct quoit_ring_params params = {.flags = QUOIT_RING_STAMPS};
	struct quoit_stamps t;
	struct quoit_ring *q;
	quoit_job job;

	cr_assert_eq(quoit_open_ring(r.s, &params, &q), 0);
	cr_assert_eq(quoit_use_device(q, 1), 0);
	cr_assert_eq(quoit_start(q, quoit_fill(quoit_create_vector(q, QUOIT_F32, 10), 1.0), &job),
		     0);
	cr_assert_eq(quoit_wait_n(q, &job, 1, 1, 20000), 1);
	cr_expect_eq(quoit_get_result(q, job), 0);
	cr_assert(quoit_get_job_stamps(q, job, &t));
	cr_expect_eq(t.device_start, 0);
	cr_expect_eq(t.device_end, 0);
	room_close(&r);
}

/*
 * Another session uses memory beside our tensor and leaves, so that the driver gets the memory
 * back.
 */
static quoit_tensor come_and_go(const struct device_room *r)
{
	quoit_tensor ours = quoit_create_vector(r->d, QUOIT_F32, 10);
	struct quoit_open_params p = {.socket = r->daemon.socket, .device_bytes = 16 << 20};
	struct quoit_session *s;
	struct quoit_ring *q;

	cr_assert_eq(room_run(r->d, quoit_fill(ours, 3.0), NULL), 0);
	cr_assert_eq(quoit_open(&p, &s), 0);
	cr_assert_eq(quoit_open_ring(s, NULL, &q), 0);
	cr_assert_eq(quoit_use_device(q, 1), 0);
	cr_assert_eq(room_run(q, quoit_fill(quoit_create_vector(q, QUOIT_F32, 1 << 20), 1.0), NULL),
		     0);
	cr_assert_eq(quoit_close(s, 0), 0);
	return ours;
}

Test(device_faults, memory_that_the_driver_does_not_take_back_harms_nobody)
{
	struct device_room r = faulty("memory_free:1:EINVAL", NULL);
	pid_t executor = room_executor(&r, 0);
	quoit_tensor x = come_and_go(&r);
	float got[10];

	expect_works(&r);
	cr_expect_eq(quoit_read(r.d, x, got, sizeof got), 0);
	cr_expect_eq(got[9], 3.0f);
	cr_expect_eq(room_executor(&r, 0), executor);
	room_close(&r);
}

Test(device_faults, a_device_that_breaks_when_it_takes_memory_back_comes_up_again)
{
	struct device_room r = faulty("memory_free:1:EDEVLOST", NULL);
	pid_t executor = room_executor(&r, 0);
	quoit_tensor x = come_and_go(&r);
	float got[10];

	(void)room_executor(&r, executor);
	cr_expect_eq(quoit_read(r.d, x, got, sizeof got), -QUOIT_EPOISON);
	expect_works(&r);
	room_close(&r);
}
