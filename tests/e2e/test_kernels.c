/* SPDX-License-Identifier: MIT */
/* test_kernels.c - kernels that a session brings: their results, and refusals */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "own.h"
#include "tool.h"

TestSuite(kernels, .timeout = 60);

/* ---- launches ---- */

Test(kernels, a_kernel_computes_what_it_should)
{
	struct own o = own_open();

	own_expect_stencil(o.q, own_add_stencil(o.s));
	own_close(&o);
}

Test(kernels, scalars_of_the_job_are_arguments)
{
	struct own o = own_open();
	const struct quoit_kernel_desc d = {.name = "saxpy",
					    .grid = {1, 1, 1},
					    .block = {64, 1, 1},
					    .access = "MR--",
					    .args = 4,
					    .arg = {quoit_arg_scalar(1, 4), quoit_arg_scalar(0, 4),
						    quoit_arg_tensor(1), quoit_arg_tensor(0)}};
	int kernel = own_add(o.s, own_load(o.s), &d);
	quoit_tensor x = quoit_create_vector(o.q, QUOIT_F32, 10),
		     y = quoit_create_vector(o.q, QUOIT_F32, 10);
	const float a = 3;
	float got[10];

	quoit_push(o.q, quoit_fill(x, 2.0));
	quoit_push(o.q, quoit_fill(y, 1.0));
	cr_expect_eq(room_run(o.q,
			      quoit_with_scalars(quoit_launch(kernel, y, x, 0, 0),
						 quoit_float_bits(a), 7),
			      NULL),
		     0);
	cr_assert_eq(quoit_read(o.q, y, got, sizeof got), 0);
	cr_expect_eq(got[6], 7.0f);
	cr_expect_eq(got[7], 1.0f, "n is the other scalar");
	own_close(&o);
}

Test(kernels, launches_are_in_order_with_other_jobs_by_their_access)
{
	struct own o = own_open();
	int kernel = own_add_stencil(o.s);
	quoit_tensor t[2];
	static float got[ROWS * COLS];

	for (int i = 0; i < 2; i++)
		t[i] = quoit_create_matrix(o.q, QUOIT_F32, ROWS, COLS);
	for (int round = 0; round < 20; round++) {
		quoit_push(o.q, quoit_fill(t[0], round));
		for (int i = 0; i < 10; i++)
			quoit_push(o.q, quoit_launch(kernel, t[(i + 1) % 2], t[i % 2], 0, 0));
		quoit_push(o.q, quoit_add_scalar(t[1], t[0], 0.5));
		cr_assert_eq(quoit_read(o.q, t[1], got, sizeof got), 0);
		for (unsigned i = 0; i < ROWS * COLS; i++)
			cr_assert_float_eq(got[i], (float)round + 0.5f, 1e-4f, "round %d", round);
	}
	own_close(&o);
}

/* Its access letters claim that it writes all of it; quoitd does not rely on that. */
Test(kernels, a_kernel_that_writes_nothing_shows_no_old_bytes)
{
	struct own o = own_open();
	struct quoit_kernel_desc d = {.name = "spin",
				      .grid = {1, 1, 1},
				      .block = {1, 1, 1},
				      .access = "W---",
				      .args = 1,
				      .arg = {quoit_arg_constant(1, 8)}};
	int kernel = own_add(o.s, own_load(o.s), &d);
	quoit_tensor old = quoit_create_vector(o.q, QUOIT_F32, 5000), fresh;
	float got[5000];

	cr_assert_eq(room_run(o.q, quoit_fill(old, 5.0), NULL), 0);
	quoit_free(o.q, old);
	fresh = quoit_create_vector(o.q, QUOIT_F32, 5000);
	cr_assert_eq(room_run(o.q, quoit_launch(kernel, fresh, 0, 0, 0), NULL), 0);
	cr_assert_eq(quoit_read(o.q, fresh, got, sizeof got), 0);
	for (int i = 0; i < 5000; i++)
		cr_assert_eq(got[i], 0.0f, "element %d", i);
	own_close(&o);
}

