/* SPDX-License-Identifier: MIT */
/* test_elementwise.c - a device's elementwise operations agree with the reference. */
#include <string.h>

#include <quoit/families.h>

#include "gpu.h"

static const uint32_t shapes[][4] = {
	{1, 1, 1, 1},    {1, 1, 0, 5},   {1, 1, 1, 65},     {1, 1, 3, 67},    {2, 3, 5, 7},
	{1, 1, 70, 3},   {3, 1, 2, 129}, {1, 1, 1, 1703},   {1, 1, 128, 520}, {4, 1, 1, 9},
	{1, 1, 1, 4096}, {2, 2, 33, 64}, {1, 1, 1, 300001},
};
#define SHAPES       (sizeof(shapes) / sizeof(shapes[0]))
#define SMALL_SHAPES (SHAPES - 1)

/* The reference is rounded from long double; tolerances are those of the CPU's tests. */
static double ulp_of(uint8_t opcode)
{
	return opcode == QUOIT_OP_POW ? 8 : ops_ulp(opcode); /* CUDA has no better powf */
}

static void set_scalars(struct gpu_job *job, uint8_t dtype)
{
	if (ops_is_float(dtype)) {
		job->args.scalar[0].f = 1.3;
		job->args.scalar[1].f = -0.7;
	} else {
		job->args.scalar[0].i = -3;
		job->args.scalar[1].i = 70000;
	}
}

static void try(struct gpu *g, const struct ops_row *row, uint8_t dtype, const uint32_t dim[4],
		const int layout[3], size_t shift)
{
	struct gpu_job job = {.args.opcode = row->opcode};

	for (int i = 0; i <= ops_inputs(row); i++) {
		gpu_tensor(&job, i, dtype, dim, (enum ops_layout)layout[i], GPU_WILD);
		job.memory[i].shift = shift * (size_t)i * gpu_size(dtype);
	}
	set_scalars(&job, dtype);
	gpu_compare(g, &job, (struct ops_tolerance){ulp_of(row->opcode), 0, false});
	gpu_job_free(&job);
}

static void every_shape_and_layout(struct gpu *g)
{
	for (size_t r = 0; r < ops_row_nr; r++) {
		for (uint8_t dtype = 0; dtype <= QUOIT_I64; dtype++) {
			if (ops_inputs(&ops_rows[r]) < 0 || !(ops_rows[r].types & 1u << dtype))
				continue;
			for (size_t s = (r + dtype) % g->step;
			     s < SMALL_SHAPES * OPS_LAYOUTS_OUT * OPS_LAYOUTS_IN; s += g->step) {
				const int out = (int)(s / OPS_LAYOUTS_IN % OPS_LAYOUTS_OUT);
				const int in = (int)(s % OPS_LAYOUTS_IN);

				try(g, &ops_rows[r], dtype,
				    shapes[s / OPS_LAYOUTS_IN / OPS_LAYOUTS_OUT],
				    (int[]){out, in, (in + out) % OPS_LAYOUTS_IN}, 0);
			}
			try(g, &ops_rows[r], dtype, shapes[SHAPES - 1], (int[]){0, 0, 0}, 0);
			try(g, &ops_rows[r], dtype, shapes[SHAPES - 1], (int[]){0, 0, 0}, 1);
		}
	}
}

static void in_place(struct gpu *g)
{
	static const uint32_t dim[] = {1, 2, 41, 68};

	for (size_t r = 0; r < ops_row_nr; r++) {
		for (int where = 1; where <= ops_inputs(&ops_rows[r]); where++) {
			struct gpu_job job = {.args.opcode = ops_rows[r].opcode};

			gpu_tensor(&job, 0, QUOIT_F32, dim, OPS_DENSE, GPU_WILD);
			if (ops_inputs(&ops_rows[r]) == 2)
				gpu_tensor(&job, 3 - where, QUOIT_F32, dim, OPS_DENSE, GPU_WILD);
			job.args.t[where] = job.args.t[0];
			set_scalars(&job, QUOIT_F32);
			gpu_compare(g, &job,
				    (struct ops_tolerance){ulp_of(ops_rows[r].opcode), 0, false});
			gpu_job_free(&job);
		}
	}
}

