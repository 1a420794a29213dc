/* SPDX-License-Identifier: MIT */
/* soft_case.c - open a soft device for a test */
#include "soft_case.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static const struct quoit_device_driver *const soft = &soft_device_driver;

struct quoit_device *soft_case_open(const char *bytes)
{
	struct quoit_device_info info;
	struct quoit_device *d = NULL;
	char text[128] = "";

	(void)setenv("QUOIT_SOFT_BYTES", bytes, 1);
	cr_assert_eq(soft->open(0, &d, &info, text, sizeof text), 0, "%s", text);
	return d;
}

struct quoit_device_stream *soft_case_stream(struct quoit_device *d)
{
	struct quoit_device_stream *s = NULL;

	cr_assert_eq(soft->stream_new(d, QUOIT_DEVICE_NORMAL, &s), 0);
	return s;
}

void *soft_case_host(struct quoit_device *d, size_t bytes)
{
	void *memory = NULL;

	cr_assert_eq(soft->host_new(d, bytes, &memory), 0);
	return memory;
}

uint64_t soft_case_memory(struct quoit_device *d, uint64_t bytes)
{
	uint64_t address = 0;

	cr_assert_eq(soft->memory_new(d, bytes, &address), 0);
	return address;
}

struct quoit_device_event *soft_case_mark(struct quoit_device *d, struct quoit_device_stream *s)
{
	struct quoit_device_event *e = NULL;

	cr_assert_eq(soft->event_new(d, &e), 0);
	cr_assert_eq(soft->event_record(e, s), 0);
	return e;
}

int soft_case_finish(struct quoit_device *d, struct quoit_device_stream *s)
{
	struct quoit_device_event *e = soft_case_mark(d, s);
	int done;

	while (!(done = soft->event_done(e)))
		(void)sched_yield();
	soft->event_free(e);
	return done;
}

int soft_case_break(struct quoit_device *d, const struct quoit_device_verdict **ret_verdict)
{
	int err;

	while (!(err = soft->health(d, ret_verdict)))
		(void)sched_yield();
	return err;
}

void soft_case_in(struct quoit_device_stream *s, uint64_t to, const void *from, uint64_t bytes)
{
	cr_assert_eq(soft->copy(s, to, (uintptr_t)from, bytes, QUOIT_DEVICE_IN), 0);
}

void soft_case_out(struct quoit_device_stream *s, void *to, uint64_t from, uint64_t bytes)
{
	cr_assert_eq(soft->copy(s, (uintptr_t)to, from, bytes, QUOIT_DEVICE_OUT), 0);
}

int soft_case_launch(struct quoit_device *d, struct quoit_device_stream *s, const char *kernel,
		     uint32_t count, const void *const arg[], const uint8_t bytes[])
{
	struct quoit_device_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .args = count};
	struct quoit_device_module *m = NULL;
	struct quoit_device_kernel *k = NULL;
	char text[128] = "";
	int err;

	cr_assert_eq(soft->module_new(d, "soft", 4, &m, text, sizeof text), 0, "%s", text);
	cr_assert_eq(soft->kernel_find(m, kernel, &k, text, sizeof text), 0);
	memcpy(launch.arg, arg, count * sizeof *arg);
	memcpy(launch.arg_bytes, bytes, count);
	err = soft->launch(s, k, &launch);
	soft->module_free(m);
	return err;
}

void soft_case_spin(struct quoit_device *d, struct quoit_device_stream *s, uint64_t ns)
{
	const void *const arg[] = {&ns};
	const uint8_t bytes[] = {sizeof ns};

	cr_assert_eq(soft_case_launch(d, s, "spin", 1, arg, bytes), 0);
}
