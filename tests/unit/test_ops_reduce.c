/* SPDX-License-Identifier: MIT */
/* test_ops_reduce.c - reductions and the squared loss agree with the reference. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include <quoit/families.h>

#include "ops_reference.h"

static const uint32_t shapes[][4] = {
	{1, 1, 1, 1},   {1, 1, 1, 7},    {1, 1, 1, 9001}, {2, 3, 5, 7}, {1, 1, 70, 3},
	{1, 2, 90, 99}, {1, 1, 3, 1700}, {1, 1, 1700, 3}, {1, 0, 3, 4}, {1, 1, 4, 0},
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static void reduced(const uint32_t dim[4], uint8_t axis, uint32_t ret_dim[4])
{
	for (int d = 0; d < 4; d++)
		ret_dim[d] = axis == d || axis == QUOIT_AXIS_ALL ? 1 : dim[d];
}

/* Numbers whose product neither overflows nor is 0, or of integers whose product is odd. */
static void count_factors(struct ops_case *c, uint8_t dtype)
{
	ops_case_count(c, 1, 1, ops_is_float(dtype) ? 1e-6 : 2);
}

static void check(const struct ops_row *row, uint8_t dtype, const uint32_t dim[4], uint8_t axis,
		  int layout, bool plain)
{
	/* Among numbers of all kinds 2^31 and -2^31 cancel each other. */
	const double cancelled = plain ? 1e-9 : 1e-5;
	const bool product = row->opcode == QUOIT_OP_PROD;
	const double ulp = dtype == QUOIT_F32 ? 1 : product ? 4096 : 64;
	const struct ops_tolerance tolerance = {ulp, cancelled, true};
	struct ops_case c = {.args.opcode = row->opcode, .args.arg = axis};
	uint32_t out[4];

	reduced(dim, axis, out);
	ops_case_tensor(&c, 0, row->family == QUOIT_FAMILY_PLACE ? QUOIT_I64 : dtype, out,
			(enum ops_layout)(layout % OPS_LAYOUTS_OUT), 1);
	ops_case_tensor(&c, 1, dtype, dim, (enum ops_layout)layout, 2);
	if (product && (plain || ops_is_float(dtype)))
		count_factors(&c, dtype);
	else if (plain)
		ops_case_count(&c, 1, -3.25, 0.125);
	ops_case_check(&c, tolerance);
	ops_case_done(&c);
}

Test(ops_reduce, agree_with_the_reference_over_all_and_along_each_axis)
{
	static const uint8_t axes[] = {0, 1, 2, 3, QUOIT_AXIS_ALL};

	for (size_t r = 0; r < ops_row_nr; r++) {
		for (uint8_t dtype = 0; dtype <= QUOIT_I64; dtype++) {
			if (!ops_reduces(&ops_rows[r]) || !(ops_rows[r].types & 1u << dtype))
				continue;
			for (size_t s = 0; s < SHAPES * sizeof(axes); s++) {
				for (int layout = 0; layout < 2 * OPS_LAYOUTS_IN; layout++)
					check(&ops_rows[r], dtype, shapes[s / sizeof(axes)],
					      axes[s % sizeof(axes)], layout % OPS_LAYOUTS_IN,
					      layout >= OPS_LAYOUTS_IN);
			}
		}
	}
}

Test(ops_reduce, sums_keep_what_float_would_lose)
{
	const uint32_t dim[] = {1, 1, 1000, 1000};
	const uint32_t one[] = {1, 1, 1, 1};
	struct ops_isa isas[3];
	const size_t isa_nr = ops_isas(isas);
	struct ops_case c = {.args.opcode = QUOIT_OP_SUM, .args.arg = QUOIT_AXIS_ALL};

	ops_case_tensor(&c, 0, QUOIT_F32, one, OPS_DENSE, 3);
	ops_case_tensor(&c, 1, QUOIT_F32, dim, OPS_DENSE, 4);
	ops_case_count(&c, 1, 0.1, 0);
	for (size_t i = 0; i < isa_nr; i++) {
		ops_case_run(&c, &isas[i], 3);
		cr_assert_eq(*(float *)c.args.t[0].data, 100000.0f + 0.0f);
	}
	ops_case_done(&c);
}

static void of_nothing(const struct ops_row *row, int axis)
{
	static const uint32_t nothing[] = {1, 1, 0, 3};
	const uint32_t out[] = {1, 1, 1, axis ? 3 : 1};
	const bool fails = row->family != QUOIT_FAMILY_REDUCTION;
	struct ops_case c = {.args.opcode = row->opcode};
	struct ops_isa isas[3];

	(void)ops_isas(isas);
	c.args.arg = axis ? 2 : QUOIT_AXIS_ALL;
	ops_case_tensor(&c, 0, row->family == QUOIT_FAMILY_PLACE ? QUOIT_I64 : QUOIT_F32, out,
			OPS_DENSE, 5);
	ops_case_tensor(&c, 1, QUOIT_F32, nothing, OPS_DENSE, 6);
	ops_case_run(&c, &isas[0], 1);
	cr_assert_eq(c.args.error, fails ? -EINVAL : 0, "%s", row->name);
	if (row->opcode == QUOIT_OP_PROD)
		cr_assert_eq(*(float *)c.args.t[0].data, 1);
	ops_case_done(&c);
}

Test(ops_reduce, the_largest_and_smallest_of_nothing_fail_and_its_product_is_1)
{
	for (size_t r = 0; r < ops_row_nr; r++) {
		for (int axis = 0; axis < 2 && ops_reduces(&ops_rows[r]); axis++)
			of_nothing(&ops_rows[r], axis);
	}
}

Test(ops_reduce, squared_loss_and_its_gradient)
{
	for (uint8_t dtype = QUOIT_F32; dtype <= QUOIT_F64; dtype++) {
		for (size_t s = 0; s < SHAPES; s++) {
			for (int layout = 0; layout < 2 * OPS_LAYOUTS_IN; layout++) {
				const uint32_t one[] = {1, 1, 1, 1};
				const int in = layout % OPS_LAYOUTS_IN;
				const double bound = dtype == QUOIT_F32 ? 4 : 2000;
				struct ops_case c = {.args.opcode = QUOIT_OP_SQLOSS};

				ops_case_tensor(&c, 0, dtype, one, OPS_DENSE, 7);
				ops_case_tensor(&c, 1, dtype, shapes[s], (enum ops_layout)in, 8);
				ops_case_tensor(&c, 2, dtype, shapes[s],
						(enum ops_layout)((in + 1) % OPS_LAYOUTS_IN), 9);
				ops_case_count(&c, 1, -1, 0.003);
				ops_case_count(&c, 2, 1, -0.01);
				if (layout >= OPS_LAYOUTS_IN)
					ops_case_tensor(&c, 3, dtype, shapes[s],
							(enum ops_layout)(in % OPS_LAYOUTS_OUT),
							10);
				c.args.scalar[0].f = 0.5;
				ops_case_check(&c, (struct ops_tolerance){bound, 1e-5, true});
				ops_case_done(&c);
			}
		}
	}
}