static void with_a_scalar(struct gpu *g)
{
	static const uint32_t dims[][4] = {{1, 1, 9, 131}, {1, 1, 1, 64}, {1, 1, 1, 1}};

	for (size_t s = 0; s < 3 * 4 * 2; s++) {
		for (size_t r = 0; r < ops_row_nr; r++) {
			const uint8_t dtype = (uint8_t)(s / 2 % 4);
			struct gpu_job job = {.args.opcode = ops_rows[r].opcode};

			if (ops_rows[r].family != QUOIT_FAMILY_ARITHMETIC)
				continue;
			job.args.arg = QUOIT_EW_SCALAR | (s % 2 ? QUOIT_EW_REVERSE : 0);
			gpu_tensor(&job, 0, dtype, dims[s / 8], OPS_DENSE, GPU_WILD);
			gpu_tensor(&job, 1, dtype, dims[s / 8], s % 3 ? OPS_DENSE : OPS_PADDED,
				   GPU_WILD);
			set_scalars(&job, dtype);
			gpu_compare(g, &job,
				    (struct ops_tolerance){ulp_of(ops_rows[r].opcode), 0, false});
			gpu_job_free(&job);
		}
	}
}

static void casts(struct gpu *g)
{
	for (size_t s = 0; s < SMALL_SHAPES * 16 * 2; s += g->step) {
		const uint8_t to = (uint8_t)(s / 2 % 4);
		const uint8_t from = (uint8_t)(s / 8 % 4);
		struct gpu_job job = {.args.opcode = QUOIT_OP_CAST};

		gpu_tensor(&job, 0, to, shapes[s / 32], OPS_DENSE, GPU_WILD);
		gpu_tensor(&job, 1, from, shapes[s / 32], s % 2 ? OPS_PADDED : OPS_DENSE, GPU_WILD);
		gpu_compare(g, &job, (struct ops_tolerance){0, 0, false});
		gpu_job_free(&job);
	}
}

static void compares(struct gpu *g)
{
	for (size_t s = 0; s < SMALL_SHAPES * QUOIT_CMP_NR * 4 * 3; s += g->step) {
		const uint32_t *dim = shapes[s / 3 / 4 / QUOIT_CMP_NR];
		const uint8_t dtype = (uint8_t)(s / 3 % 4);
		const int way = (int)(s % 3);
		struct gpu_job job = {.args.opcode = QUOIT_OP_COMPARE};

		job.args.arg = (uint8_t)(s / 12 % QUOIT_CMP_NR | (way == 2 ? QUOIT_CMP_SCALAR : 0));
		gpu_tensor(&job, 0, QUOIT_I32, dim, OPS_DENSE, GPU_WILD);
		gpu_tensor(&job, 1, dtype, dim, way ? OPS_DENSE : OPS_REVERSED, GPU_WILD);
		if (way < 2)
			gpu_tensor(&job, 2, dtype, dim, way ? OPS_DENSE : OPS_REPEAT_ROW, GPU_WILD);
		if (way < 2 && s % 2 && job.memory[1].size == job.memory[2].size)
			memcpy(job.memory[2].bytes, job.memory[1].bytes, job.memory[1].size / 2);
		set_scalars(&job, dtype);
		gpu_compare(g, &job, (struct ops_tolerance){0, 0, false});
		gpu_job_free(&job);
	}
}

static void selects(struct gpu *g)
{
	for (size_t s = 0; s < SMALL_SHAPES * 4 * OPS_LAYOUTS_IN; s += g->step) {
		const uint32_t *dim = shapes[s / 4 / OPS_LAYOUTS_IN];
		const uint8_t dtype = (uint8_t)(s / OPS_LAYOUTS_IN % 4);
		const enum ops_layout layout = (enum ops_layout)(s % OPS_LAYOUTS_IN);
		struct gpu_job job = {.args.opcode = QUOIT_OP_SELECT};

		gpu_tensor(&job, 0, dtype, dim, OPS_DENSE, GPU_WILD);
		gpu_tensor(&job, 1, QUOIT_I32, dim, OPS_DENSE, GPU_WILD);
		gpu_count(&job, 1, 0, 1, 3);
		gpu_tensor(&job, 2, dtype, dim, layout, GPU_WILD);
		gpu_tensor(&job, 3, dtype, dim, OPS_DENSE, GPU_WILD);
		gpu_compare(g, &job, (struct ops_tolerance){0, 0, false});
		gpu_job_free(&job);
	}
}

int main(int argc, char *argv[])
{
	struct gpu g;
	int res = gpu_open(&g, argc, argv);

	if (res >= 0)
		return res;
	every_shape_and_layout(&g);
	in_place(&g);
	with_a_scalar(&g);
	casts(&g);
	compares(&g);
	selects(&g);
	return gpu_close(&g);
}
