/* SPDX-License-Identifier: MIT */
/* test_ops_copy.c - fill, cast, transpose and roll agree with the reference. */
#include <criterion/criterion.h>
#include <string.h>

#include "ops_reference.h"

static const struct ops_tolerance exact = {0, 0, true};

static const uint32_t shapes[][4] = {
	{1, 1, 1, 1}, {1, 1, 0, 5}, {1, 1, 1, 130}, {2, 3, 5, 7}, {1, 1, 70, 3}, {1, 2, 67, 99},
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

Test(ops_copy, fill_writes_every_element_and_nothing_else)
{
	for (uint8_t dtype = 0; dtype < QUOIT_DTYPE_NR; dtype++) {
		for (size_t s = 0; s < SHAPES; s++) {
			for (int layout = 0; layout < OPS_LAYOUTS_OUT; layout++) {
				struct ops_case c = {.args.opcode = QUOIT_OP_FILL};

				ops_case_tensor(&c, 0, dtype, shapes[s], (enum ops_layout)layout,
						1);
				if (ops_is_float(dtype))
					c.args.scalar[0].f = 0.1;
				else
					c.args.scalar[0].i = -7;
				ops_case_check(&c, exact);
				ops_case_done(&c);
			}
		}
	}
}

Test(ops_copy, cast_rounds_once_and_saturates)
{
	for (uint8_t from = 0; from < QUOIT_DTYPE_NR; from++) {
		for (uint8_t to = 0; to < QUOIT_DTYPE_NR; to++) {
			for (size_t s = 0; s < SHAPES; s++) {
				for (int layout = 0; layout < OPS_LAYOUTS_IN; layout++) {
					struct ops_case c = {.args.opcode = QUOIT_OP_CAST};

					ops_case_tensor(&c, 0, to, shapes[s],
							(enum ops_layout)(layout % OPS_LAYOUTS_OUT),
							2);
					ops_case_tensor(&c, 1, from, shapes[s],
							(enum ops_layout)layout, 3);
					ops_case_check(&c, exact);
					ops_case_done(&c);
				}
			}
		}
	}
}

Test(ops_copy, transpose_takes_any_permutation)
{
	static const uint8_t types[] = {QUOIT_I32, QUOIT_F64, QUOIT_F16};

	for (unsigned arg = 0; arg < 256; arg++) {
		const unsigned perm[] = {arg & 3, arg >> 2 & 3, arg >> 4 & 3, arg >> 6 & 3};

		if ((1u << perm[0] | 1u << perm[1] | 1u << perm[2] | 1u << perm[3]) != 15)
			continue;
		for (size_t s = 0; s < SHAPES; s++) {
			for (int layout = 0; layout < OPS_LAYOUTS_OUT; layout++) {
				struct ops_case c = {.args.opcode = QUOIT_OP_TRANSPOSE};
				uint32_t dim[4];

				for (int d = 0; d < 4; d++)
					dim[d] = shapes[s][perm[d]];
				c.args.arg = (uint8_t)arg;
				ops_case_tensor(&c, 0, types[s % 3], dim, (enum ops_layout)layout,
						4);
				ops_case_tensor(&c, 1, types[s % 3], shapes[s],
						(enum ops_layout)((layout + arg) % OPS_LAYOUTS_OUT),
						5);
				ops_case_check(&c, exact);
				ops_case_done(&c);
			}
		}
	}
}

Test(ops_copy, roll_wraps_by_any_shift)
{
	static const int64_t shifts[] = {0, 1, -1, 3, 7, -8, 1000003, INT64_MIN, INT64_MAX};
	static const uint32_t large[] = {1, 3, 40, 700}; /* more than is rolled at a time */

	for (uint8_t axis = 0; axis < 4; axis++) {
		for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
			for (size_t s = 0; s <= SHAPES; s++) {
				const uint32_t *dim = s < SHAPES ? shapes[s] : large;
				struct ops_case c = {.args.opcode = QUOIT_OP_ROLL};
				const uint8_t dtype = i % 2 ? QUOIT_BF16 : QUOIT_F32;

				c.args.arg = axis;
				c.args.scalar[0].i = shifts[i];
				ops_case_tensor(&c, 0, dtype, dim,
						(enum ops_layout)(i % OPS_LAYOUTS_OUT), 6);
				ops_case_tensor(&c, 1, dtype, dim,
						(enum ops_layout)(s % OPS_LAYOUTS_IN), 7);
				ops_case_check(&c, exact);
				ops_case_done(&c);
			}
		}
	}
}

/*
 * copy.c has another loop for an output that lies up to 512 bytes ahead of the input in its page.
 * Bytes of 0x5a stand before and behind the output, so that a store beside it is seen.
 */
Test(ops_copy, copies_to_anywhere_in_a_page_and_nothing_else)
{
	enum { bytes = 3 * 4096, around = 4096 };
	static _Alignas(4096) uint8_t from[bytes], to[bytes + 2 * around], wanted[sizeof to];
	struct ops_isa isa[3];
	const size_t isas = ops_isas(isa);

	for (size_t i = 0; i < sizeof from; i++)
		from[i] = (uint8_t)(i * 7 + i / 256);
	for (uint32_t ahead = 0; ahead <= 520; ahead += 2) {
		const uint32_t n = (ahead * 37 + 100) % (bytes / 2); /* elements */
		struct ops_case c = {
			.args = {.opcode = QUOIT_OP_TRANSPOSE, .arg = 0xe4}}; /* dims 0 1 2 3 */

		c.args.t[0] = (struct op_tensor){
			to + around + ahead, {1, 1, 1, n}, {n, n, n, 1}, QUOIT_BF16};
		c.args.t[1] = (struct op_tensor){from, {1, 1, 1, n}, {n, n, n, 1}, QUOIT_BF16};
		memset(wanted, 0x5a, sizeof wanted);
		memcpy(wanted + around + ahead, from, 2 * n);
		for (size_t i = 0; i < isas; i++) {
			memset(to, 0x5a, sizeof to);
			ops_case_run(&c, &isa[i], 1);
			cr_assert_arr_eq(to, wanted, sizeof to, "%s: %u elements, %u bytes ahead",
					 isa[i].name, n, ahead);
		}
	}
}
