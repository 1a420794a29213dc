/* SPDX-License-Identifier: MIT */
/*
 * test_cuda_element.c - a device computes each element as the CPU does, and 16-bit numbers are
 * rounded once, to the nearest.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "kernels/half.h"
#include "ops_reference.h"

#define ELEMENTS 20000

static const uint32_t dim[] = {1, 1, 1, ELEMENTS};

/* The CPU's results for tensors full of numbers of all kinds. */
static struct ops_case run(uint8_t opcode, uint8_t to, uint8_t from)
{
	struct ops_case c = {.args.opcode = opcode};
	struct ops_isa isas[3];

	ops_isas(isas);
	ops_case_tensor(&c, 0, to, dim, OPS_DENSE, 1);
	ops_case_tensor(&c, 1, from, dim, OPS_DENSE, 2);
	ops_case_tensor(&c, 2, from, dim, OPS_DENSE, 3);
	ops_case_run(&c, &isas[0], 1);
	return c;
}

/* Compare `expr`, of x and y of type `from`, with the CPU's result, bit by bit except for NaN. */
#define AGREE(opcode, TO, to, FROM, from, expr)                                                    \
	do {                                                                                       \
		struct ops_case c = run(opcode, TO, FROM);                                         \
		const to *out = c.args.t[0].data;                                                  \
                                                                                                   \
		for (size_t i = 0; i < ELEMENTS; i++) {                                            \
			const from x = ((const from *)c.args.t[1].data)[i];                        \
			const from y = ((const from *)c.args.t[2].data)[i];                        \
			const to z = (expr);                                                       \
                                                                                                   \
			(void)y;                                                                   \
			cr_assert((z != z && out[i] != out[i]) ||                                  \
					  memcmp(&z, &out[i], sizeof(z)) == 0,                     \
				  "%s of %.17g and %.17g", #expr, (double)x, (double)y);           \
		}                                                                                  \
		ops_case_done(&c);                                                                 \
	} while (0)

Test(cuda_element, arithmetic_agrees_with_the_cpu)
{
	AGREE(QUOIT_OP_DIV, QUOIT_I32, i32, QUOIT_I32, i32, element_div_i32(x, y));
	AGREE(QUOIT_OP_DIV, QUOIT_I64, i64, QUOIT_I64, i64, element_div_i64(x, y));
	AGREE(QUOIT_OP_MIN, QUOIT_F32, f32, QUOIT_F32, f32, element_min_f32(x, y));
	AGREE(QUOIT_OP_MIN, QUOIT_F64, f64, QUOIT_F64, f64, element_min_f64(x, y));
	AGREE(QUOIT_OP_MAX, QUOIT_F32, f32, QUOIT_F32, f32, element_max_f32(x, y));
	AGREE(QUOIT_OP_MAX, QUOIT_F64, f64, QUOIT_F64, f64, element_max_f64(x, y));
	AGREE(QUOIT_OP_RELU, QUOIT_F32, f32, QUOIT_F32, f32, element_relu_f32(x));
	AGREE(QUOIT_OP_RELU, QUOIT_F64, f64, QUOIT_F64, f64, element_relu_f64(x));
}

Test(cuda_element, conversions_agree_with_the_cpu)
{
	AGREE(QUOIT_OP_CAST, QUOIT_I32, i32, QUOIT_F32, f32, element_i32_from_f32(x));
	AGREE(QUOIT_OP_CAST, QUOIT_I32, i32, QUOIT_F64, f64, element_i32_from_f64(x));
	AGREE(QUOIT_OP_CAST, QUOIT_I32, i32, QUOIT_I64, i64, element_i32_from_i64(x));
	AGREE(QUOIT_OP_CAST, QUOIT_I64, i64, QUOIT_F32, f32, element_i64_from_f32(x));
	AGREE(QUOIT_OP_CAST, QUOIT_I64, i64, QUOIT_F64, f64, element_i64_from_f64(x));
}

Test(cuda_element, sigmoid_is_within_three_units_of_the_last_place)
{
	static const double special[] = {INFINITY, -INFINITY, NAN, 0, -0.0, 1000, -1000};

	for (int i = -2000; i < 2000; i++) {
		const double x = i * 0.05;
		const double want = (double)(1 / (1 + expl(-(long double)x)));
		const double single = (double)(1 / (1 + expl(-(long double)(float)x)));

		cr_assert_leq(fabs(element_sigmoid_f64(x) - want), 3 * 0x1p-52 * want, "of %g", x);
		cr_assert_leq(fabs(element_sigmoid_f32((float)x) - single),
			      3 * 0x1p-23 * fmax(single, 0x1p-126), "of %g", x);
	}
	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		const double want = 1 / (1 + exp(-special[i]));
		const double y = element_sigmoid_f64(special[i]);

		cr_assert(y == want || (isnan(y) && isnan(want)), "of %g", special[i]);
	}
}

