/* SPDX-License-Identifier: MIT */
/*
 * test_ops_random.c - Philox gives the published words; uniform and normal numbers have their
 * distributions.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/philox.h"
#include "ops_reference.h"

static const uint8_t opcodes[] = {QUOIT_OP_UNIFORM, QUOIT_OP_NORMAL};

/* From the known-answer file of the authors' library, Random123. */
Test(ops_random, philox_gives_the_published_words)
{
	static const struct {
		uint32_t counter[4], key[2], want[4];
	} table[] = {
		{{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
		 {0xffffffff, 0xffffffff},
		 {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
		 {0xa4093822, 0x299f31d0},
		 {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		uint32_t word[4];

		memcpy(word, table[i].counter, sizeof(word));
		philox_block(word, table[i].key[0], table[i].key[1]);
		cr_assert(memcmp(word, table[i].want, sizeof(word)) == 0, "row %zu", i);
	}
}

static struct ops_case make_shaped(uint8_t opcode, uint8_t dtype, const uint32_t dim[4],
				   enum ops_layout layout, uint64_t key, uint64_t block)
{
	struct ops_case c = {.args.opcode = opcode};

	ops_case_tensor(&c, 0, dtype, dim, layout, 1);
	c.args.scalar[0].u = key;
	c.args.scalar[1].u = block;
	return c;
}

static struct ops_case make(uint8_t opcode, uint8_t dtype, uint32_t rows, uint32_t columns,
			    enum ops_layout layout, uint64_t key, uint64_t block)
{
	return make_shaped(opcode, dtype, (const uint32_t[]){1, 1, rows, columns}, layout, key,
			   block);
}

/* Element i by its definition, in double. */
static double define(uint8_t opcode, uint8_t dtype, uint64_t key, uint64_t block, uint64_t i)
{
	const uint64_t per_block = dtype == QUOIT_F32 ? 4 : 2;
	const uint64_t at = block + i / per_block;
	const int pair = dtype == QUOIT_F32 ? (int)(i % 4 / 2 * 2) : 0;
	uint32_t w[4] = {(uint32_t)at, (uint32_t)(at >> 32), 0, 0};
	uint64_t first;
	double u, angle;

	philox_block(w, (uint32_t)key, (uint32_t)(key >> 32));
	if (opcode == QUOIT_OP_UNIFORM && dtype == QUOIT_F32)
		return (double)(w[i % 4] >> 8) * 0x1p-24;
	if (opcode == QUOIT_OP_UNIFORM)
		return ((double)(w[i % 2 * 2] >> 5) * 0x1p26 + (w[i % 2 * 2 + 1] >> 6)) * 0x1p-53;
	if (dtype == QUOIT_F32) {
		const uint32_t b = w[pair + 1];

		u = (float)((double)(float)(w[pair] >> 1) * 0x1p-31 + 0x1p-32);
		angle = (double)(int32_t)(b << 2) * 0x1p-32 * M_PI_2;
		angle = b & 0x40000000 ? M_PI_2 - angle : angle;
		angle += b & 0x80000000 ? M_PI : 0;
	} else {
		first = (uint64_t)w[0] << 32 | w[1];
		u = (double)(2 * (first >> 12) + 1) * 0x1p-53;
		angle = ((double)(int32_t)(w[2] << 2) + 4.0 * (w[3] >> 1) * 0x1p-31) * 0x1p-32 *
			M_PI_2;
		angle = w[2] & 0x40000000 ? M_PI_2 - angle : angle;
		angle += w[2] & 0x80000000 ? M_PI : 0;
	}
	return sqrt(-2 * log(u)) * (i % 2 ? sin(angle) : cos(angle));
}

Test(ops_random, element_i_is_a_function_of_key_counter_and_i)
{
	const uint64_t key = 0x123456789abcdef0;
	struct ops_isa isas[3];
	const size_t isa_nr = ops_isas(isas);

	for (int o = 0; o < 2; o++) {
		for (uint8_t dtype = QUOIT_F32; dtype <= QUOIT_F64; dtype++) {
			struct ops_case c =
				make(opcodes[o], dtype, 1, 5003, OPS_DENSE, key, UINT64_MAX - 77);
			const double most = opcodes[o] == QUOIT_OP_UNIFORM ? 0
					    : dtype == QUOIT_F32           ? 1e-6
									   : 4e-15;

			ops_case_run(&c, &isas[isa_nr - 1], 1);
			for (uint32_t i = 0; i < 5003; i++) {
				const uint32_t pos[] = {0, 0, 0, i};
				const double want =
					define(opcodes[o], dtype, key, UINT64_MAX - 77, i);

				cr_assert(fabs(ops_get_f(&c.args.t[0], pos) - want) <= most,
					  "%s of %s, element %u: %.17g, not %.17g",
					  ops_name(opcodes[o]), ops_type_name(dtype), i,
					  ops_get_f(&c.args.t[0], pos), want);
			}
			ops_case_done(&c);
		}
	}
}

Test(ops_random, every_instruction_set_tiling_and_layout_gives_the_same_bits)
{
	static const uint32_t shapes[][4] = {
		{1, 1, 1, 1},   {1, 1, 1, 3},    {1, 1, 7, 3},    {1, 1, 3, 70},
		{1, 1, 5, 129}, {1, 1, 1, 3001}, {1, 1, 2, 2048}, {1, 1, 13, 515},
		{2, 3, 5, 67},  {3, 1, 2, 1},    {1, 1, 0, 5},    {0, 1, 1, 1},
	};
	struct ops_isa isas[3];
	const size_t isa_nr = ops_isas(isas);

	for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]) * 4; s++) {
		const uint32_t *dim = shapes[s / 4];
		const uint8_t opcode = opcodes[s & 1];
		const uint8_t dtype = s & 2 ? QUOIT_F64 : QUOIT_F32;
		struct ops_case first = make_shaped(opcode, dtype, dim, OPS_DENSE, 42, 1000);

		ops_case_run(&first, &isas[0], 1);
		for (size_t way = 0; way < isa_nr * 4 * OPS_LAYOUTS_OUT; way++) {
			const enum ops_layout layout = (enum ops_layout)(way / isa_nr / 4);
			struct ops_case c = make_shaped(opcode, dtype, dim, layout, 42, 1000);
			uint32_t pos[4] = {0};

			ops_case_run(&c, &isas[way % isa_nr], (uint32_t)(way / isa_nr % 4 * 2 + 1));
			for (bool more = c.memory[0].size > 0; more;
			     more = ops_next(c.args.t[0].dim, pos)) {
				const double a = ops_get_f(&first.args.t[0], pos);
				const double b = ops_get_f(&c.args.t[0], pos);

				cr_assert(a == b && signbit(a) == signbit(b),
					  "%s, operation %d, type %d, layout %d, at %u, %u",
					  isas[way % isa_nr].name, opcode, dtype, layout, pos[2],
					  pos[3]);
			}
			ops_case_done(&c);
		}
		ops_case_done(&first);
	}
}

struct moments {
	double mean, variance, skew, kurtosis, lag;
	uint32_t beyond[6]; /* how many have |x| > i */
};

static struct moments measure(const struct op_tensor *t, uint32_t n)
{
	struct moments m = {0};
	double before = 0;

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t pos[] = {0, 0, 0, i};
		const double x = ops_get_f(t, pos);

		m.mean += x;
		m.variance += x * x;
		m.skew += x * x * x;
		m.kurtosis += x * x * x * x;
		m.lag += x * before;
		before = x;
		for (int k = 1; k < 6; k++)
			m.beyond[k] += fabs(x) > k;
	}
	m.mean /= n;
	m.variance /= n;
	m.skew /= n;
	m.kurtosis /= n;
	m.lag /= n;
	return m;
}

