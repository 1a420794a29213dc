/* SPDX-License-Identifier: MIT */
/*
 * test_halves.c - 16-bit types on a device: conversions, moves, products, also by TF32; random
 * numbers.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "kernels/half.h"
#include "kernels/random_core.h"

static double widen(uint8_t dtype, uint16_t x)
{
	return dtype == QUOIT_F16 ? half_f64_from_f16(x) : half_f64_from_bf16(x);
}

static uint16_t narrow(uint8_t dtype, double x)
{
	return dtype == QUOIT_F16 ? half_f16_from_f64(x) : half_bf16_from_f64(x);
}

/* Convert every 16-bit number to f32, and back again. */
static void every_number_there_and_back(struct gpu *g, uint8_t dtype)
{
	static const uint32_t dim[] = {1, 1, 1, 65536};
	struct gpu_job job = {.args.opcode = QUOIT_OP_CAST};
	const float *wide;
	const uint16_t *half;

	gpu_tensor(&job, 0, QUOIT_F32, dim, OPS_DENSE, GPU_TAME);
	gpu_tensor(&job, 1, dtype, dim, OPS_DENSE, GPU_TAME);
	gpu_count(&job, 1, 0, 1, 65536);
	GPU_CHECK(g, gpu_run(g, &job) == 0, "cast");
	wide = job.args.t[0].data;
	half = job.args.t[1].data;
	for (uint32_t i = 0; i < 65536; i++) {
		const double want = widen(dtype, half[i]);

		GPU_CHECK(g, wide[i] == want || (isnan(wide[i]) && isnan(want)), "type %d, %04x",
			  dtype, i);
	}
	gpu_job_free(&job);
}

/* Convert from every type; the expected value follows from the number in the host's memory. */
static void conversions(struct gpu *g, uint8_t dtype, uint8_t from)
{
	static const uint32_t dim[] = {1, 3, 1, 40000};
	struct gpu_job job = {.args.opcode = QUOIT_OP_CAST};
	const uint16_t *half;

	gpu_tensor(&job, 0, dtype, dim, OPS_DENSE, GPU_TAME);
	gpu_tensor(&job, 1, from, dim, OPS_DENSE, GPU_WILD);
	GPU_CHECK(g, gpu_run(g, &job) == 0, "cast");
	half = job.args.t[0].data;
	for (uint32_t i = 0; i < 120000; i++) {
		const uint32_t pos[] = {0, i / 40000, 0, i % 40000};
		const double x = ops_is_float(from)
					 ? ops_get_f(&job.args.t[1], pos)
					 : half_from_i64_exactly(ops_get_i(&job.args.t[1], pos));

		GPU_CHECK(g,
			  half[i] == narrow(dtype, x) || (isnan(x) && isnan(widen(dtype, half[i]))),
			  "type %d from %d: %.17g is %04x, not %04x", dtype, from, x, half[i],
			  narrow(dtype, x));
	}
	gpu_job_free(&job);
}

/* Moves are checked by hand, since the reference's table of sizes may lack elements of 2 bytes. */
static void moves(struct gpu *g, uint8_t dtype)
{
	static const uint32_t in[] = {2, 3, 40, 65};
	static const uint32_t out[] = {2, 3, 65, 40};
	struct gpu_job job = {.args.opcode = QUOIT_OP_TRANSPOSE,
			      .args.arg = QUOIT_PERM(0, 1, 3, 2)};
	const uint16_t *to, *from;

	gpu_tensor(&job, 0, dtype, out, OPS_DENSE, GPU_TAME);
	gpu_tensor(&job, 1, dtype, in, OPS_DENSE, GPU_TAME);
	GPU_CHECK(g, gpu_run(g, &job) == 0, "transpose");
	to = job.args.t[0].data;
	from = job.args.t[1].data;
	for (uint32_t b = 0; b < 6; b++) {
		for (uint32_t i = 0; i < 2600; i++)
			GPU_CHECK(g, to[b * 2600 + i % 65 * 40 + i / 65] == from[b * 2600 + i],
				  "%u", i);
	}
	job.args.opcode = QUOIT_OP_FILL;
	job.args.arg = 0;
	job.args.scalar[0].f = 1.0 / 3;
	GPU_CHECK(g, gpu_run(g, &job) == 0, "fill");
	for (uint32_t i = 0; i < 6 * 2600; i++)
		GPU_CHECK(g, to[i] == narrow(dtype, 1.0 / 3), "fill %u", i);
	job.args.opcode = QUOIT_OP_ADD;
	GPU_CHECK(g, gpu_run(g, &job) == -ENOTSUP, "arithmetic of 16 bits");
	gpu_job_free(&job);
}

