/* SPDX-License-Identifier: MIT */
/* test_ops_index.c - gather, select and compare agree with the reference. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "ops_reference.h"

static const struct ops_tolerance exact = {0, 0, true};

static const uint32_t shapes[][4] = {
	{1, 1, 1, 1},   {1, 1, 1, 130}, {2, 3, 5, 7}, {1, 1, 70, 3},
	{1, 2, 19, 99}, {1, 1, 0, 5},   {0, 1, 1, 1},
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static void check_gather(const uint32_t dim[4], uint8_t axis, uint32_t length, uint8_t index_type,
			 int layout)
{
	const uint32_t index_dim[] = {1, 1, 1, length};
	struct ops_case c = {.args.opcode = QUOIT_OP_GATHER};
	const uint8_t dtype = layout % 2 ? QUOIT_BF16 : QUOIT_F32;
	uint32_t out_dim[4];
	uint32_t pos[4] = {0};

	memcpy(out_dim, dim, sizeof(out_dim));
	out_dim[axis] = length;
	c.args.arg = axis;
	ops_case_tensor(&c, 0, dtype, out_dim, (enum ops_layout)(layout % OPS_LAYOUTS_OUT), 1);
	ops_case_tensor(&c, 1, dtype, dim, (enum ops_layout)layout, 2);
	ops_case_tensor(&c, 2, index_type, index_dim, OPS_PADDED, 3);
	for (pos[3] = 0; pos[3] < length; pos[3]++) {
		char *at = (char *)c.args.t[2].data +
			   pos[3] * c.args.t[2].stride[3] * op_dtype_size(index_type);
		const int64_t index = (pos[3] * 7 + 3) % dim[axis];

		if (index_type == QUOIT_I32)
			*(int32_t *)at = (int32_t)index;
		else
			*(int64_t *)at = index;
	}
	ops_case_check(&c, exact);
	ops_case_done(&c);
}

Test(ops_index, gather_takes_what_the_index_names)
{
	static const uint32_t lengths[] = {0, 1, 5, 300};

	for (size_t s = 0; s < SHAPES; s++) {
		for (uint8_t axis = 0; axis < 4; axis++) {
			for (size_t i = 0; i < 4; i++) {
				if (lengths[i] && !shapes[s][axis])
					continue; /* without elements no error is possible */
				for (int layout = 0; layout < OPS_LAYOUTS_IN; layout++)
					check_gather(shapes[s], axis, lengths[i],
						     i % 2 ? QUOIT_I32 : QUOIT_I64, layout);
			}
		}
	}
}

Test(ops_index, gather_out_of_range_fails_and_writes_zeros)
{
	static const int64_t bad[] = {-1, 5, INT64_MIN, INT64_MAX, (int64_t)1 << 32};
	const uint32_t dim[] = {1, 1, 5, 20};
	const uint32_t index_dim[] = {1, 1, 1, 3};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ops_case c = {.args.opcode = QUOIT_OP_GATHER, .args.arg = 2};
		const uint32_t out_dim[] = {1, 1, 3, 20};
		struct ops_isa isas[3];

		ops_case_tensor(&c, 0, QUOIT_I32, out_dim, OPS_DENSE, 4);
		ops_case_tensor(&c, 1, QUOIT_I32, dim, OPS_DENSE, 5);
		ops_case_tensor(&c, 2, QUOIT_I64, index_dim, OPS_DENSE, 6);
		ops_case_count(&c, 2, 0, 1);
		((int64_t *)c.args.t[2].data)[1] = bad[i];
		ops_case_check(&c, exact);
		(void)ops_isas(isas);
		ops_case_run(&c, &isas[0], 1);
		cr_assert_eq(c.args.error, -ERANGE);
		cr_assert_eq((int64_t)c.args.error_value[0], bad[i]);
		cr_assert_eq(c.args.error_value[1], 5);
		ops_case_done(&c);
	}
}

Test(ops_index, select_chooses_by_the_condition)
{
	for (uint8_t dtype = 0; dtype < QUOIT_DTYPE_NR; dtype++) {
		for (size_t s = 0; s < SHAPES; s++) {
			for (int layout = 0; layout < OPS_LAYOUTS_IN; layout++) {
				struct ops_case c = {.args.opcode = QUOIT_OP_SELECT};

				ops_case_tensor(&c, 0, dtype, shapes[s],
						(enum ops_layout)(layout % OPS_LAYOUTS_OUT), 7);
				ops_case_tensor(&c, 1, QUOIT_I32, shapes[s],
						(enum ops_layout)layout, 8);
				ops_case_tensor(&c, 2, dtype, shapes[s], OPS_DENSE, 9);
				ops_case_tensor(&c, 3, dtype, shapes[s], OPS_REPEAT_ROW, 10);
				ops_case_check(&c, exact);
				ops_case_done(&c);
			}
		}
	}
}

Test(ops_index, compare_knows_all_predicates)
{
	for (uint8_t predicate = 0; predicate < QUOIT_CMP_NR; predicate++) {
		for (uint8_t dtype = 0; dtype <= QUOIT_I64; dtype++) {
			for (int layout = 0; layout < 2 * OPS_LAYOUTS_IN; layout++) {
				struct ops_case c = {.args.opcode = QUOIT_OP_COMPARE};
				const bool with_scalar = layout >= OPS_LAYOUTS_IN;

				c.args.arg = predicate | (with_scalar ? QUOIT_CMP_SCALAR : 0);
				ops_case_tensor(&c, 0, QUOIT_I32, shapes[layout % SHAPES],
						(enum ops_layout)(layout % OPS_LAYOUTS_OUT), 11);
				ops_case_tensor(&c, 1, dtype, shapes[layout % SHAPES],
						(enum ops_layout)(layout % OPS_LAYOUTS_IN), 12);
				if (!with_scalar)
					ops_case_tensor(&c, 2, dtype, shapes[layout % SHAPES],
							OPS_DENSE, layout % 2 ? 12 : 13);
				else if (ops_is_float(dtype))
					c.args.scalar[0].f = 0.5;
				ops_case_check(&c, exact);
				ops_case_done(&c);
			}
		}
	}
}
