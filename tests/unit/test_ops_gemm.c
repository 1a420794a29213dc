/* SPDX-License-Identifier: MIT */
/* test_ops_gemm.c - matrix products agree with the reference, with a BLAS and without one. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/blas.h"
#include "ops_reference.h"

static const struct {
	uint32_t m, n, k;
} sizes[] = {
	{1, 1, 1},
	{3, 5, 7},
	{64, 64, 64},
	{13, 33, 300},
	{1, 40, 9},
	{40, 1, 9},
	{0, 4, 4},
	{4, 0, 4},
	{4, 4, 0},
	{97, 65, 31},
	{12, 32, 257},
	/* more rows, and a longer sum, than are packed at a time */
	{350, 17, 260},
	/* with a vector, along and across the matrix; dot products */
	{1, 1500, 70},
	{1500, 1, 70},
	{67, 1, 1100},
	{1, 67, 1100},
	/* a longer sum than is used of the vector at a time; a group of rows and a rest */
	{19, 1, 4200},
	{1, 19, 4200},
	{1, 1, 9001},
	{1500, 1, 1},
	{1, 0, 4},
	{0, 1, 4},
	{1, 1, 0},
};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

struct product {
	uint8_t dtype;
	uint8_t arg;
	uint32_t m, n, k;
	enum ops_layout a, b, c;
	double alpha, beta;
};

static void make(struct ops_case *c, const struct product *p)
{
	const bool ta = p->arg & QUOIT_GEMM_TRANS_A;
	const bool tb = p->arg & QUOIT_GEMM_TRANS_B;
	const uint32_t c_dim[] = {1, 1, p->m, p->n};
	const uint32_t a_dim[] = {1, 1, ta ? p->k : p->m, ta ? p->m : p->k};
	const uint32_t b_dim[] = {1, 1, tb ? p->n : p->k, tb ? p->k : p->n};

	*c = (struct ops_case){.args.opcode = QUOIT_OP_GEMM, .args.arg = p->arg};
	ops_case_tensor(c, 0, p->dtype, c_dim, p->c, 1);
	ops_case_tensor(c, 1, p->dtype, a_dim, p->a, 2);
	ops_case_tensor(c, 2, p->dtype, b_dim, p->b, 3);
	ops_case_count(c, 1, -1, 0.0013);
	ops_case_count(c, 2, 1, -0.0007);
	c->args.scalar[0].f = p->alpha;
	c->args.scalar[1].f = p->beta;
}

static void check(const struct product *p)
{
	/* A sum of k products of numbers below 8, rounded k times. */
	const double unit = p->dtype == QUOIT_F32 ? 0x1p-23 : 0x1p-52;
	struct ops_case c;

	make(&c, p);
	if (p->beta != 0)
		ops_case_count(&c, 0, 0.5, 0.01);
	ops_case_check(&c, (struct ops_tolerance){2, unit * 64 * (p->k + 1) * (p->k + 1), false});
	ops_case_done(&c);
}

static void check_all(void)
{
	for (size_t s = 0; s < SIZES; s++) {
		/* Every seventh of all combinations: 7 divides none of the counts. */
		for (int i = 0; i < 2 * 4 * 5 * 5 * 3; i += 7) {
			const struct product p = {
				.dtype = i % 2 ? QUOIT_F64 : QUOIT_F32,
				.arg = i / 2 % 4,
				.m = sizes[s].m,
				.n = sizes[s].n,
				.k = sizes[s].k,
				.a = (enum ops_layout)(i / 8 % 5),
				.b = (enum ops_layout)(i / 40 % 5),
				.c = (enum ops_layout)(i / 200),
				.alpha = i % 3 ? 1 : -0.5,
				.beta = i % 5 ? 0 : 0.25,
			};

			check(&p);
		}
	}
}

Test(ops_gemm, built_in_agrees_with_the_reference)
{
	check_all();
}

Test(ops_gemm, with_a_blas_agrees_with_the_reference)
{
	struct ops_choice choice;

	(void)ops_init("auto", &choice);
	if (!blas_get())
		cr_skip_test("no BLAS here");
	check_all();
}