/* ---- products ---- */

struct product {
	uint32_t m, n, k, batch[2];
	uint8_t dtype, c_dtype, arg;
	const int *layout; /* of C, A and B */
	double alpha, beta;
};

static int64_t place(const struct op_tensor *t, const uint32_t pos[4])
{
	return pos[0] * t->stride[0] + pos[1] * t->stride[1] + pos[2] * t->stride[2] +
	       pos[3] * t->stride[3];
}

static double number(const struct op_tensor *t, const uint32_t pos[4])
{
	const int64_t at = place(t, pos);

	return t->dtype == QUOIT_F32 ? ((const float *)t->data)[at]
				     : widen(t->dtype, ((const uint16_t *)t->data)[at]);
}

static bool is_empty(const struct op_tensor *t)
{
	return !t->dim[0] || !t->dim[1] || !t->dim[2] || !t->dim[3];
}

/* Numbers with few digits, so that an f32 sum loses none of them. */
static void fill_with_few_digits(struct op_tensor *t)
{
	uint32_t pos[4] = {0};
	unsigned i = 0;

	if (is_empty(t))
		return;
	do {
		const double x = (double)(i++ * 7 % 64) / 32 - 1;

		if (t->dtype == QUOIT_F32)
			((float *)t->data)[place(t, pos)] = (float)x;
		else
			((uint16_t *)t->data)[place(t, pos)] = narrow(t->dtype, x);
	} while (ops_next(t->dim, pos));
}

/* One element: alpha times a sum, plus beta times the old C, rounded once to C's type. */
static double wanted(const struct product *p, const struct op_tensor t[3], const uint32_t pos[4])
{
	const bool ta = p->arg & QUOIT_GEMM_TRANS_A, tb = p->arg & QUOIT_GEMM_TRANS_B;
	double sum = 0;

	for (uint32_t k = 0; k < p->k; k++) {
		const uint32_t a[] = {pos[0], pos[1], ta ? k : pos[2], ta ? pos[2] : k};
		const uint32_t b[] = {pos[0], pos[1], tb ? pos[3] : k, tb ? k : pos[3]};

		sum += number(&t[1], a) * number(&t[2], b);
	}
	sum = p->alpha * sum + p->beta * number(&t[0], pos);
	return p->c_dtype == QUOIT_F32 ? sum : widen(p->c_dtype, narrow(p->c_dtype, sum));
}

static void make_product(const struct product *p, struct gpu_job *job)
{
	const bool ta = p->arg & QUOIT_GEMM_TRANS_A, tb = p->arg & QUOIT_GEMM_TRANS_B;
	const uint32_t dim[3][4] = {{p->batch[0], p->batch[1], p->m, p->n},
				    {p->batch[0], p->batch[1], ta ? p->k : p->m, ta ? p->m : p->k},
				    {p->batch[0], p->batch[1], tb ? p->n : p->k, tb ? p->k : p->n}};

	*job = (struct gpu_job){.args = {.opcode = QUOIT_OP_GEMM, .arg = p->arg}};
	for (int i = 0; i < 3; i++) {
		gpu_tensor(job, i, i ? p->dtype : p->c_dtype, dim[i], (enum ops_layout)p->layout[i],
			   GPU_TAME);
		fill_with_few_digits(&job->args.t[i]);
	}
	job->args.scalar[0].f = p->alpha;
	job->args.scalar[1].f = p->beta;
}

