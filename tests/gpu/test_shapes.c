/* SPDX-License-Identifier: MIT */
/* test_shapes.c - a device's moves, reductions and products agree with the reference. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include <quoit/families.h>

#include "gpu.h"

static const struct ops_tolerance exact = {0, 0, false};

static const uint32_t shapes[][4] = {
	{1, 1, 1, 1},   {1, 1, 0, 5},     {0, 1, 3, 1},     {1, 1, 3, 67},     {2, 3, 5, 7},
	{1, 1, 70, 3},  {3, 2, 40, 33},   {1, 1, 1, 1703},  {1, 1, 130, 520},  {64, 1, 33, 9},
	{1, 4, 64, 64}, {1, 1, 2500, 40}, {1, 1, 6, 50000}, {1, 1, 1, 300000},
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static void transposes(struct gpu *g)
{
	static const uint8_t perms[] = {
		QUOIT_PERM(0, 1, 2, 3), QUOIT_PERM(0, 1, 3, 2), QUOIT_PERM(3, 2, 1, 0),
		QUOIT_PERM(1, 0, 2, 3), QUOIT_PERM(2, 3, 0, 1), QUOIT_PERM(1, 2, 3, 0),
	};

	for (size_t s = 0; s < SHAPES * 6 * 4 * 2; s += g->step) {
		const uint32_t *in = shapes[s / 48];
		const uint8_t perm = perms[s / 8 % 6];
		const uint8_t dtype = (uint8_t)(s / 2 % 4);
		struct gpu_job job = {.args.opcode = QUOIT_OP_TRANSPOSE, .args.arg = perm};
		uint32_t out[4];

		for (int d = 0; d < 4; d++)
			out[d] = in[perm >> 2 * d & 3];
		gpu_tensor(&job, 0, dtype, out, s % 2 ? OPS_PADDED : OPS_DENSE, GPU_WILD);
		gpu_tensor(&job, 1, dtype, in, OPS_DENSE, GPU_WILD);
		gpu_compare(g, &job, exact);
		gpu_job_free(&job);
	}
}

static void rolls(struct gpu *g)
{
	static const int64_t shifts[] = {0, 1, -1, 5, -1000003, INT64_MAX, INT64_MIN};

	for (size_t s = 0; s < SHAPES * 4 * 7; s += g->step) {
		const uint32_t *dim = shapes[s / 28];
		const uint8_t dtype = (uint8_t)(s % 4);
		struct gpu_job job = {.args.opcode = QUOIT_OP_ROLL, .args.arg = s / 7 % 4};

		job.args.scalar[0].i = shifts[s % 7];
		gpu_tensor(&job, 0, dtype, dim, OPS_DENSE, GPU_WILD);
		gpu_tensor(&job, 1, dtype, dim, s % 3 ? OPS_DENSE : OPS_COLUMN_MAJOR, GPU_WILD);
		gpu_compare(g, &job, exact);
		gpu_job_free(&job);
	}
}

static void gather_once(struct gpu *g, size_t s, int64_t bad)
{
	const uint32_t *in = shapes[s / 16];
	const uint8_t axis = s / 4 % 4;
	const uint8_t dtype = (uint8_t)(s % 4);
	const uint32_t length = (uint32_t)(1 + s % 7 * 5);
	struct gpu_job job = {.args.opcode = QUOIT_OP_GATHER, .args.arg = axis};
	const uint32_t index[] = {1, 1, 1, length};
	uint32_t out[4];

	memcpy(out, in, sizeof(out));
	out[axis] = length;
	gpu_tensor(&job, 0, dtype, out, s % 5 == 1 ? OPS_PADDED : OPS_DENSE, GPU_WILD);
	gpu_tensor(&job, 1, dtype, in, s % 3 == 1 ? OPS_COLUMN_MAJOR : OPS_DENSE, GPU_WILD);
	gpu_tensor(&job, 2, s % 2 ? QUOIT_I32 : QUOIT_I64, index,
		   s % 4 == 3 ? OPS_PADDED : OPS_DENSE, GPU_WILD);
	gpu_count(&job, 2, bad ? bad : 3, bad ? 0 : 7, bad ? INT64_MAX : in[axis] ? in[axis] : 1);
	gpu_compare(g, &job, exact);
	if (job.args.error == -ERANGE) {
		GPU_CHECK(g, (int64_t)g->verdict->value[0] == (in[axis] || bad ? bad : 0), "%lld",
			  (long long)g->verdict->value[0]);
		GPU_CHECK(g, g->verdict->value[1] == in[axis], "%lld",
			  (long long)g->verdict->value[1]);
	}
	gpu_job_free(&job);
}

static void gathers(struct gpu *g)
{
	for (size_t s = 0; s < SHAPES * 16; s += g->step) {
		if (shapes[s / 16][s / 4 % 4] > 0)
			gather_once(g, s, 0);
		gather_once(g, s, 400000);
		gather_once(g, s, -1);
	}
}

static void reduce_once(struct gpu *g, const uint32_t in[4], const struct ops_row *row,
			uint8_t axis, uint8_t dtype, enum ops_layout layout)
{
	const bool index = row->family == QUOIT_FAMILY_PLACE;
	const bool pick = index || row->family == QUOIT_FAMILY_EXTREME;
	const bool product = row->opcode == QUOIT_OP_PROD;
	const double ulp = pick ? 0 : product ? 65536 : 2;
	struct gpu_job job = {.args.opcode = row->opcode, .args.arg = axis};
	uint32_t out[4];

	for (int d = 0; d < 4; d++)
		out[d] = axis == d || axis == QUOIT_AXIS_ALL ? 1 : in[d];
	gpu_tensor(&job, 0, index ? QUOIT_I64 : dtype, out, OPS_DENSE, GPU_TAME);
	gpu_tensor(&job, 1, dtype, in, layout, pick ? GPU_WILD : GPU_TAME);
	if (index && dtype == QUOIT_I32)
		gpu_count(&job, 1, 1, 13, 17); /* many equal values */
	if (product)
		gpu_count(&job, 1, 1, ops_is_float(dtype) ? 0 : 2, INT64_MAX);
	gpu_compare(g, &job, (struct ops_tolerance){ulp, pick ? 0 : 1e-8, false});
	gpu_job_free(&job);
}