/* ---- batches ---- */

/* How the matrices of one operand follow each other in memory. */
enum order {
	FORWARDS,
	BACKWARDS,   /* negative strides */
	INTERLEAVED, /* the inner dim is the slower one */
	ORDERS,
};

struct batched {
	uint32_t outer, inner;
	struct product product;
	unsigned repeat[3]; /* bit 0, 1: the outer, inner dim has stride 0 */
	enum order order[3];
};

static const struct {
	uint32_t outer, inner, m, n, k;
	uint32_t every; /* take one of this many combinations: a prime that divides no count */
} batches[] = {
	{2, 3, 17, 19, 23, 30011},    {1, 4, 12, 33, 257, 30011}, {3, 1, 1, 1, 1, 5003},
	{5, 1, 1, 40, 9, 30011},      {1, 5, 40, 1, 9, 30011},    {64, 2, 5, 3, 4, 30011},
	{2, 3, 130, 90, 100, 300007}, /* several tiles, which begin within a batch */
	{0, 3, 4, 4, 4, 30011},       {3, 0, 4, 4, 4, 30011},     {2, 2, 0, 4, 4, 30011},
	{2, 2, 4, 0, 4, 30011},       {2, 2, 4, 4, 0, 5003},
};
#define BATCHES (sizeof(batches) / sizeof(batches[0]))

static void swap_outer_dims(struct op_tensor *t)
{
	const uint32_t dim = t->dim[0];
	const int64_t stride = t->stride[0];

	t->dim[0] = t->dim[1];
	t->stride[0] = t->stride[1];
	t->dim[1] = dim;
	t->stride[1] = stride;
}

static void make_operand(struct ops_case *c, int which, const struct batched *b, uint32_t rows,
			 uint32_t columns)
{
	const struct product *p = &b->product;
	const enum ops_layout layout[] = {p->c, p->a, p->b};
	const bool swap = b->order[which] == INTERLEAVED;
	const uint32_t dim[] = {swap ? b->inner : b->outer, swap ? b->outer : b->inner, rows,
				columns};
	struct op_tensor *t = &c->args.t[which];

	ops_case_tensor(c, which, p->dtype, dim, layout[which], (uint32_t)which + 1);
	if (swap)
		swap_outer_dims(t);
	for (int d = 0; d < 2; d++) {
		if (b->order[which] == BACKWARDS && c->memory[which].size) {
			t->data = (char *)t->data +
				  (t->dim[d] - 1) * t->stride[d] * (int64_t)op_dtype_size(p->dtype);
			t->stride[d] = -t->stride[d];
		}
		if (b->repeat[which] >> d & 1)
			t->stride[d] = 0;
	}
}

static void check_batched(const struct batched *b)
{
	const struct product *p = &b->product;
	const bool ta = p->arg & QUOIT_GEMM_TRANS_A;
	const bool tb = p->arg & QUOIT_GEMM_TRANS_B;
	const double all = b->outer * b->inner + 1.0; /* so that numbers stay below 8 */
	const double unit = p->dtype == QUOIT_F32 ? 0x1p-23 : 0x1p-52;
	struct ops_case c = {.args.opcode = QUOIT_OP_GEMM, .args.arg = p->arg};

	make_operand(&c, 0, b, p->m, p->n);
	make_operand(&c, 1, b, ta ? p->k : p->m, ta ? p->m : p->k);
	make_operand(&c, 2, b, tb ? p->n : p->k, tb ? p->k : p->n);
	ops_case_count(&c, 1, -1, 0.0013 / all);
	ops_case_count(&c, 2, 1, -0.0007 / all);
	if (p->beta != 0)
		ops_case_count(&c, 0, 0.5, 0.01 / all);
	c.args.scalar[0].f = p->alpha;
	c.args.scalar[1].f = p->beta;
	ops_case_check(&c, (struct ops_tolerance){2, unit * 64 * (p->k + 1) * (p->k + 1), false});
	ops_case_done(&c);
}

