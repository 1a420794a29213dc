/* SPDX-License-Identifier: MIT */
/* test_ops_gemm_half.c - products of bfloat16 and float16: summed in float32, rounded once. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops_reference.h"

struct product {
	uint8_t type, c_type;
	uint8_t arg;
	uint32_t m, n, k;
	enum ops_layout a, b, c;
	double alpha, beta;
};

/* Numbers in an order that helps no kernel: -8 to 8 in steps of 1, or -1 to 1. */
static void scatter(struct ops_case *c, int which, bool whole)
{
	const uint8_t dtype = c->args.t[which].dtype;
	const size_t size = op_dtype_size(dtype);
	char *bytes = c->memory[which].bytes;

	for (size_t i = 0; i < c->memory[which].size / size; i++) {
		const double whole_x = (double)(i * 7919 / 13 % 17) - 8;
		const double real_x = (double)(i * 7919 % 2003) / 1001 - 1;

		ops_store_f(dtype, bytes + i * size, whole ? whole_x : real_x);
	}
}

static void make(struct ops_case *c, const struct product *p, bool whole)
{
	const bool ta = p->arg & QUOIT_GEMM_TRANS_A;
	const bool tb = p->arg & QUOIT_GEMM_TRANS_B;
	const uint32_t c_dim[] = {1, 1, p->m, p->n};
	const uint32_t a_dim[] = {1, 1, ta ? p->k : p->m, ta ? p->m : p->k};
	const uint32_t b_dim[] = {1, 1, tb ? p->n : p->k, tb ? p->k : p->n};

	*c = (struct ops_case){.args.opcode = QUOIT_OP_GEMM, .args.arg = p->arg};
	ops_case_tensor(c, 0, p->c_type, c_dim, p->c, 1);
	ops_case_tensor(c, 1, p->type, a_dim, p->a, 2);
	ops_case_tensor(c, 2, p->type, b_dim, p->b, 3);
	for (int i = 0; i < 3; i++)
		scatter(c, i, whole);
	c->args.scalar[0].f = p->alpha;
	c->args.scalar[1].f = p->beta;
}

/*
 * Whole numbers have exact sums, so each result must be the nearest to the true one.  Otherwise k
 * products below 1 are added, each with an error of half a unit of a sum below k.
 */
static void check(const struct product *p, bool whole)
{
	const double k = p->k + 1.0;
	struct ops_case c;

	make(&c, p, whole);
	ops_case_check(&c, whole ? (struct ops_tolerance){0, 0, true}
				 : (struct ops_tolerance){1, k * k * 0x1p-24, false});
	ops_case_done(&c);
}

static void check_layouts(bool whole)
{
	/* On both sides of every boundary: of vectors, of registers, of blocks. */
	static const struct {
		uint32_t m, n, k;
	} sizes[] = {
		{1, 1, 1},     {3, 5, 7},    {64, 64, 64},   {13, 33, 300},  {1, 40, 9},
		{40, 1, 9},    {0, 4, 4},    {4, 0, 4},      {4, 4, 0},      {97, 65, 31},
		{12, 32, 257}, {145, 31, 2}, {25, 257, 255}, {11, 290, 513},
	};

	for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
		/* Every 53rd of all combinations: 53 divides none of the counts. */
		for (int i = (int)s; i < 4 * 4 * 5 * 5 * 3; i += 53) {
			const struct product p = {
				.type = i % 2 ? QUOIT_BF16 : QUOIT_F16,
				.c_type = i / 2 % 2 ? QUOIT_F32
					  : i % 2   ? QUOIT_BF16
						    : QUOIT_F16,
				.arg = i / 4 % 4,
				.m = sizes[s].m,
				.n = sizes[s].n,
				.k = sizes[s].k,
				.a = (enum ops_layout)(i / 16 % 5),
				.b = (enum ops_layout)(i / 80 % 5),
				.c = (enum ops_layout)(i / 400),
				.alpha = i % 3 ? 1 : -0.5,
				.beta = i % 5 ? 0 : 0.25,
			};

			check(&p, whole);
		}
	}
}

Test(ops_gemm_half, exact_sums_are_rounded_once_to_nearest)
{
	check_layouts(true);
}

Test(ops_gemm_half, sums_are_as_good_as_float32)
{
	check_layouts(false);
}

Test(ops_gemm_half, batches_broadcast)
{
	const uint32_t c_dim[] = {2, 3, 17, 19};
	const uint32_t a_dim[] = {2, 3, 17, 23};
	const uint32_t b_dim[] = {2, 3, 23, 19};

	for (int repeat = 0; repeat < 4; repeat++) {
		struct ops_case c = {.args.opcode = QUOIT_OP_GEMM};

		ops_case_tensor(&c, 0, repeat ? QUOIT_F32 : QUOIT_BF16, c_dim, OPS_PADDED, 1);
		ops_case_tensor(&c, 1, QUOIT_BF16, a_dim, OPS_DENSE, 2);
		ops_case_tensor(&c, 2, QUOIT_BF16, b_dim, OPS_DENSE, 3);
		scatter(&c, 1, true);
		scatter(&c, 2, true);
		c.args.t[1].stride[repeat & 1] = 0;
		c.args.t[2].stride[repeat >> 1] = 0;
		c.args.scalar[0].f = 1;
		ops_case_check(&c, (struct ops_tolerance){0, 0, true});
		ops_case_done(&c);
	}
}