/* ---- 16 bits ---- */

struct kind {
	const char *name;
	uint16_t (*round)(double x);
	double (*widen)(uint16_t half);
	uint16_t infinite;
};

static const struct kind kinds[] = {
	{"f16", half_f16_from_f64, half_f64_from_f16, 0x7c00},
	{"bf16", half_bf16_from_f64, half_f64_from_bf16, 0x7f80},
};

Test(cuda_element, numbers_of_16_bits_mean_what_their_definition_says)
{
	static const struct {
		uint16_t f16;
		double x;
	} rows[] = {{0x0000, 0},          {0x8000, -0.0},
		    {0x0001, 0x1p-24},    {0x03ff, 1023 * 0x1p-24},
		    {0x0400, 0x1p-14},    {0x3c00, 1},
		    {0x3555, 0x1.554p-2}, {0xc000, -2},
		    {0x7bff, 65504},      {0x7c00, INFINITY},
		    {0xfc00, -INFINITY}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const double x = half_f64_from_f16(rows[i].f16);

		cr_assert(x == rows[i].x && signbit(x) == signbit(rows[i].x), "%04x", rows[i].f16);
	}
	for (uint32_t h = 0; h < 0x10000; h++) {
		const float want = element_f32(h << 16);
		const double x = half_f64_from_bf16((uint16_t)h);

		cr_assert(x == (double)want || (isnan(x) && isnan(want)), "%04x", h);
	}
}

/* Every number and its upper neighbour: the point half-way between goes to the even one. */
Test(cuda_element, numbers_of_16_bits_are_rounded_to_the_nearest_even)
{
	for (size_t k = 0; k < 2; k++) {
		const struct kind *kind = &kinds[k];

		for (uint16_t h = 0; h < kind->infinite; h++) {
			const bool last = h + 1 == kind->infinite;
			const double x = kind->widen(h);
			const double next = last ? 2 * x - kind->widen((uint16_t)(h - 1))
						 : kind->widen((uint16_t)(h + 1));
			const double middle = x + (next - x) / 2;
			const uint16_t even = (uint16_t)(h + (h & 1));

			cr_assert_eq(kind->round(x), h, "%s %04x", kind->name, h);
			cr_assert_eq(kind->round(-x), h | 0x8000, "%s -%04x", kind->name, h);
			cr_assert_eq(kind->round(middle), even, "%s %04x", kind->name, h);
			cr_assert_eq(kind->round(-middle), even | 0x8000, "%s %04x", kind->name, h);
			cr_assert_eq(kind->round(nextafter(middle, 0)), h, "%s %04x", kind->name,
				     h);
			cr_assert_eq(kind->round(nextafter(middle, INFINITY)), h + 1, "%s %04x",
				     kind->name, h);
		}
		cr_assert_eq(kind->round(INFINITY), kind->infinite);
		cr_assert_eq(kind->round(-1e300), kind->infinite | 0x8000);
		cr_assert_eq(kind->round(1e-300), 0);
		cr_assert(isnan(kind->widen(kind->round(NAN))));
	}
}

Test(cuda_element, an_integer_is_rounded_to_16_bits_once)
{
	const int64_t one = INT64_C(1) << 62;
	const int64_t tie = one + (INT64_C(1) << 54);
	const struct {
		int64_t x;
		double want;
	} rows[] = {
		{tie, 0x1p62},
		{tie + 1, 0x1.02p62},
		{tie - 1, 0x1p62},
		{-tie, -0x1p62},
		{-tie - 1, -0x1.02p62},
		{-tie + 1, -0x1p62},
		{INT64_MAX, 0x1p63},
		{INT64_MIN, -0x1p63},
		{257, 256},
		{0, 0},
		{-3, -3},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_assert_eq(
			half_f64_from_bf16(half_bf16_from_f64(half_from_i64_exactly(rows[i].x))),
			rows[i].want, "row %zu", i);
}
