/* SPDX-License-Identifier: MIT */
/* device.c - open a private quoitd with soft devices, and a session there */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit/stats.h>

#define PATIENCE_MS 10000
#define STEP_MS     2

/* longer than the time between two updates of the totals, a tenth of a second */
#define TOTALS_MS 250

#define OPTIONS 8

bool room_is_soft(void)
{
	return !strncmp(room_kind(), "soft", 4);
}

const char *room_kind(void)
{
	return getenv("QUOIT_TEST_GPU") ? getenv("QUOIT_TEST_GPU") : "soft";
}

void room_adapt(const char **options)
{
	static char kind[32];
	const char *faults = getenv("QUOIT_SOFT_FAULTS");

	if (room_is_soft())
		return;
	snprintf(kind, sizeof kind, "--gpu=%s", room_kind());
	if (faults && *faults)
		cr_skip_test("a real device does not fail when it is told to");
	for (const char **o = options; *o; o++) {
		if (!strncmp(*o, "--gpu-memory=", 13))
			cr_skip_test("a real device is as large as it is");
		if (!strncmp(*o, "--gpu=soft", 10))
			*o = kind;
	}
}

/* Skip a test of two devices if there is only one. */
static void skip_without(struct device_room *r, const char *const *wanted)
{
	struct quoit_info info;

	quoit_get_info(r->s, &info);
	if (room_is_soft() || info.devices >= 2)
		return;
	for (; *wanted; wanted++)
		if (!strcmp(*wanted, "--gpu=soft:2")) {
			room_close(r);
			cr_skip_test("there is one device");
		}
}

struct device_room room_open_with(const char *const *wanted, uint32_t megabytes)
{
	struct device_room r = {0};
	const char *options[OPTIONS] = {NULL};
	struct quoit_open_params p = {.host_bytes = UINT64_C(64) << 20,
				      .pinned_bytes = UINT64_C(16) << 20,
				      .device_bytes = (uint64_t)megabytes << 20};

	for (unsigned i = 0; wanted[i]; i++) {
		cr_assert_lt(i, OPTIONS - 1);
		options[i] = wanted[i];
	}
	room_adapt(options);
	cr_assert_eq(daemon_start(&r.daemon, options), 0);
	p.socket = r.daemon.socket;
	cr_assert_eq(quoit_open(&p, &r.s), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(r.s, NULL, &r.q), 0);
	cr_assert_eq(quoit_open_ring(r.s, NULL, &r.d), 0);
	(void)quoit_use_device(r.d, 1); /* there may be no device */
	skip_without(&r, wanted);
	return r;
}

struct device_room room_open(const char *gpu, uint32_t megabytes)
{
	const char *const options[] = {gpu, "--log=error", NULL};

	return room_open_with(options, megabytes);
}

void room_close(struct device_room *r)
{
	(void)quoit_close(r->s, QUOIT_CLOSE_CANCEL);
	daemon_stop(&r->daemon);
}

/* The pid in the device's line of the topology file; 0: the process is being started. */
static pid_t executor(const struct device_room *r, unsigned device)
{
	char text[8192], start[24];
	char *line, *pid;

	snprintf(start, sizeof start, "\ndevice %u: ", device);
	daemon_topology(&r->daemon, text, sizeof text);
	line = strstr(text, start);
	if (!line++)
		return 0;
	line[strcspn(line, "\n")] = '\0';
	pid = strstr(line, ", pid ");
	return pid ? (pid_t)strtol(pid + strlen(", pid "), NULL, 10) : 0;
}

bool room_topology_says(const struct device_room *r, const char *words)
{
	char text[8192];

	for (int i = 0; i < 10000; i++) {
		daemon_topology(&r->daemon, text, sizeof text);
		if (strstr(text, words))
			return true;
		usleep(5000);
	}
	return false;
}

void room_expect_zeros(const struct device_room *r, uint32_t elements)
{
	const struct quoit_shape part = {
		.dtype = QUOIT_F32, .dim = {1, 1, 1, 10}, .stride = {1, 1, 1, 7}};
	float *got = malloc(elements * sizeof *got);
	quoit_tensor old = quoit_create_vector(r->d, QUOIT_F32, elements), fresh, view;

	quoit_push(r->d, quoit_fill(old, 5.0));
	quoit_free(r->d, old);
	fresh = quoit_create_vector(r->d, QUOIT_F32, elements);
	view = quoit_view(r->d, fresh, &part, 8);
	quoit_push(r->d, quoit_fill(view, 1.0));
	cr_assert_eq(quoit_read(r->d, fresh, got, elements * sizeof *got), 0);
	for (unsigned k = 0; k < elements; k++)
		cr_assert_eq(got[k], (k >= 2 && k < 2 + 70 && (k - 2) % 7 == 0) ? 1.0f : 0.0f,
			     "element %u is %f", k, (double)got[k]);
	quoit_free(r->d, view);
	quoit_free(r->d, fresh);
	free(got);
}

pid_t room_executor_of(const struct device_room *r, unsigned device, pid_t before)
{
	for (int i = 0; i < PATIENCE_MS / STEP_MS; i++) {
		pid_t now = executor(r, device);

		if (now && now != before)
			return now;
		usleep(STEP_MS * 1000);
	}
	cr_assert_fail("no executor came up");
	return 0;
}

pid_t room_executor(const struct device_room *r, pid_t before)
{
	return room_executor_of(r, 1, before);
}

uint64_t room_count(const struct device_room *r, unsigned counter)
{
	const struct quoit_totals *t = daemon_totals(&r->daemon);
	uint64_t sum = 0;

	usleep(TOTALS_MS * 1000);

	cr_assert_not_null(t);
	for (uint32_t i = 0; i < t->header.reactors; i++)
		sum += __atomic_load_n(&t->reactor[i].value[counter], __ATOMIC_RELAXED);
	daemon_totals_unmap(t);
	return sum;
}

int room_run(struct quoit_ring *q, struct quoit_sqe sqe, struct quoit_error *ret)
{
	quoit_job job;
	int res;

	cr_assert_eq(quoit_start(q, sqe, &job), 0);
	cr_assert_eq(quoit_wait_n(q, &job, 1, 1, 20000), 1);
	res = quoit_get_result(q, job);
	if (ret)
		(void)quoit_get_job_error(q, job, ret);
	quoit_detach(q, job);
	return res;
}
