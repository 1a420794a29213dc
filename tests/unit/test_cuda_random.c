/* SPDX-License-Identifier: MIT */
/* test_cuda_random.c - the numbers that a device makes are the CPU's, bit for bit. */
#include <criterion/criterion.h>
#include <string.h>

#include "kernels/random_core.h"
#include "ops_reference.h"

#define ELEMENTS 40001

/* All elements as the device makes them, by whole blocks. */
static void make(uint8_t opcode, uint8_t dtype, uint64_t key, uint64_t block, void *ret)
{
	const bool single = dtype == QUOIT_F32;
	const bool normal = opcode == QUOIT_OP_NORMAL;
	const uint32_t per_block = single ? 4 : 2;

	for (uint32_t i = 0; i < (ELEMENTS + per_block - 1) / per_block; i++) {
		uint32_t word[RANDOM_WORDS];

		random_block(key, block + i, word);
		if (single)
			(normal ? random_normal_f32 : random_uniform_f32)(word,
									  (float *)ret + i * 4);
		else
			(normal ? random_normal_f64 : random_uniform_f64)(word,
									  (double *)ret + i * 2);
	}
}

Test(cuda_random, a_device_gives_the_same_bits_as_the_cpu)
{
	static const struct {
		uint64_t key, block;
	} rows[] = {{0, 0}, {42, 1000}, {0x123456789abcdef0, UINT64_MAX - 77}, {1, 0xfffffff0}};
	static const uint32_t dim[] = {1, 1, 1, ELEMENTS};
	static double made[ELEMENTS + 4];
	struct ops_isa isas[3];

	ops_isas(isas);
	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]) * 4; r++) {
		const uint8_t dtype = r & 1 ? QUOIT_F64 : QUOIT_F32;
		struct ops_case c = {.args.opcode = r & 2 ? QUOIT_OP_NORMAL : QUOIT_OP_UNIFORM};

		ops_case_tensor(&c, 0, dtype, dim, OPS_DENSE, 1);
		c.args.scalar[0].u = rows[r / 4].key;
		c.args.scalar[1].u = rows[r / 4].block;
		ops_case_run(&c, &isas[0], 1);
		make(c.args.opcode, dtype, rows[r / 4].key, rows[r / 4].block, made);
		cr_assert(memcmp(made, c.args.t[0].data, ELEMENTS * op_dtype_size(dtype)) == 0,
			  "operation %d, type %d, row %zu", c.args.opcode, dtype, r / 4);
		ops_case_done(&c);
	}
}