static void product_once(struct gpu *g, const struct product *p)
{
	struct gpu_job job;
	uint32_t pos[4] = {0};
	double *want;
	size_t i = 0;

	make_product(p, &job);
	want = malloc(((size_t)p->batch[0] * p->batch[1] * p->m * p->n + 1) * sizeof *want);
	do
		want[i++] = is_empty(&job.args.t[0]) ? 0 : wanted(p, job.args.t, pos);
	while (ops_next(job.args.t[0].dim, pos));
	GPU_CHECK(g, gpu_run(g, &job) == 0, "product");
	memset(pos, 0, sizeof(pos));
	i = 0;
	do {
		const double x = is_empty(&job.args.t[0]) ? 0 : number(&job.args.t[0], pos);

		GPU_CHECK(g, x == want[i],
			  "type %d into %d, %u x %u x %u, arg %u, layouts %d %d %d: %g, not %g",
			  p->dtype, p->c_dtype, p->m, p->n, p->k, p->arg, p->layout[0],
			  p->layout[1], p->layout[2], x, want[i]);
		i++;
	} while (ops_next(job.args.t[0].dim, pos));
	free(want);
	gpu_job_free(&job);
}

/*
 * cuBLAS cannot do some layouts, and small products belong to the resident kernel: then our own
 * code runs.
 */
static void products(struct gpu *g)
{
	static const uint32_t sizes[][3] = {{1, 1, 1},    {3, 5, 7},   {64, 64, 64}, {17, 33, 129},
					    {128, 1, 65}, {1, 200, 3}, {40, 24, 0},  {96, 96, 96}};
	static const uint32_t batches[][2] = {{1, 1}, {1, 2}, {2, 3}};
	static const int layouts[][3] = {
		{OPS_DENSE, OPS_DENSE, OPS_DENSE},
		{OPS_COLUMN_MAJOR, OPS_DENSE, OPS_COLUMN_MAJOR},
		{OPS_DENSE, OPS_COLUMN_MAJOR, OPS_PADDED},
		{OPS_PADDED, OPS_DENSE, OPS_DENSE},
		{OPS_REVERSED, OPS_REVERSED, OPS_REPEAT_ROW},
	};

	for (size_t s = 0; s < 8 * 3 * 5 * 4 * 4; s += g->step) {
		const uint32_t *size = sizes[s / 240], *batch = batches[s / 80 % 3];
		const uint8_t dtype = s & 1 ? QUOIT_F16 : QUOIT_BF16;
		struct product p = {
			.m = size[0],
			.n = size[1],
			.k = size[2],
			.batch = {batch[0], batch[1]},
			.dtype = dtype,
			.c_dtype = s & 2 ? QUOIT_F32 : dtype,
			.arg = s / 4 % 4,
			.layout = layouts[s / 16 % 5],
			.alpha = 1.25,
			.beta = s & 1 ? 0.5 : 0,
		};

		product_once(g, &p);
	}
}

/* Factors of an f32 product are rounded to 10 bits of fraction only if the job permits it. */
static void products_by_tf32(struct gpu *g)
{
	static const uint32_t dim[] = {1, 1, 128, 128};
	static const float exact = 128 * (1 + 0x1p-12f);
	struct gpu_job job = {.args = {.opcode = QUOIT_OP_GEMM, .scalar[0].f = 1}};
	const float *c;

	for (int i = 0; i < 3; i++)
		gpu_tensor(&job, i, QUOIT_F32, dim, OPS_DENSE, GPU_TAME);
	for (int i = 0; i < 128 * 128; i++) {
		((float *)job.args.t[1].data)[i] = 1 + 0x1p-12f;
		((float *)job.args.t[2].data)[i] = 1;
	}
	c = job.args.t[0].data;
	GPU_CHECK(g, gpu_run(g, &job) == 0, "product");
	for (int i = 0; i < 128 * 128; i++)
		GPU_CHECK(g, c[i] == exact, "%.9g, not %.9g", (double)c[i], (double)exact);
	job.args.arg = QUOIT_GEMM_TF32;
	GPU_CHECK(g, gpu_run(g, &job) == 0, "product that permits TF32");
	for (int i = 0; i < 128 * 128; i++)
		GPU_CHECK(g, c[i] == exact || c[i] == 128 || c[i] == 128 * (1 + 0x1p-10f), "%.9g",
			  (double)c[i]);
	printf("TF32: %s\n", c[0] == exact ? "not used where it may be" : "used where it may be");
	gpu_job_free(&job);
}

