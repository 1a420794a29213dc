/* SPDX-License-Identifier: MIT */
/* own.c - open a session that brings the soft device's kernels, or equal ones to a real device */
#include "own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit/stats.h>

void bringer_open(const struct device_room *r, struct quoit_session **ret_s,
		  struct quoit_ring **ret_q)
{
	const struct quoit_open_params p = {.socket = r->daemon.socket,
					    .host_bytes = UINT64_C(16) << 20,
					    .device_bytes = UINT64_C(16) << 20,
					    .flags = QUOIT_OPEN_KERNELS};

	cr_assert_eq(quoit_open(&p, ret_s), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(*ret_s, NULL, ret_q), 0);
	cr_assert_eq(quoit_use_device(*ret_q, 1), 0);
}

struct own own_open_with(const char *option)
{
	const char *options[] = {"--gpu=soft", "--log=error", option, NULL};
	struct own o = {.room = room_open_with(options, 16)};

	bringer_open(&o.room, &o.s, &o.q);
	return o;
}

struct own own_open(void)
{
	return own_open_with(NULL);
}

void own_close(struct own *o)
{
	(void)quoit_close(o->s, QUOIT_CLOSE_CANCEL);
	room_close(&o->room);
}

/*
 * The first user's own process on the first device, by its line of the topology file; 0: there is
 * none.
 */
static pid_t find_process(const struct own *o)
{
	char text[8192], *rest = text, *line;

	daemon_topology(&o->room.daemon, text, sizeof text);
	while ((line = strsep(&rest, "\n"))) {
		const char *pid = strstr(line, ", pid ");

		if (!strncmp(line, "own device", 10) && strstr(line, ":0, ") && pid)
			return (pid_t)strtol(pid + strlen(", pid "), NULL, 10);
	}
	return 0;
}

/* Waits until there is one other than `before`. */
pid_t own_process(const struct own *o, pid_t before)
{
	for (int i = 0; i < 5000; i++) {
		pid_t now = find_process(o);

		if (now && now != before)
			return now;
		usleep(2000);
	}
	cr_assert_fail("no process of its own came up");
	return 0;
}

#define IMAGE_BYTES (1u << 20)

/* Read the image that own.cu was compiled to. */
static size_t read_image(char *ret_image)
{
	const char *build = getenv("QUOIT_BUILD");
	char path[512];
	size_t n;
	FILE *f;

	snprintf(path, sizeof path, "%s/tests/e2e/own.ptx", build ? build : "build");
	f = fopen(path, "re");
	cr_assert(f, "no %s", path);
	n = fread(ret_image, 1, IMAGE_BYTES, f);
	fclose(f);
	return n;
}

int own_load(struct quoit_session *s)
{
	static char ptx[IMAGE_BYTES];
	const bool soft = room_is_soft();
	const size_t size = soft ? strlen("soft") : read_image(ptx);
	int image = quoit_load_image(s, 1, soft ? "soft" : ptx, size);

	cr_assert_geq(image, 0, "%d: %s", image, quoit_open_text());
	return image;
}

struct quoit_kernel_desc own_stencil_desc(void)
{
	return (struct quoit_kernel_desc){.name = "stencil5",
					  .grid = {1, 1, 1},
					  .block = {16, 16, 1},
					  .access = "WR--",
					  .args = 4,
					  .arg = {quoit_arg_tensor(0), quoit_arg_tensor(1),
						  quoit_arg_constant(ROWS, 4),
						  quoit_arg_constant(COLS, 4)}};
}

int own_add(struct quoit_session *s, int image, const struct quoit_kernel_desc *d)
{
	int kernel = quoit_register_kernel(s, image, d);

	cr_assert_geq(kernel, 0, "%d: %s", kernel, quoit_open_text());
	return kernel;
}

int own_add_stencil(struct quoit_session *s)
{
	const struct quoit_kernel_desc d = own_stencil_desc();

	return own_add(s, own_load(s), &d);
}

/* Like stencil5, but it reads an address without memory. */
int own_add_fault(struct quoit_session *s)
{
	struct quoit_kernel_desc d = own_stencil_desc();

	memcpy(d.access, "WW--", 4);
	d.arg[2] = quoit_arg_constant(UINT32_MAX, 4);
	return own_add(s, own_load(s), &d);
}

/* Runs for scalar 0 nanoseconds. */
int own_add_spin(struct quoit_session *s)
{
	const struct quoit_kernel_desc d = {.name = "spin",
					    .grid = {1, 1, 1},
					    .block = {1, 1, 1},
					    .access = "M---",
					    .args = 1,
					    .arg = {quoit_arg_scalar(0, 8)}};

	return own_add(s, own_load(s), &d);
}

struct quoit_sqe own_spin(int kernel, quoit_tensor t, uint64_t ns)
{
	return quoit_with_scalars(quoit_launch(kernel, t, 0, 0, 0), ns, 0);
}

static float at(const float *in, unsigned i, unsigned j)
{
	const float *x = in + i * COLS + j;

	if (!i || !j || i == ROWS - 1 || j == COLS - 1)
		return *x;
	return 0.2f * (*x + x[-(int)COLS] + x[COLS] + x[-1] + x[1]);
}

/* Expect the same result as the CPU's. */
void own_expect_stencil(struct quoit_ring *q, int kernel)
{
	quoit_tensor in = quoit_create_matrix(q, QUOIT_F32, ROWS, COLS);
	quoit_tensor out = quoit_create_matrix(q, QUOIT_F32, ROWS, COLS);
	static float from[ROWS * COLS], to[ROWS * COLS];

	for (unsigned i = 0; i < ROWS * COLS; i++)
		from[i] = (float)(i * 37 % 101);
	cr_assert_eq(quoit_write(q, in, from, sizeof from), 0);
	cr_assert_eq(room_run(q, quoit_launch(kernel, out, in, 0, 0), NULL), 0);
	cr_assert_eq(quoit_read(q, out, to, sizeof to), 0);
	for (unsigned i = 0; i < ROWS; i++)
		for (unsigned j = 0; j < COLS; j++)
			cr_assert_eq(to[i * COLS + j], at(from, i, j), "element %u, %u", i, j);
	quoit_free(q, in);
	quoit_free(q, out);
}
