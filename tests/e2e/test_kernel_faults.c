/* SPDX-License-Identifier: MIT */
/* test_kernel_faults.c - kernels that fault or never end concern only their user's process */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "own.h"

TestSuite(kernel_faults, .timeout = 60);

/* ---- faults ---- */

/* The session without kernels has lost nothing, and its process is the same. */
static void expect_others_unharmed(struct own *o, quoit_tensor theirs, pid_t process)
{
	float got[100];

	cr_expect_eq(room_executor(&o->room, 0), process);
	cr_assert_eq(quoit_read(o->room.d, theirs, got, sizeof got), 0);
	cr_expect_eq(got[99], 4.0f);
}

static quoit_tensor make_theirs(struct own *o)
{
	quoit_tensor t = quoit_create_vector(o->room.d, QUOIT_F32, 100);

	cr_assert_eq(room_run(o->room.d, quoit_fill(t, 4.0), NULL), 0);
	return t;
}

Test(kernel_faults, a_fault_concerns_its_users_process_alone)
{
	struct own o = own_open();
	pid_t shared = room_executor(&o.room, 0), mine = own_process(&o, 0);
	quoit_tensor theirs = make_theirs(&o);
	int bad = own_add_fault(o.s), good = own_add_stencil(o.s);
	quoit_tensor x = quoit_create_matrix(o.q, QUOIT_F32, ROWS, COLS);
	quoit_tensor y = quoit_create_matrix(o.q, QUOIT_F32, ROWS, COLS);
	quoit_tensor z = quoit_create_vector(o.q, QUOIT_F32, 10);
	struct quoit_error error = {0};

	cr_assert_neq(shared, mine);
	cr_assert_eq(room_run(o.q, quoit_fill(z, 1.0), NULL), 0);
	cr_expect_eq(room_run(o.q, quoit_launch(bad, y, x, 0, 0), &error), -QUOIT_EGPUFAULT);
	cr_expect_eq(error.field, QUOIT_FIELD_DEVICE);
	cr_expect_eq(error.value[1], QUOIT_FAULT_OWN);
	cr_expect_eq(room_run(o.q, quoit_nop(z), &error), -QUOIT_EPOISON, "its memory is lost");
	cr_expect_eq(error.code, -QUOIT_EDEVLOST);
	cr_expect_neq(own_process(&o, mine), mine);
	expect_others_unharmed(&o, theirs, shared);
	own_expect_stencil(o.q, good); /* the new process loads the image again */
	own_close(&o);
}

Test(kernel_faults, a_killed_process_has_all_images_again)
{
	struct own o = own_open();
	pid_t shared = room_executor(&o.room, 0), mine = own_process(&o, 0);
	quoit_tensor theirs = make_theirs(&o);
	int kernel = own_add_stencil(o.s), other = own_add_stencil(o.s);

	for (int i = 0; i < 3; i++) {
		own_expect_stencil(o.q, kernel);
		own_expect_stencil(o.q, other);
		cr_assert_eq(kill(mine, SIGKILL), 0);
		mine = own_process(&o, mine);
	}
	own_expect_stencil(o.q, other);
	expect_others_unharmed(&o, theirs, shared);
	own_close(&o);
}