Test(kernels, tensors_elsewhere_are_refused)
{
	struct own o = own_open();
	int kernel = own_add_stencil(o.s);
	quoit_tensor out = quoit_create_matrix(o.q, QUOIT_F32, ROWS, COLS), in;
	struct quoit_error error;

	(void)quoit_use_device(o.q, 0);
	in = quoit_create_matrix(o.q, QUOIT_F32, ROWS, COLS);
	cr_expect_eq(room_run(o.q, quoit_launch(kernel, out, in, 0, 0), &error), -EXDEV);
	cr_expect_eq(error.field, QUOIT_FIELD_TENSOR1);
	cr_expect_eq(room_run(o.q, quoit_launch(kernel + 1, out, out, 0, 0), &error), -EINVAL);
	cr_expect_eq(error.field, QUOIT_FIELD_ARG);
	own_close(&o);
}

Test(kernels, other_jobs_of_such_a_session_run_as_ever)
{
	struct own o = own_open();
	quoit_tensor x = quoit_create_matrix(o.q, QUOIT_F32, 100, 100);
	quoit_tensor y = quoit_create_matrix(o.q, QUOIT_F32, 100, 100);
	static float got[100 * 100];

	quoit_push(o.q, quoit_fill(x, 2.0));
	quoit_push(o.q, quoit_gemm(y, x, x, 0, 1.0, 0.0));
	cr_assert_eq(quoit_read(o.q, y, got, sizeof got), 0);
	cr_expect_eq(got[9999], 400.0f);
	own_close(&o);
}

/* ---- refusals ---- */

#define ADDITIONS 20 /* between two launches */

/*
 * Small jobs go to the consumer of the user's own process on the device, which makes way for
 * launches.
 */
Test(kernels, such_a_session_may_be_in_gpu_direct_mode_too)
{
	struct own o = own_open();
	const struct quoit_open_params p = {.socket = o.room.daemon.socket,
					    .host_bytes = UINT64_C(16) << 20,
					    .device_bytes = UINT64_C(16) << 20,
					    .flags = QUOIT_OPEN_KERNELS | QUOIT_OPEN_DIRECT};
	struct quoit_device_desc d = {0};
	struct quoit_session *s;
	struct quoit_info info;
	struct quoit_ring *q;
	quoit_tensor x;
	int kernel, rounds = 0;
	float got[3];

	cr_assert_eq(quoit_open(&p, &s), 0, "%s", quoit_open_text());
	quoit_get_info(s, &info);
	cr_assert(info.direct);
	cr_assert_eq(quoit_open_ring(s, NULL, &q), 0);
	cr_assert_eq(quoit_use_device(q, 1), 0);
	kernel = own_add_stencil(s);
	x = quoit_create_vector(q, QUOIT_F32, 3);
	cr_assert_eq(room_run(q, quoit_fill(x, 0.0), NULL), 0);
	for (; rounds < 3 || (d.jobs_direct < ADDITIONS && rounds < 2000); rounds++) {
		for (int i = 0; i < ADDITIONS; i++)
			cr_assert_eq(room_run(q, quoit_add_scalar(x, x, 1.0), NULL), 0);
		own_expect_stencil(q, kernel);
		cr_assert_eq(quoit_query_device(s, 1, &d), 0);
	}
	cr_expect_geq(d.jobs_direct, ADDITIONS, "after %d rounds", rounds);
	cr_assert_eq(quoit_read(q, x, got, sizeof got), 0);
	cr_expect_eq(got[2], (float)(rounds * ADDITIONS));
	(void)quoit_close(s, 0);
	own_close(&o);
}

Test(kernels, what_is_no_image_is_refused_in_the_drivers_words)
{
	struct own o = own_open();
	struct quoit_info info;

	quoit_get_info(o.s, &info);
	cr_expect_eq(quoit_load_image(o.s, 1, "\177ELF", 4), -ENOEXEC);
	cr_expect(!room_is_soft() || strstr(quoit_open_text(), "soft"), "'%s'", quoit_open_text());
	cr_expect_eq(quoit_load_image(o.s, 1, "", 0), -EFBIG);
	cr_expect_eq(quoit_load_image(o.s, 0, "soft", 4), -ENODEV);
	cr_expect_eq(quoit_load_image(o.s, info.devices + 1, "soft", 4), -ENODEV);
	own_expect_stencil(o.q, own_add_stencil(o.s));
	own_close(&o);
}