/* Take the last digit, in this base, off a number. */
static uint32_t digit(uint32_t *number, uint32_t base)
{
	const uint32_t last = *number % base;

	*number /= base;
	return last;
}

/* Combination number i of those outside of the table; false: there are fewer. */
static bool combine(uint32_t i, struct batched *b)
{
	static const double alpha[] = {1, -0.5}, beta[] = {0, 0.25, 1};
	struct product *p = &b->product;

	p->dtype = digit(&i, 2) ? QUOIT_F64 : QUOIT_F32;
	p->arg = (uint8_t)digit(&i, 4);
	b->repeat[1] = digit(&i, 4);
	b->repeat[2] = digit(&i, 4);
	p->alpha = alpha[digit(&i, 2)];
	p->beta = beta[digit(&i, 3)];
	for (int t = 0; t < 3; t++)
		b->order[t] = (enum order)digit(&i, ORDERS);
	p->a = (enum ops_layout)digit(&i, OPS_LAYOUTS_IN);
	p->b = (enum ops_layout)digit(&i, OPS_LAYOUTS_IN);
	p->c = (enum ops_layout)digit(&i, OPS_LAYOUTS_OUT);
	return i == 0;
}

static void check_batches(void)
{
	for (size_t s = 0; s < BATCHES; s++) {
		struct batched b = {
			.outer = batches[s].outer,
			.inner = batches[s].inner,
			.product = {.m = batches[s].m, .n = batches[s].n, .k = batches[s].k},
		};

		for (uint32_t i = (uint32_t)s; combine(i, &b); i += batches[s].every)
			check_batched(&b);
	}
}

Test(ops_gemm, built_in_computes_batches_of_every_kind)
{
	check_batches();
}

Test(ops_gemm, a_blas_computes_batches_of_every_kind)
{
	struct ops_choice choice;

	(void)ops_init("auto", &choice);
	if (!blas_get())
		cr_skip_test("no BLAS here");
	check_batches();
}

/* Run the product in as many tiles as there are cores; the caller frees the result. */
static void *result(const struct product *p, const struct ops_isa *isa, uint32_t cores)
{
	struct ops_case c;
	void *bytes;

	make(&c, p);
	ops_case_run(&c, isa, isa->table[QUOIT_OP_GEMM]->tiles(&c.args, cores));
	bytes = c.memory[0].bytes;
	c.memory[0].bytes = NULL;
	ops_case_done(&c);
	return bytes;
}

static void check_tiles(void)
{
	static const struct product products[] = {
		{QUOIT_F32, 0, 500, 200, 300, OPS_DENSE, OPS_DENSE, OPS_DENSE, 1, 0},
		{QUOIT_F32, 3, 333, 127, 513, OPS_DENSE, OPS_DENSE, OPS_DENSE, 1, 0},
		{QUOIT_F32, 2, 333, 127, 513, OPS_COLUMN_MAJOR, OPS_DENSE, OPS_DENSE, 1, 0},
		{QUOIT_F64, 1, 301, 203, 402, OPS_DENSE, OPS_DENSE, OPS_DENSE, 0.5, 0},
		{QUOIT_F64, 2, 301, 203, 402, OPS_DENSE, OPS_DENSE, OPS_COLUMN_MAJOR, 0.5, 0},
		{QUOIT_F64, 0, 700, 65, 300, OPS_DENSE, OPS_DENSE, OPS_DENSE, 1, 0},
		{QUOIT_F32, 0, 1024, 1, 512, OPS_DENSE, OPS_DENSE, OPS_DENSE, 1, 0},
		{QUOIT_F64, 0, 1023, 1, 515, OPS_DENSE, OPS_DENSE, OPS_DENSE, 1, 0},
		{QUOIT_F32, 0, 77, 1, 9001, OPS_DENSE, OPS_DENSE, OPS_DENSE, 1, 0},
		{QUOIT_F64, 1, 9001, 1, 77, OPS_DENSE, OPS_DENSE, OPS_DENSE, 1, 0},
		{QUOIT_F32, 1, 3001, 1, 130, OPS_DENSE, OPS_DENSE, OPS_DENSE, 0.5, 0},
		{QUOIT_F32, 0, 1, 3001, 300, OPS_DENSE, OPS_DENSE, OPS_DENSE, 1, 0},
		{QUOIT_F64, 2, 1, 301, 3001, OPS_DENSE, OPS_DENSE, OPS_DENSE, 1, 0},
		{QUOIT_F32, 0, 1, 1, 200001, OPS_DENSE, OPS_DENSE, OPS_DENSE, 1, 0},
		{QUOIT_F64, 0, 1, 1, 200001, OPS_DENSE, OPS_DENSE, OPS_DENSE, 2, 0},
		{QUOIT_F32, 0, 4, 1001, 513, OPS_DENSE, OPS_DENSE, OPS_DENSE, 1, 0},
		{QUOIT_F64, 2, 15, 701, 300, OPS_DENSE, OPS_DENSE, OPS_DENSE, 1, 0},
		{QUOIT_F32, 0, 200001, 1, 1, OPS_DENSE, OPS_DENSE, OPS_DENSE, 1, 0},
	};
	struct ops_isa isas[3];
	const size_t isa_nr = ops_isas(isas);

	for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
		const struct product *p = &products[i];
		const size_t size = (size_t)p->m * p->n * op_dtype_size(p->dtype);
		void *one = result(p, &isas[isa_nr - 1], 1);

		for (uint32_t cores = 2; cores <= 7; cores++) {
			void *many = result(p, &isas[isa_nr - 1], cores);

			cr_assert(memcmp(one, many, size) == 0, "product %zu on %u cores", i,
				  cores);
			free(many);
		}
		free(one);
	}
}

