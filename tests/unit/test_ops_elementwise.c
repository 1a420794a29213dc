/* SPDX-License-Identifier: MIT */
/*
 * test_ops_elementwise.c - element-wise operations agree with the reference for any shape and
 * layout.
 */
#include <criterion/criterion.h>
#include <string.h>

#include <quoit/families.h>

#include "ops_reference.h"

static const uint32_t shapes[][4] = {
	{1, 1, 1, 1},   {1, 1, 1, 2},    {1, 1, 0, 5},    {0, 1, 1, 1},
	{1, 1, 1, 65},  {1, 1, 3, 67},   {2, 3, 5, 7},    {1, 1, 70, 3},
	{3, 1, 2, 129}, {1, 1, 1, 1700}, {1, 1, 13, 520}, {4, 1, 1, 9},
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static struct ops_tolerance tolerance_of(uint8_t opcode)
{
	return (struct ops_tolerance){ops_ulp(opcode), 0, true};
}

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

static void check_layouts(const struct ops_row *row, uint8_t dtype, const uint32_t dim[4])
{
	const int inputs = ops_inputs(row);

	for (int out = 0; out < OPS_LAYOUTS_OUT; out++) {
		for (int in = 0; in < OPS_LAYOUTS_IN; in++) {
			struct ops_case c = {.args.opcode = row->opcode};

			ops_case_tensor(&c, 0, dtype, dim, (enum ops_layout)out, 1);
			if (inputs >= 1)
				ops_case_tensor(&c, 1, dtype, dim, (enum ops_layout)in, 2);
			if (inputs == 2)
				ops_case_tensor(&c, 2, dtype, dim,
						(enum ops_layout)((in + out) % OPS_LAYOUTS_IN), 3);
			set_scalars(&c);
			ops_case_check(&c, tolerance_of(row->opcode));
			ops_case_done(&c);
		}
	}
}

Test(ops_elementwise, agree_with_the_reference_for_any_shape_and_layout)
{
	for (size_t r = 0; r < ops_row_nr; r++) {
		for (uint8_t dtype = 0; dtype <= QUOIT_I64; dtype++) {
			if (ops_inputs(&ops_rows[r]) < 0 || !(ops_rows[r].types & 1u << dtype))
				continue;
			for (size_t s = 0; s < SHAPES; s++)
				check_layouts(&ops_rows[r], dtype, shapes[s]);
		}
	}
}

Test(ops_elementwise, may_overwrite_an_input)
{
	const uint32_t dim[] = {1, 2, 41, 67};

	for (size_t r = 0; r < ops_row_nr; r++) {
		for (int in_place = 1; in_place <= ops_inputs(&ops_rows[r]); in_place++) {
			for (int layout = 0; layout < OPS_LAYOUTS_OUT; layout++) {
				struct ops_case c = {.args.opcode = ops_rows[r].opcode};

				ops_case_tensor(&c, 0, QUOIT_F32, dim, (enum ops_layout)layout, 4);
				if (ops_inputs(&ops_rows[r]) == 2)
					ops_case_tensor(&c, 3 - in_place, QUOIT_F32, dim, OPS_DENSE,
							5);
				c.args.t[in_place] = c.args.t[0];
				set_scalars(&c);
				ops_case_check(&c, tolerance_of(ops_rows[r].opcode));
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
	ops_case_check(&c, tolerance_of(opcode));
	ops_case_done(&c);
}

Test(ops_elementwise, take_a_scalar_on_either_side)
{
	for (size_t r = 0; r < ops_row_nr; r++) {
		const uint8_t opcode = ops_rows[r].opcode;

		if (ops_rows[r].family != QUOIT_FAMILY_ARITHMETIC)
			continue;
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
	ops_case_check(&c, tolerance_of(QUOIT_OP_EXP));
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

Test(ops_elementwise, powers_of_integers_are_what_ops_def_says)
{
	static const struct {
		int32_t x, y, power;
	} table[] = {{2, 10, 1024},      {-3, 3, -27},        {0, 0, 1},         {7, 0, 1},
		     {0, 5, 0},          {0, -1, 0},          {1, -7, 1},        {-1, -7, -1},
		     {-1, -8, 1},        {2, -1, 0},          {-5, -3, 0},       {2, 31, INT32_MIN},
		     {2, 32, 0},         {3, 21, 1870418611}, {INT32_MIN, 2, 0}, {-1, INT32_MIN, 1},
		     {-1, INT32_MAX, -1}};
	const uint32_t one[] = {1, 1, 1, 1};
	struct ops_isa isas[3];
	const size_t isa_nr = ops_isas(isas);

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ops_case c = {.args.opcode = QUOIT_OP_POW};

		for (int t = 0; t < 3; t++)
			ops_case_tensor(&c, t, QUOIT_I32, one, OPS_DENSE, 1);
		*(int32_t *)c.args.t[1].data = table[i].x;
		*(int32_t *)c.args.t[2].data = table[i].y;
		for (size_t isa = 0; isa < isa_nr; isa++) {
			ops_case_run(&c, &isas[isa], 1);
			cr_expect_eq(*(int32_t *)c.args.t[0].data, table[i].power, "%d to %d: %d",
				     table[i].x, table[i].y, *(int32_t *)c.args.t[0].data);
		}
		ops_case_done(&c);
	}
}
