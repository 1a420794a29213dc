/* SPDX-License-Identifier: MIT */
/*
 * stencil.c - a program brings a kernel of its own: a hot wire cools down on a device
 *
 * The kernel is stencil.cu, compiled to stencil.ptx beside this program; a soft device has one
 * of the same name built in.  The result is compared with the CPU's.
 */
#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quoit.h>

#include "where.h"

#define ROWS  500u
#define COLS  700u
#define STEPS 100
#define BLOCK 16u

static float field[ROWS * COLS], other[ROWS * COLS], got[ROWS * COLS];

/* The contents of a file; NULL: it cannot be read, or is too long for an image. */
static char *read_file(const char *path, size_t *ret_size)
{
	char *bytes = malloc(QUOIT_MAX_IMAGE_BYTES);
	FILE *f = fopen(path, "rb");

	*ret_size = f && bytes ? fread(bytes, 1, QUOIT_MAX_IMAGE_BYTES, f) : 0;
	if (f)
		fclose(f);
	if (*ret_size)
		return bytes;
	free(bytes);
	return NULL;
}

/* The index of the image; on failure prints a line and returns -errno. */
static int load(struct quoit_session *s, unsigned device, char *program)
{
	struct quoit_device_desc d;
	char path[512], *ptx;
	size_t size;
	int image = quoit_query_device(s, device, &d);

	if (image < 0)
		return image;
	if (!*d.address) /* on no bus: a soft device */
		return quoit_load_image(s, device, "soft", strlen("soft"));
	snprintf(path, sizeof path, "%s/stencil.ptx", dirname(program));
	ptx = read_file(path, &size);
	if (!ptx) {
		fprintf(stderr, "stencil: no %s: it is made where there is nvcc\n", path);
		return -ENOENT;
	}
	image = quoit_load_image(s, device, ptx, size);
	free(ptx);
	return image;
}

/* The number of the kernel, or -errno. */
static int add_kernel(struct quoit_session *s, int image)
{
	const struct quoit_kernel_desc desc = {
		.name = "stencil5",
		.grid = {(COLS + BLOCK - 1) / BLOCK, (ROWS + BLOCK - 1) / BLOCK, 1},
		.block = {BLOCK, BLOCK, 1},
		.access = "WR--",
		.args = 4,
		.arg = {quoit_arg_tensor(0), quoit_arg_tensor(1), quoit_arg_constant(ROWS, 4),
			quoit_arg_constant(COLS, 4)},
	};

	return quoit_register_kernel(s, image, &desc);
}

/* Each step reads the output of the one before: the kernel's access letters order them. */
static int cool_down(struct quoit_ring *q, int kernel)
{
	quoit_tensor t[2];
	int err;

	for (unsigned i = 0; i < 2; i++)
		t[i] = quoit_create_matrix(q, QUOIT_F32, ROWS, COLS);
	err = quoit_write(q, t[0], field, sizeof field);
	for (unsigned i = 0; i < STEPS && !err; i++)
		err = quoit_push(q, quoit_launch(kernel, t[(i + 1) % 2], t[i % 2], 0, 0));
	return err ? err : quoit_read(q, t[STEPS % 2], got, sizeof got);
}

static void step_here(float *out, const float *in)
{
	for (unsigned i = 0; i < ROWS; i++)
		for (unsigned j = 0; j < COLS; j++) {
			const float *at = in + i * COLS + j;

			if (!i || !j || i == ROWS - 1 || j == COLS - 1)
				out[i * COLS + j] = *at;
			else
				out[i * COLS + j] =
					0.2f * (*at + at[-(int)COLS] + at[COLS] + at[-1] + at[1]);
		}
}

/* The largest difference of any element. */
static float compare(void)
{
	float most = 0;

	for (unsigned i = 0; i < STEPS; i++)
		step_here(i % 2 ? field : other, i % 2 ? other : field);
	for (unsigned i = 0; i < ROWS * COLS; i++) {
		float off = fabsf(got[i] - (STEPS % 2 ? other : field)[i]);

		most = off > most ? off : most;
	}
	return most;
}

static int run(struct quoit_session *s, unsigned device, char *program)
{
	struct quoit_ring *q;
	char text[256];
	float off;
	int image, kernel, err = quoit_open_ring(s, NULL, &q);

	for (unsigned j = 1; j < COLS - 1; j++)
		field[ROWS / 2 * COLS + j] = 1000;
	if (!err)
		err = quoit_use_device(q, device);
	image = err ? err : load(s, device, program);
	kernel = image < 0 ? image : add_kernel(s, image);
	if (kernel < 0) {
		fprintf(stderr, "stencil: %s: %s\n", quoit_strerror(kernel), quoit_open_text());
		return kernel;
	}
	err = cool_down(q, kernel);
	if (err) {
		fprintf(stderr, "stencil: %s\n", quoit_strerror_wait(q, err, text, sizeof text));
		return err;
	}
	off = compare();
	printf("%d steps of a %u x %u field: the wire has %.2f left, off by %g\n", STEPS, ROWS,
	       COLS, (double)got[ROWS / 2 * COLS + COLS / 2], (double)off);
	return off < 1e-2f ? 0 : -EDOM;
}

int main(int argc, char **argv)
{
	const struct quoit_open_params params = {.flags = QUOIT_OPEN_KERNELS};
	struct quoit_session *s;
	int err = quoit_open(&params, &s);

	(void)argc;
	if (err) {
		fprintf(stderr, "stencil: %s: %s\n", quoit_strerror(err), quoit_open_text());
		return 1;
	}
	err = run(s, where() ? where() : 1, argv[0]);
	if (!err)
		err = where_report(s);
	quoit_close(s, 0);
	return err != 0;
}
