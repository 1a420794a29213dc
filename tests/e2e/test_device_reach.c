/* SPDX-License-Identifier: MIT */
/* test_device_reach.c - pinned memory that a device can reach wholly, partly, or not at all */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <quoit.h>

#include "device.h"

TestSuite(device_reach, .timeout = 60);

#define MIB     (UINT64_C(1) << 20)
#define STRETCH (16 * MIB) /* bytes that a driver is asked to register at once */
#define PINNED  (40 * MIB)

static void log_to_file(const struct daemon *d)
{
	if (daemon_log_to_file(d) < 0)
		_exit(126);
}

static struct device_room start(void)
{
	const char *options[] = {"--gpu=soft", "--log=info", NULL};
	struct quoit_open_params p = {
		.host_bytes = 160 * MIB, .pinned_bytes = PINNED, .device_bytes = 64 * MIB};
	struct device_room r = {0};

	room_adapt(options);
	cr_assert_eq(daemon_start_prepared(&r.daemon, options, log_to_file), 0);
	p.socket = r.daemon.socket;
	cr_assert_eq(quoit_open(&p, &r.s), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(r.s, NULL, &r.q), 0);
	cr_assert_eq(quoit_open_ring(r.s, NULL, &r.d), 0);
	cr_assert_eq(quoit_use_device(r.d, 1), 0);
	return r;
}

static uint64_t refused(const struct device_room *r)
{
	struct quoit_info info;

	quoit_get_info(r->s, &info);
	for (int naps = 0; naps < 200; naps++) { /* published when the reactor sleeps */
		if (daemon_session_counter(&r->daemon, info.session, QUOIT_SESSION_PINNED_REFUSED))
			break;
		usleep(1000);
	}
	return daemon_session_counter(&r->daemon, info.session, QUOIT_SESSION_PINNED_REFUSED);
}

/* Copy all of the pinned region to the device and back, and compare. */
static void expect_same_there_and_back(struct device_room *r)
{
	const struct quoit_shape all = {.dtype = QUOIT_F32, .dim = {1, 1, 1, PINNED / 4}};
	quoit_tensor here = quoit_create(r->q, &all, QUOIT_CREATE_PINNED);
	quoit_tensor there = quoit_create(r->d, &all, 0), wanted = quoit_create(r->q, &all, 0);
	quoit_tensor norm = quoit_create_vector(r->q, QUOIT_F32, 1);
	float differ = 1;

	cr_assert_eq(room_run(r->q, quoit_uniform(wanted, 1, 0), NULL), 0);
	cr_assert_eq(room_run(r->q, quoit_copy(here, wanted), NULL), 0);
	cr_assert_eq(room_run(r->d, quoit_copy(there, here), NULL), 0);
	cr_assert_eq(room_run(r->q, quoit_fill(here, 0.0), NULL), 0);
	cr_assert_eq(room_run(r->d, quoit_copy(here, there), NULL), 0);
	cr_assert_eq(room_run(r->q, quoit_sub(here, here, wanted), NULL), 0);
	cr_assert_eq(room_run(r->q, quoit_sqnorm(norm, here, QUOIT_AXIS_ALL), NULL), 0);
	cr_assert_eq(quoit_read(r->q, norm, &differ, sizeof differ), 0);
	cr_expect_eq(differ, 0.0f);
}

struct refusal {
	char faults[32]; /* an array, since Criterion copies it, and does not follow pointers */
	uint64_t bytes;
};

static struct refusal refusals[] = {
	{"", 0},
	{"copy:1+2:EAGAIN", 0}, /* the stream is full between two stretches */
	{"host_register:2:ENOMEM", STRETCH},
	{"host_register:3:ENOMEM", PINNED - 2 * STRETCH},
	{"host_register:1-:ENOTSUP", STRETCH}, /* then quoit-exec does not ask for the others */
};

ParameterizedTestParameters(device_reach, is_the_same_whatever_is_refused)
{
	return cr_make_param_array(struct refusal, refusals, sizeof refusals / sizeof refusals[0]);
}

ParameterizedTest(struct refusal *f, device_reach, is_the_same_whatever_is_refused)
{
	struct device_room r;

	setenv("QUOIT_SOFT_FAULTS", f->faults, 1);
	r = start();
	expect_same_there_and_back(&r);
	cr_expect_eq(refused(&r), f->bytes, "%s", f->faults);
	cr_expect_eq(
		daemon_log_count(&r.daemon, "memory is registered with device 1: ", f->bytes != 0),
		f->bytes != 0, "%s", f->faults);
	room_close(&r);
}