static void reductions(struct gpu *g)
{
	static const enum ops_layout layouts[] = {OPS_DENSE, OPS_COLUMN_MAJOR, OPS_PADDED,
						  OPS_REVERSED, OPS_REPEAT_ROW};

	for (size_t s = 0; s < SHAPES * ops_row_nr * 5 * 4 * 5; s += g->step) {
		const struct ops_row *row = &ops_rows[s / 100 % ops_row_nr];
		const uint8_t dtype = (uint8_t)(s / 5 % 4);
		const uint8_t axis = s / 20 % 5 == 4 ? QUOIT_AXIS_ALL : (uint8_t)(s / 20 % 5);

		if (ops_reduces(row) && row->types & 1u << dtype)
			reduce_once(g, shapes[s / 100 / ops_row_nr], row, axis, dtype,
				    layouts[s % 5]);
	}
}

/* Reductions give the same bits every time, whatever else the device does. */
static void reductions_repeat(struct gpu *g)
{
	static const uint32_t in[] = {1, 1, 1000, 1200};
	static const uint32_t one[] = {1, 1, 1, 1};
	struct gpu_job job = {.args.opcode = QUOIT_OP_SUM, .args.arg = QUOIT_AXIS_ALL};
	double first = 0;

	gpu_tensor(&job, 0, QUOIT_F64, one, OPS_DENSE, GPU_TAME);
	gpu_tensor(&job, 1, QUOIT_F64, in, OPS_DENSE, GPU_TAME);
	for (int i = 0; i < 20; i++) {
		double sum;

		GPU_CHECK(g, gpu_run(g, &job) == 0, "sum");
		sum = *(double *)job.args.t[0].data;
		first = i == 0 ? sum : first;
		GPU_CHECK(g, sum == first, "%.17g, not %.17g", sum, first);
	}
	gpu_job_free(&job);
}

