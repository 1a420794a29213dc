/* SPDX-License-Identifier: MIT */
/*
 * soft_kernels.c - kernels that a client may launch.
 *
 * Code that a client brings is never loaded here: it would run with the rights of quoit-exec.  A
 * few built-in kernels stand for it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "soft_private.h"

struct quoit_device_kernel {
	const char *name;
	int (*run)(struct quoit_device *d, const uint64_t arg[SOFT_KERNEL_ARGS]);
	uint32_t args;
	uint8_t arg_bytes[SOFT_KERNEL_ARGS];
};

struct quoit_device_module {
	struct quoit_device *device;
};

/* ---- the kernels ---- */

/* NULL, which is a fault: they are not aligned, or not all in one allocation. */
static float *find_floats(struct quoit_device *d, uint64_t address, uint64_t count)
{
	uint64_t bytes;

	if (address % sizeof(float) || __builtin_mul_overflow(count, sizeof(float), &bytes))
		return NULL;
	return soft_memory_find(d, address, bytes);
}

static int run_stencil5(struct quoit_device *d, const uint64_t arg[SOFT_KERNEL_ARGS])
{
	const uint64_t rows = arg[2], cols = arg[3];
	float *out = find_floats(d, arg[0], rows * cols);
	const float *in = find_floats(d, arg[1], rows * cols);

	if (!out || !in)
		return -QUOIT_EGPUFAULT;
	for (uint64_t i = 0; i < rows; i++)
		for (uint64_t j = 0; j < cols; j++) {
			const float *at = in + i * cols + j;
			const bool edge = !i || !j || i == rows - 1 || j == cols - 1;

			out[i * cols + j] = edge ? *at
						 : 0.2f * (*at + at[-(ptrdiff_t)cols] + at[cols] +
							   at[-1] + at[1]);
		}
	return 0;
}

static int run_saxpy(struct quoit_device *d, const uint64_t arg[SOFT_KERNEL_ARGS])
{
	const uint64_t n = arg[0];
	const float *x = find_floats(d, arg[2], n);
	float *y = find_floats(d, arg[3], n);
	float a;

	if (!x || !y)
		return -QUOIT_EGPUFAULT;
	memcpy(&a, &arg[1], sizeof a);
	for (uint64_t i = 0; i < n; i++)
		y[i] += a * x[i];
	return 0;
}

/* It sleeps, so that a busy device costs the host nothing. */
static int run_spin(struct quoit_device *d, const uint64_t arg[SOFT_KERNEL_ARGS])
{
	struct timespec left = {(time_t)(arg[0] / 1000000000), (long)(arg[0] % 1000000000)};

	(void)d;
	if (arg[0] == UINT64_MAX)
		soft_hang();
	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		;
	return 0;
}

static const struct quoit_device_kernel kernels[] = {
	{"stencil5", run_stencil5, 4, {8, 8, 4, 4}},
	{"saxpy", run_saxpy, 4, {4, 4, 8, 8}},
	{"spin", run_spin, 1, {8}},
};

/* ---- modules ---- */

int soft_module_new(struct quoit_device *d, const void *image, size_t size,
		    struct quoit_device_module **ret, char *text, size_t text_size)
{
	static const char word[] = "soft";
	const size_t length = sizeof word - 1;
	struct quoit_device_module *m;
	int err = soft_enter(d, SOFT_MODULE_NEW);

	if (!err && (size < length || memcmp(image, word, length) ||
		     (size > length && ((const char *)image)[length] != ':')))
		err = -EINVAL;
	if (err) {
		snprintf(text, text_size,
			 "a soft device loads only images \"soft\" and those that begin with "
			 "\"soft:\"");
		return err;
	}
	m = malloc(sizeof *m);
	if (!m)
		return -ENOMEM;
	m->device = d;
	*ret = m;
	return 0;
}

void soft_module_free(struct quoit_device_module *m)
{
	if (m)
		soft_want_parked(m->device);
	free(m);
}

int soft_kernel_find(struct quoit_device_module *m, const char *name,
		     struct quoit_device_kernel **ret, char *text, size_t text_size)
{
	const int err = soft_enter(m->device, SOFT_KERNEL_FIND);

	snprintf(text, text_size, "%s", "");
	if (err)
		return err;
	for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
		if (!strcmp(kernels[i].name, name)) {
			*ret = (struct quoit_device_kernel *)&kernels[i];
			return 0;
		}
	return -ENOENT;
}

/* ---- launches ---- */

static int run_kernel(struct quoit_device *d, const struct soft_task *task)
{
	return task->launch.kernel->run(d, task->launch.arg);
}

static bool has_threads(const struct quoit_device_launch *l)
{
	return l->grid[0] && l->grid[1] && l->grid[2] && l->block[0] && l->block[1] && l->block[2];
}

static bool fits(const struct quoit_device_kernel *k, const struct quoit_device_launch *l)
{
	return l->args == k->args && !memcmp(l->arg_bytes, k->arg_bytes, k->args) && has_threads(l);
}

int soft_launch(struct quoit_device_stream *s, struct quoit_device_kernel *k,
		const struct quoit_device_launch *launch)
{
	struct soft_task *task;
	const int err = soft_stream_reserve(s, SOFT_LAUNCH, &task);

	if (err)
		return err;
	if (!fits(k, launch))
		return -EINVAL;
	task->run = run_kernel;
	task->verdict = launch->verdict;
	task->launch = (struct soft_launch){.kernel = k};
	for (uint32_t i = 0; i < k->args; i++)
		memcpy(&task->launch.arg[i], launch->arg[i], k->arg_bytes[i]);
	soft_stream_submit(s);
	return 0;
}