/* Seeds are fixed: a result outside five sigma is an error of the transform, not bad luck. */
Test(ops_random, normal_numbers_have_the_moments_and_tails_of_the_normal_distribution)
{
	const uint32_t n = 1u << 20;
	const double root = sqrt(n);
	static const double share[] = {1, 0.31731050786, 0.04550026390, 0.00269979606,
				       6.33424837e-5};
	struct ops_isa isas[3];
	const size_t isa_nr = ops_isas(isas);

	for (int run = 0; run < 8; run++) {
		struct ops_case c = make(QUOIT_OP_NORMAL, run & 1, 1, n, OPS_DENSE, 1000 + run, 0);
		struct moments m;

		ops_case_run(&c, &isas[isa_nr - 1], 1);
		m = measure(&c.args.t[0], n);
		cr_assert_lt(fabs(m.mean), 5 / root);
		cr_assert_lt(fabs(m.variance - 1), 5 * sqrt(2) / root);
		cr_assert_lt(fabs(m.skew), 5 * sqrt(15) / root);
		cr_assert_lt(fabs(m.kurtosis - 3), 5 * sqrt(96) / root);
		cr_assert_lt(fabs(m.lag), 5 / root);
		for (int k = 1; k < 5; k++)
			cr_assert_lt(fabs(m.beyond[k] - n * share[k]), 5 * sqrt(n * share[k]),
				     "%u beyond %d sigma", m.beyond[k], k);
		ops_case_done(&c);
	}
}

Test(ops_random, uniform_numbers_fill_the_unit_interval_evenly)
{
	const uint32_t n = 1u << 20;
	struct ops_isa isas[3];
	const size_t isa_nr = ops_isas(isas);

	for (int run = 0; run < 4; run++) {
		struct ops_case c = make(QUOIT_OP_UNIFORM, run & 1, 1, n, OPS_DENSE, 7 + run, 0);
		uint32_t bin[64] = {0};
		double chi = 0;

		ops_case_run(&c, &isas[isa_nr - 1], 1);
		for (uint32_t i = 0; i < n; i++) {
			const uint32_t pos[] = {0, 0, 0, i};
			const double x = ops_get_f(&c.args.t[0], pos);

			cr_assert(x >= 0 && x < 1);
			bin[(int)(x * 64)]++;
		}
		for (int b = 0; b < 64; b++)
			chi += (bin[b] - n / 64.0) * (bin[b] - n / 64.0) / (n / 64.0);
		cr_assert(chi > 20 && chi < 125, "chi square %.1f of 63", chi);
		ops_case_done(&c);
	}
}
