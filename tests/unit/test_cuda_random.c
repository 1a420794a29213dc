/* SPDX-License-Identifier: MIT */
/* test_cuda_random.c - a device's random numbers are the CPU's, bit for bit. */
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
			  "%s of %s, row %zu", ops_name(c.args.opcode), ops_type_name(dtype),
			  r / 4);
		ops_case_done(&c);
	}
}

/* ---- the places of the numbers ---- */

/* A whole block that a part writes at once must lie where the whole walk has its first number. */
static void check_block(const struct walk *whole, const struct walk *part, uint64_t block,
			uint32_t size)
{
	const uint64_t i = block * (RANDOM_BYTES / size);
	const uint64_t row = i / whole->dim[1], column = i % whole->dim[1];
	const int64_t at = (int64_t)row * whole->operand[0].stride[0] + (int64_t)column;

	cr_assert_eq(part->operand[0].data + random_place(part, block, size) * RANDOM_BYTES,
		     whole->operand[0].data + (uint64_t)at * size, "block %llu of rows of %llu",
		     (unsigned long long)block, (unsigned long long)whole->dim[1]);
}

/* How many parts are written by whole blocks. */
static int check_parts(struct walk walk, const struct walk *whole, uint32_t size)
{
	const uint32_t per_block = RANDOM_BYTES / size;
	struct walk rest;
	int found = 0;

	while (walk_cut(&walk, &rest, (uint32_t[WALK_OPERANDS]){size})) {
		found += check_parts(walk, whole, size);
		walk = rest;
	}
	if (!random_is_whole(&walk, size))
		return found;
	check_block(whole, &walk, (walk.first + per_block - 1) / per_block, size);
	check_block(whole, &walk, (walk.first + walk.count) / per_block - 1, size);
	return found + 1;
}

Test(cuda_random, whole_blocks_are_written_where_their_numbers_belong)
{
	static const struct {
		uint8_t dtype;
		uint32_t columns;
		int32_t pitch;
		/* how many of two parts: the second row may begin in the middle of a block */
		int whole;
	} rows[] = {
		{QUOIT_F32, (1u << 30) + 1, (1 << 30) + 4, 1},
		{QUOIT_F32, (1u << 30) + 4, (1 << 30) + 8, 2},
		/* its address is not that of a block */
		{QUOIT_F32, (1u << 30) + 4, (1 << 30) + 5, 1},
		{QUOIT_F64, (1u << 30) + 1, (1 << 30) + 2, 1},
		{QUOIT_F64, (1u << 30) + 2, (1 << 30) + 4, 2},
	};

	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		const struct quoit_device_tensor t = {.data = 1 << 20,
						      .dim = {1, 1, 2, rows[r].columns},
						      .stride = {0, 0, rows[r].pitch, 1},
						      .dtype = rows[r].dtype};
		struct walk walk;

		walk_make(&walk, (const struct quoit_device_tensor *[]){&t}, 1, WALK_ROW_MAJOR);
		cr_assert_eq(check_parts(walk, &walk, walk_dtype_size(t.dtype)), rows[r].whole,
			     "row %zu", r);
	}
}