Test(kernel_faults, a_deadline_ends_a_kernel_that_never_does)
{
	struct own o = own_open();
	pid_t shared = room_executor(&o.room, 0), mine = own_process(&o, 0);
	quoit_tensor theirs = make_theirs(&o), x = quoit_create_vector(o.q, QUOIT_F32, 10);
	quoit_tensor y = quoit_create_vector(o.q, QUOIT_F32, 10);
	int kernel = own_add_spin(o.s);
	struct quoit_error error = {0};
	quoit_job victim, culprit;

	cr_assert_eq(room_run(o.q, quoit_fill(x, 1.0), NULL), 0);
	cr_assert_eq(quoit_start(o.q, quoit_with_deadline(own_spin(kernel, x, UINT64_MAX), 200000),
				 &culprit),
		     0);
	cr_assert_eq(quoit_start(o.q, own_spin(kernel, y, 10000000000u), &victim), 0);
	cr_expect_eq(quoit_wait(o.q, culprit, 20000), -ETIME);
	cr_assert_eq(quoit_wait_n(o.q, &victim, 1, 1, 20000), 1);
	cr_expect_eq(quoit_get_result(o.q, victim), -QUOIT_EGPUFAULT);
	cr_assert(quoit_get_job_error(o.q, victim, &error));
	cr_expect_eq(error.value[1], QUOIT_FAULT_OTHER);
	cr_expect_eq(room_run(o.q, quoit_nop(x), NULL), -QUOIT_EPOISON);
	cr_expect_neq(own_process(&o, mine), mine);
	expect_others_unharmed(&o, theirs, shared);
	own_expect_stencil(o.q, own_add_stencil(o.s));
	own_close(&o);
}

Test(kernel_faults, without_a_deadline_it_has_what_any_job_has)
{
	struct own o = own_open_with("--gpu-ms=200");
	quoit_tensor x = quoit_create_vector(o.q, QUOIT_F32, 10);
	int kernel = own_add_spin(o.s);

	cr_expect_eq(room_run(o.q, own_spin(kernel, x, UINT64_MAX), NULL), -ETIME);
	cr_expect_eq(room_run(o.q, quoit_fill(x, 1.0), NULL), 0);
	cr_expect_eq(room_run(o.q, own_spin(kernel, x, 1000), NULL), 0);
	own_close(&o);
}

Test(kernel_faults, a_dead_clients_kernel_does_not_hold_the_process)
{
	struct own o = own_open();
	pid_t mine = own_process(&o, 0);
	pid_t client = fork();
	struct quoit_session *s;
	struct quoit_ring *q;

	if (client == 0) {
		bringer_open(&o.room, &s, &q);
		quoit_push(q, own_spin(own_add_spin(s), quoit_create_vector(q, QUOIT_F32, 10),
				       UINT64_MAX));
		(void)quoit_flush(q);
		usleep(50000);
		_exit(0);
	}
	cr_expect_neq(own_process(&o, mine), mine, "ended a second after its client");
	own_expect_stencil(o.q, own_add_stencil(o.s));
	own_close(&o);
}

static void inject(const char *faults)
{
	setenv("QUOIT_SOFT_FAULTS", faults, 1);
}

Test(kernel_faults, an_image_that_ends_the_process_is_refused)
{
	struct own o;

	inject("module_new:1:EGPUFAULT");
	o = own_open();
	cr_expect_eq(quoit_load_image(o.s, 1, "soft", 4), -QUOIT_EGPUFAULT);
	cr_expect(*quoit_open_text());
	own_close(&o);
}

/* The driver's refusal is reported when the kernel is registered; the next kernel is fine. */
Test(kernel_faults, a_kernel_that_cannot_be_loaded_is_refused)
{
	struct quoit_kernel_desc d = own_stencil_desc();
	struct own o;
	int image;

	inject("kernel_find:1:EINVAL,kernel_find:2:ENOMEM");
	o = own_open();
	image = own_load(o.s);
	cr_expect_eq(quoit_register_kernel(o.s, image, &d), -ENOEXEC);
	cr_expect(strstr(quoit_open_text(), "cannot load"), "'%s'", quoit_open_text());
	cr_expect_eq(quoit_register_kernel(o.s, image, &d), -ENOMEM);
	own_expect_stencil(o.q, own_add(o.s, image, &d));
	own_close(&o);
}