/* Other pairs of types have no product. */
static void products_of_no_kind(struct gpu *g, uint8_t dtype)
{
	static const uint32_t dim[] = {1, 1, 16, 16};
	static const uint8_t others[][3] = {
		{QUOIT_F64, 0xff, 0xff}, {0xff, 0xff, QUOIT_F32}, {QUOIT_I32, 0xff, 0xff}};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct gpu_job job = {.args.opcode = QUOIT_OP_GEMM};

		for (int j = 0; j < 3; j++)
			gpu_tensor(&job, j, others[i][j] == 0xff ? dtype : others[i][j], dim,
				   OPS_DENSE, GPU_TAME);
		job.args.scalar[0].f = 1;
		GPU_CHECK(g, gpu_run(g, &job) == -ENOTSUP, "types %zu", i);
		gpu_job_free(&job);
	}
}

/* ---- random numbers ---- */

static double random_element(uint8_t opcode, uint8_t dtype, uint64_t key, uint64_t block,
			     uint64_t i)
{
	const bool normal = opcode == QUOIT_OP_NORMAL;
	const uint32_t per_block = dtype == QUOIT_F32 ? 4 : 2;
	uint32_t word[RANDOM_WORDS];
	float f[4];
	double d[2];

	random_block(key, block + i / per_block, word);
	if (dtype == QUOIT_F32) {
		(normal ? random_normal_f32 : random_uniform_f32)(word, f);
		return f[i % 4];
	}
	(normal ? random_normal_f64 : random_uniform_f64)(word, d);
	return d[i % 2];
}

static void random_numbers(struct gpu *g)
{
	static const uint32_t shapes[][4] = {
		{1, 1, 1, 1}, {1, 1, 7, 3}, {1, 1, 5, 129}, {2, 3, 13, 515}, {1, 1, 0, 4}};

	for (size_t s = 0; s < 5 * 2 * 2 * OPS_LAYOUTS_OUT; s++) {
		const uint8_t opcode = s & 1 ? QUOIT_OP_NORMAL : QUOIT_OP_UNIFORM;
		const uint8_t dtype = s & 2 ? QUOIT_F64 : QUOIT_F32;
		struct gpu_job job = {.args.opcode = opcode};
		uint32_t pos[4] = {0};
		uint64_t i = 0;

		gpu_tensor(&job, 0, dtype, shapes[s / 4 / OPS_LAYOUTS_OUT],
			   (enum ops_layout)(s / 4 % OPS_LAYOUTS_OUT), GPU_TAME);
		job.args.scalar[0].u = 0x123456789abcdef0 + s;
		job.args.scalar[1].u = UINT64_MAX - 77;
		GPU_CHECK(g, gpu_run(g, &job) == 0, "random");
		do {
			if (job.args.t[0].dim[2] == 0)
				break;

			const double want = random_element(opcode, dtype, job.args.scalar[0].u,
							   job.args.scalar[1].u, i++);
			const double x = ops_get_f(&job.args.t[0], pos);

			GPU_CHECK(g, memcmp(&x, &want, sizeof(x)) == 0,
				  "%s of %s: %.17g, not %.17g", ops_name(opcode),
				  ops_type_name(dtype), x, want);
		} while (ops_next(job.args.t[0].dim, pos));
		gpu_job_free(&job);
	}
}

int main(int argc, char *argv[])
{
	struct gpu g;
	int res = gpu_open(&g, argc, argv);

	if (res >= 0)
		return res;
	for (uint8_t dtype = QUOIT_BF16; dtype <= QUOIT_F16; dtype++) {
		every_number_there_and_back(&g, dtype);
		for (uint8_t from = 0; from <= QUOIT_I64; from++)
			conversions(&g, dtype, from);
		moves(&g, dtype);
		products_of_no_kind(&g, dtype);
	}
	products(&g);
	products_by_tf32(&g);
	random_numbers(&g);
	return gpu_close(&g);
}