Test(ops_gemm, built_in_gives_the_same_bits_on_any_number_of_cores)
{
	check_tiles();
}

/* Of OpenBLAS's kernels only those for AVX-512 promise that; see gemm.c. */
Test(ops_gemm, with_a_blas_gives_the_same_bits_on_any_number_of_cores)
{
	struct ops_choice choice;

	(void)ops_init("auto", &choice);
	if (!strstr(choice.blas, "BLIS") && !strstr(choice.blas, "SkylakeX") &&
	    !strstr(choice.blas, "Cooperlake"))
		cr_skip_test("%s makes no such promise", choice.blas);
	check_tiles();
}

Test(ops_gemm, beta_zero_does_not_read_the_output)
{
	struct product p = {QUOIT_F32, 0, 20, 40, 300, OPS_DENSE, OPS_DENSE, OPS_DENSE, 1, 0};
	struct ops_isa isas[3];
	const size_t isa_nr = ops_isas(isas);

	for (size_t i = 0; i < isa_nr; i++) {
		struct ops_case c;

		make(&c, &p);
		ops_case_count(&c, 0, NAN, 0);
		ops_case_run(&c, &isas[i], 1);
		for (size_t e = 0; e < (size_t)p.m * p.n; e++)
			cr_assert(!isnan(((float *)c.memory[0].bytes)[e]));
		ops_case_done(&c);
	}
}

Test(ops_gemm, the_choice_says_what_was_taken_and_why)
{
	struct ops_choice choice;

	(void)ops_init("auto", &choice);
	cr_assert(choice.isa && choice.blas[0] && choice.why[0] && choice.bf16);
	cr_assert_gt(choice.gemm_gflops, 0);
}

Test(ops_gemm, the_environment_does_not_matter)
{
	struct ops_choice choice;

	cr_assert_eq(setenv("OPENBLAS_CORETYPE", "Prescott", 1), 0);
	cr_assert_eq(setenv("BLIS_ARCH_TYPE", "generic", 1), 0);
	cr_assert_eq(setenv("OPENBLAS_L2_SIZE", "1", 1), 0);
	(void)ops_init("auto", &choice);
	cr_assert_null(strstr(choice.blas, "Prescott"), "%s", choice.blas);
	cr_assert_null(strstr(choice.blas, "generic"), "%s", choice.blas);
	cr_assert_str_eq(getenv("OPENBLAS_L2_SIZE"), "1"); /* for child processes */
}