/* Run the product in as many tiles as there are cores; the caller frees the result. */
static void *result(const struct product *p, const struct ops_isa *isa, uint32_t cores)
{
	struct ops_case c;
	void *bytes;

	make(&c, p, false);
	ops_case_run(&c, isa, isa->table[QUOIT_OP_GEMM]->tiles(&c.args, cores));
	bytes = c.memory[0].bytes;
	c.memory[0].bytes = NULL;
	ops_case_done(&c);
	return bytes;
}

Test(ops_gemm_half, the_bits_are_the_same_on_any_number_of_cores)
{
	static const struct product products[] = {
		{QUOIT_BF16, QUOIT_F32, 0, 500, 200, 300, OPS_DENSE, OPS_DENSE, OPS_DENSE, 1, 0},
		{QUOIT_BF16, QUOIT_BF16, 3, 333, 127, 513, OPS_DENSE, OPS_DENSE, OPS_DENSE, 1, 0},
		{QUOIT_F16, QUOIT_F32, 0, 500, 200, 300, OPS_DENSE, OPS_DENSE, OPS_DENSE, 1, 0},
		{QUOIT_F16, QUOIT_F32, 2, 333, 127, 513, OPS_DENSE, OPS_DENSE, OPS_COLUMN_MAJOR, .5,
		 0},
	};
	struct ops_isa isas[3];
	const size_t isa_nr = ops_isas(isas);

	for (size_t i = 0; i < isa_nr * sizeof(products) / sizeof(products[0]); i++) {
		const struct product *p = &products[i / isa_nr];
		const struct ops_isa *isa = &isas[i % isa_nr];
		const size_t size = (size_t)p->m * p->n * op_dtype_size(p->c_type);
		void *one = result(p, isa, 1);

		for (uint32_t cores = 2; cores <= 7; cores++) {
			void *many = result(p, isa, cores);

			cr_assert(memcmp(one, many, size) == 0, "product %zu on %u cores, %s",
				  i / isa_nr, cores, isa->name);
			free(many);
		}
		free(one);
	}
}

/* Multiply one element of A, or of C with beta 0, by a product of ones. */
static void check_element(uint8_t type, int which, double x, uint32_t k, double absolute)
{
	const uint32_t c_dim[] = {1, 1, 2, 3}, a_dim[] = {1, 1, 2, k}, b_dim[] = {1, 1, k, 3};
	struct ops_case c = {.args.opcode = QUOIT_OP_GEMM};

	ops_case_tensor(&c, 0, type, c_dim, OPS_DENSE, 1);
	ops_case_tensor(&c, 1, type, a_dim, OPS_DENSE, 2);
	ops_case_tensor(&c, 2, type, b_dim, OPS_DENSE, 3);
	ops_case_count(&c, 0, 0, 0);
	ops_case_count(&c, 1, 0, 0);
	ops_case_count(&c, 2, 1, 0);
	ops_store_f(type, (char *)c.memory[which].bytes + (which ? k - 1 : 0) * 2, x);
	c.args.scalar[0].f = 1;
	ops_case_check(&c, (struct ops_tolerance){0, absolute, true});
	ops_case_done(&c);
}

Test(ops_gemm_half, infinity_and_nan_come_through_and_go_nowhere_else)
{
	for (uint32_t k = 1; k < 6; k++) {
		for (uint8_t type = QUOIT_BF16; type <= QUOIT_F16; type++) {
			check_element(type, 1, INFINITY, k, 0);
			check_element(type, 1, NAN, k, 0);
			check_element(type, 1, type == QUOIT_BF16 ? 0x1p127 : 65504, k, 0);
			check_element(type, 0, NAN, k, 0); /* with beta 0, C is not read */
		}
	}
}

Test(ops_gemm_half, denormal_float16_counts_in_full)
{
	check_element(QUOIT_F16, 1, 0x1p-24, 4, 0);
	check_element(QUOIT_F16, 1, -0x1p-20, 3, 0);
}

/* The CPU's instruction treats it as zero. */
Test(ops_gemm_half, denormal_bfloat16_is_itself_or_zero)
{
	struct ops_isa isas[3];
	const size_t isa_nr = ops_isas(isas);

	for (size_t i = 0; i < isa_nr; i++) {
		uint16_t c, a = 1, b = 0x3f80; /* 2^-133 and 1 */
		struct op_args args = {.opcode = QUOIT_OP_GEMM, .scalar[0].f = 1};
		uint16_t *const data[] = {&c, &a, &b};

		for (int t = 0; t < 3; t++)
			args.t[t] = (struct op_tensor){
				.data = data[t], .dim = {1, 1, 1, 1}, .dtype = QUOIT_BF16};
		isas[i].table[QUOIT_OP_GEMM]->run(&args, 0, 1);
		cr_assert(c == a || c == 0, "%s: %#x", isas[i].name, c);
	}
}