static void losses(struct gpu *g)
{
	static const uint32_t one[] = {1, 1, 1, 1};

	for (size_t s = 0; s < SHAPES * 2 * 3; s += g->step) {
		const uint32_t *dim = shapes[s / 6];
		const uint8_t dtype = s % 2 ? QUOIT_F64 : QUOIT_F32;
		struct gpu_job job = {.args.opcode = QUOIT_OP_SQLOSS};

		job.args.scalar[0].f = 0.25;
		gpu_tensor(&job, 0, dtype, one, OPS_DENSE, GPU_TAME);
		gpu_tensor(&job, 1, dtype, dim, s / 2 % 3 ? OPS_DENSE : OPS_COLUMN_MAJOR, GPU_TAME);
		gpu_tensor(&job, 2, dtype, dim, OPS_DENSE, GPU_TAME);
		if (s / 2 % 3 < 2)
			gpu_tensor(&job, 3, dtype, dim, OPS_DENSE, GPU_TAME);
		gpu_compare(g, &job, (struct ops_tolerance){2, 1e-6, false});
		gpu_job_free(&job);
	}
}

static void gemm_once(struct gpu *g, const uint32_t mnk[3], const uint32_t batch[2], uint8_t dtype,
		      uint8_t arg, const int layout[3], bool repeat)
{
	const bool ta = arg & QUOIT_GEMM_TRANS_A;
	const bool tb = arg & QUOIT_GEMM_TRANS_B;
	const uint32_t c[] = {batch[0], batch[1], mnk[0], mnk[1]};
	const uint32_t a[] = {batch[0], batch[1], mnk[ta ? 2 : 0], mnk[ta ? 0 : 2]};
	const uint32_t b[] = {batch[0], batch[1], mnk[tb ? 1 : 2], mnk[tb ? 2 : 1]};
	struct gpu_job job = {.args.opcode = QUOIT_OP_GEMM, .args.arg = arg};
	const double unit = dtype == QUOIT_F32 ? 0x1p-23 : 0x1p-52;
	/* If all terms of a sum are the same number, their errors are the same, too, and add up. */
	const uint32_t alike = layout[1] == OPS_REPEAT_ROW ? mnk[2] + 1 : 1;

	job.args.scalar[0].f = 1.25;
	job.args.scalar[1].f = mnk[0] % 2 ? -0.5 : 0;
	gpu_tensor(&job, 0, dtype, c, (enum ops_layout)layout[0], GPU_TAME);
	gpu_tensor(&job, 1, dtype, a, (enum ops_layout)layout[1], GPU_TAME);
	gpu_tensor(&job, 2, dtype, b, (enum ops_layout)layout[2], GPU_TAME);
	if (repeat)
		job.args.t[2].stride[0] = job.args.t[2].stride[1] = 0;
	gpu_compare(g, &job, (struct ops_tolerance){4, unit * 8 * (mnk[2] + 1) * alike, false});
	gpu_job_free(&job);
}

static void products(struct gpu *g)
{
	static const uint32_t sizes[][3] = {{1, 1, 1},    {3, 5, 7},   {64, 64, 64}, {17, 33, 129},
					    {128, 1, 65}, {1, 200, 3}, {40, 24, 0},  {0, 4, 4}};
	static const uint32_t batches[][2] = {{1, 1}, {1, 3}, {2, 3}, {4, 1}};
	static const int layouts[][3] = {
		{OPS_DENSE, OPS_DENSE, OPS_DENSE},
		{OPS_COLUMN_MAJOR, OPS_DENSE, OPS_COLUMN_MAJOR},
		{OPS_DENSE, OPS_COLUMN_MAJOR, OPS_PADDED},
		{OPS_PADDED, OPS_DENSE, OPS_DENSE},
		{OPS_REVERSED, OPS_REVERSED, OPS_REPEAT_ROW},
		{OPS_DENSE, OPS_REPEAT_ROW, OPS_REPEAT_COLUMN},
	};

	for (size_t s = 0; s < 8 * 4 * 6 * 4 * 2 * 2; s += g->step)
		gemm_once(g, sizes[s / 384], batches[s / 96 % 4], s % 2 ? QUOIT_F64 : QUOIT_F32,
			  s / 4 % 4, layouts[s / 16 % 6], s / 2 % 2);
	gemm_once(g, (uint32_t[]){257, 511, 300}, batches[0], QUOIT_F32, 0, layouts[0], false);
}

int main(int argc, char *argv[])
{
	struct gpu g;
	int res = gpu_open(&g, argc, argv);

	if (res >= 0)
		return res;
	transposes(&g);
	rolls(&g);
	gathers(&g);
	reductions(&g);
	reductions_repeat(&g);
	losses(&g);
	products(&g);
	return gpu_close(&g);
}
