/* SPDX-License-Identifier: MIT */
/*
 * test_ops_elementwise.c - element-wise operations agree with the reference for any shape and
 * layout.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "ops_reference.h"

static const uint32_t shapes[][4] = {
	{1, 1, 1, 1},   {1, 1, 1, 2},    {1, 1, 0, 5},    {0, 1, 1, 1},
	{1, 1, 1, 65},  {1, 1, 3, 67},   {2, 3, 5, 7},    {1, 1, 70, 3},
	{3, 1, 2, 129}, {1, 1, 1, 1700}, {1, 1, 13, 520}, {4, 1, 1, 9},
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

struct row {
	uint8_t opcode;
	uint8_t inputs;
	bool integers;
	struct ops_tolerance f32;
	struct ops_tolerance f64;
};

#define EXACT                                                                                      \
	{                                                                                          \
		0, 0, true                                                                         \
	}
#define WITHIN(ulp)                                                                                \
	{                                                                                          \
		ulp, 0, true                                                                       \
	}

static const struct row rows[] = {
	{QUOIT_OP_ADD, 2, true, EXACT, EXACT},
	{QUOIT_OP_SUB, 2, true, EXACT, EXACT},
	{QUOIT_OP_MUL, 2, true, EXACT, EXACT},
	{QUOIT_OP_DIV, 2, true, EXACT, EXACT},
	{QUOIT_OP_MIN, 2, true, EXACT, EXACT},
	{QUOIT_OP_MAX, 2, true, EXACT, EXACT},
	{QUOIT_OP_AXPBY, 2, true, EXACT, EXACT},
	{QUOIT_OP_RELU, 1, false, EXACT, EXACT},
	{QUOIT_OP_RELU_GRAD, 2, false, EXACT, EXACT},
	{QUOIT_OP_EXP, 1, false, WITHIN(2), WITHIN(2)},
	{QUOIT_OP_LOG, 1, false, WITHIN(2), WITHIN(2)},
	{QUOIT_OP_SQRT, 1, false, EXACT, EXACT},
	{QUOIT_OP_TANH, 1, false, WITHIN(4), WITHIN(4)},
	{QUOIT_OP_SIN, 1, false, WITHIN(3), WITHIN(3)},
	{QUOIT_OP_COS, 1, false, WITHIN(3), WITHIN(3)},
	{QUOIT_OP_SIGMOID, 1, false, WITHIN(3), WITHIN(3)},
	{QUOIT_OP_COPY, 1, true, EXACT, EXACT},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void set_scalars(struct ops_case *c)
{
	if (ops_is_float(c->args.t[0].dtype)) {
		c->args.scalar[0].f = 1.25;
		c->args.scalar[1].f = -0.75;
	} else {
		c->args.scalar[0].i = -3;
		c->args.scalar[1].i = 70000;
	}
}

static void check_layouts(const struct row *row, uint8_t dtype, const uint32_t dim[4])
{
	const struct ops_tolerance tolerance = dtype == QUOIT_F64 ? row->f64 : row->f32;

	for (int out = 0; out < OPS_LAYOUTS_OUT; out++) {
		for (int in = 0; in < OPS_LAYOUTS_IN; in++) {
			struct ops_case c = {.args.opcode = row->opcode};

			ops_case_tensor(&c, 0, dtype, dim, (enum ops_layout)out, 1);
			ops_case_tensor(&c, 1, dtype, dim, (enum ops_layout)in, 2);
			if (row->inputs == 2)
				ops_case_tensor(&c, 2, dtype, dim,
						(enum ops_layout)((in + out) % OPS_LAYOUTS_IN), 3);
			set_scalars(&c);
			ops_case_check(&c, tolerance);
			ops_case_done(&c);
		}
	}
}

Test(ops_elementwise, agree_with_the_reference_for_any_shape_and_layout)
{
	for (size_t r = 0; r < ROWS; r++) {
		for (uint8_t dtype = 0; dtype <= QUOIT_I64; dtype++) {
			if (!rows[r].integers && !ops_is_float(dtype))
				continue;
			for (size_t s = 0; s < SHAPES; s++)
				check_layouts(&rows[r], dtype, shapes[s]);
		}
	}
}

Test(ops_elementwise, may_overwrite_an_input)
{
	const uint32_t dim[] = {1, 2, 41, 67};

	for (size_t r = 0; r < ROWS; r++) {
		for (int in_place = 1; in_place <= rows[r].inputs; in_place++) {
			for (int layout = 0; layout < OPS_LAYOUTS_OUT; layout++) {
				struct ops_case c = {.args.opcode = rows[r].opcode};

				ops_case_tensor(&c, 0, QUOIT_F32, dim, (enum ops_layout)layout, 4);
				if (rows[r].inputs == 2)
					ops_case_tensor(&c, 3 - in_place, QUOIT_F32, dim, OPS_DENSE,
							5);
				c.args.t[in_place] = c.args.t[0];
				set_scalars(&c);
				ops_case_check(&c, rows[r].f32);
				ops_case_done(&c);
			}
		}
	}
}

static void check_scalar(uint8_t opcode, uint8_t dtype, uint8_t arg, const uint32_t dim[4],
			 enum ops_layout out)
{
	struct ops_case c = {.args.opcode = opcode, .args.arg = arg};

	ops_case_tensor(&c, 0, dtype, dim, out, 6);
	ops_case_tensor(&c, 1, dtype, dim, OPS_DENSE, 7);
	set_scalars(&c);
	ops_case_check(&c, (struct ops_tolerance)EXACT);
	ops_case_done(&c);
}

Test(ops_elementwise, take_a_scalar_on_either_side)
{
	for (uint8_t opcode = QUOIT_OP_ADD; opcode <= QUOIT_OP_MAX; opcode++) {
		for (uint8_t dtype = 0; dtype <= QUOIT_I64; dtype++) {
			for (int reverse = 0; reverse < 2; reverse++) {
				uint8_t arg = QUOIT_EW_SCALAR | (reverse ? QUOIT_EW_REVERSE : 0);

				check_scalar(opcode, dtype, arg, (uint32_t[]){1, 1, 9, 131},
					     OPS_PADDED);
				check_scalar(opcode, dtype, arg, (uint32_t[]){1, 1, 1, OP_SHORT},
					     OPS_DENSE);
				check_scalar(opcode, dtype, arg, (uint32_t[]){1, 1, 1, 3},
					     OPS_DENSE);
			}
		}
	}
}

Test(ops_elementwise, large_tensors_are_the_same_in_any_number_of_tiles)
{
	const uint32_t dim[] = {1, 1, 301, 257};
	struct ops_case c = {.args.opcode = QUOIT_OP_EXP};

	ops_case_tensor(&c, 0, QUOIT_F32, dim, OPS_DENSE, 8);
	ops_case_tensor(&c, 1, QUOIT_F32, dim, OPS_COLUMN_MAJOR, 9);
	ops_case_check(&c, (struct ops_tolerance)WITHIN(2));
	ops_case_done(&c);
}

Test(ops_elementwise, small_work_is_one_tile_and_large_work_a_few_per_core)
{
	static const struct {
		uint32_t columns, cores, least, most;
	} table[] = {{2, 64, 1, 1}, {16000, 8, 1, 1}, {1u << 20, 1, 1, 1}, {1u << 20, 4, 4, 16}};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct op_args args = {.opcode = QUOIT_OP_ADD};
		uint32_t tiles;

		args.t[0] =
			(struct op_tensor){.dim = {1, 1, 1, table[i].columns}, .dtype = QUOIT_F32};
		tiles = ops_table_base[QUOIT_OP_ADD]->tiles(&args, table[i].cores);
		cr_assert(tiles >= table[i].least && tiles <= table[i].most, "row %zu: %u", i,
			  tiles);
	}
}