Test(kernel_faults, a_launch_that_fails_once_fails_its_job_alone)
{
	struct own o;
	quoit_tensor x, y;
	pid_t mine;
	int kernel;

	inject("launch:1:EINVAL,launch:2:ENOMEM");
	o = own_open();
	mine = own_process(&o, 0);
	kernel = own_add_stencil(o.s);
	x = quoit_create_matrix(o.q, QUOIT_F32, ROWS, COLS);
	y = quoit_create_matrix(o.q, QUOIT_F32, ROWS, COLS);
	cr_assert_eq(room_run(o.q, quoit_fill(x, 1.0), NULL), 0);
	cr_expect_eq(room_run(o.q, quoit_launch(kernel, y, x, 0, 0), NULL), -EINVAL);
	cr_expect_eq(room_run(o.q, quoit_launch(kernel, y, x, 0, 0), NULL), -ENOMEM);
	own_expect_stencil(o.q, kernel);
	cr_expect_eq(own_process(&o, 0), mine, "it goes on");
	own_close(&o);
}

Test(kernel_faults, a_launch_that_breaks_the_device_ends_the_users_process)
{
	struct own o;
	quoit_tensor x, y;
	pid_t mine;
	int kernel;

	inject("launch:2:EGPUFAULT");
	o = own_open();
	mine = own_process(&o, 0);
	kernel = own_add_stencil(o.s);
	own_expect_stencil(o.q, kernel);
	x = quoit_create_matrix(o.q, QUOIT_F32, ROWS, COLS);
	y = quoit_create_matrix(o.q, QUOIT_F32, ROWS, COLS);
	cr_assert_eq(room_run(o.q, quoit_fill(x, 1.0), NULL), 0);
	cr_expect_eq(room_run(o.q, quoit_launch(kernel, y, x, 0, 0), NULL), -QUOIT_EGPUFAULT);
	cr_expect_neq(own_process(&o, mine), mine);
	own_expect_stencil(o.q, kernel);
	own_close(&o);
}

Test(kernel_faults, a_process_that_cannot_be_started_is_said_to_be_lost)
{
	struct own o = own_open();
	struct quoit_device_desc d = {0};
	int kernel = own_add_fault(o.s), res = 0;
	quoit_tensor x = quoit_create_matrix(o.q, QUOIT_F32, ROWS, COLS);
	quoit_tensor y = quoit_create_matrix(o.q, QUOIT_F32, ROWS, COLS);
	quoit_tensor theirs = make_theirs(&o);
	pid_t shared = room_executor(&o.room, 0);

	for (int i = 0; i < 20 && res != -ENODEV; i++) /* each is the first job of its process */
		res = room_run(o.q, quoit_launch(kernel, y, x, 0, 0), NULL);
	cr_expect_eq(res, -ENODEV);
	cr_assert_eq(quoit_query_device(o.s, 1, &d), 0);
	cr_expect(d.lost);
	cr_expect_eq(quoit_load_image(o.s, 1, "soft", 4), -ENODEV);
	cr_assert_eq(quoit_query_device(o.room.s, 1, &d), 0);
	cr_expect(d.up);
	expect_others_unharmed(&o, theirs, shared);
	own_close(&o);
}

/* ---- processes come and go ---- */

Test(kernel_faults, sessions_of_a_user_share_a_process_that_ends_after_the_last)
{
	struct own o = own_open();
	pid_t mine = own_process(&o, 0);
	struct quoit_session *s;
	struct quoit_ring *q;

	bringer_open(&o.room, &s, &q);
	own_expect_stencil(q, own_add_stencil(s));
	cr_expect_eq(own_process(&o, 0), mine);
	cr_assert_eq(quoit_close(s, 0), 0);
	own_expect_stencil(o.q, own_add_stencil(o.s));
	cr_assert_eq(quoit_close(o.s, 0), 0);
	for (int ms = 0; ms < 20000 && kill(mine, 0) == 0; ms += 20)
		usleep(20000);
	cr_expect_eq(kill(mine, 0), -1);
	bringer_open(&o.room, &o.s, &o.q);
	own_expect_stencil(o.q, own_add_stencil(o.s));
	cr_expect_neq(own_process(&o, 0), mine);
	own_close(&o);
}