Test(kernels, a_kernel_that_the_image_has_not_is_refused)
{
	struct own o = own_open();
	struct quoit_kernel_desc d = own_stencil_desc();
	int image = own_load(o.s);

	snprintf(d.name, sizeof d.name, "stencil6");
	cr_expect_eq(quoit_register_kernel(o.s, image, &d), -ENOENT);
	cr_expect(strstr(quoit_open_text(), "stencil6"), "'%s'", quoit_open_text());
	cr_expect_eq(quoit_register_kernel(o.s, image + 1, &d), -EBADF);
	cr_expect_eq(quoit_register_kernel(o.s, -1, &d), -EBADF);
	d.args = 17;
	cr_expect_eq(quoit_register_kernel(o.s, image, &d), -EINVAL);
	cr_expect(strstr(quoit_open_text(), "17 arguments"), "'%s'", quoit_open_text());
	own_close(&o);
}

Test(kernels, arguments_that_do_not_fit_fail_the_launch_alone)
{
	struct own o = own_open();
	struct quoit_kernel_desc d = own_stencil_desc();
	quoit_tensor x = quoit_create_matrix(o.q, QUOIT_F32, ROWS, COLS);
	quoit_tensor y = quoit_create_matrix(o.q, QUOIT_F32, ROWS, COLS);
	int image = own_load(o.s), bad;

	d.args = 3;
	d.arg[3] = (struct quoit_kernel_arg){0};
	bad = own_add(o.s, image, &d);
	cr_assert_eq(room_run(o.q, quoit_fill(x, 1.0), NULL), 0);
	cr_expect_eq(room_run(o.q, quoit_launch(bad, y, x, 0, 0), NULL), -EINVAL);
	own_expect_stencil(o.q, own_add_stencil(o.s));
	own_close(&o);
}

Test(kernels, a_session_that_did_not_say_so_brings_none)
{
	struct own o = own_open();

	cr_expect_eq(quoit_load_image(o.room.s, 1, "soft", 4), -EPERM);
	cr_expect_eq(quoit_unload_image(o.room.s, 0), -EPERM);
	own_close(&o);
}

Test(kernels, an_unloaded_image_is_gone_and_its_place_free)
{
	struct own o = own_open();
	const struct quoit_kernel_desc d = own_stencil_desc();
	quoit_tensor x = quoit_create_matrix(o.q, QUOIT_F32, ROWS, COLS);
	quoit_tensor y = quoit_create_matrix(o.q, QUOIT_F32, ROWS, COLS);

	for (unsigned i = 0; i < 3 * QUOIT_MAX_IMAGES; i++) {
		int image = own_load(o.s), kernel = own_add(o.s, image, &d);

		cr_assert_eq(room_run(o.q, quoit_launch(kernel, y, x, 0, 0), NULL), 0);
		cr_assert_eq(quoit_unload_image(o.s, image), 0);
		cr_expect_eq(quoit_unload_image(o.s, image), -EBADF);
		cr_assert_eq(room_run(o.q, quoit_launch(kernel, y, x, 0, 0), NULL), -EINVAL);
	}
	for (unsigned i = 0; i < QUOIT_MAX_IMAGES; i++)
		(void)own_load(o.s);
	cr_expect_eq(quoit_load_image(o.s, 1, "soft", 4), -ENFILE);
	own_close(&o);
}

Test(kernels, jobs_under_way_keep_an_image_that_is_unloaded)
{
	struct own o = own_open();
	int kernel = own_add_spin(o.s), image;
	const struct quoit_kernel_desc d = own_stencil_desc();
	quoit_tensor x = quoit_create_matrix(o.q, QUOIT_F32, ROWS, COLS);
	quoit_tensor y = quoit_create_matrix(o.q, QUOIT_F32, ROWS, COLS);
	int stencil;
	quoit_job job;

	image = own_load(o.s);
	stencil = own_add(o.s, image, &d);
	quoit_push(o.q, quoit_fill(x, 1.0));
	quoit_push(o.q, own_spin(kernel, x, 100000000));
	cr_assert_eq(quoit_start(o.q, quoit_launch(stencil, y, x, 0, 0), &job), 0);
	cr_assert_eq(quoit_flush(o.q), 0);
	usleep(20000);
	cr_assert_eq(quoit_unload_image(o.s, image), 0);
	cr_expect_eq(quoit_wait(o.q, job, 20000), 0);
	own_expect_stencil(o.q, own_add_stencil(o.s));
	own_close(&o);
}

/* ---- the example ---- */

Test(kernels, the_example_computes_what_the_cpu_does)
{
	char said[1024];

	setenv("QUOIT_GPU", room_kind(), 1);
	cr_expect_eq(tool_run(said, sizeof said, "run -- %s/examples/stencil", tool_folder()), 0,
		     "%s", said);
	cr_expect(strstr(said, "off by 0"), "%s", said);
}
