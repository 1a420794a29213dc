/* SPDX-License-Identifier: MIT */
/*
 * random.c - makes uniform and normal numbers from Philox.
 *
 * Element i of the tensor's row-major order comes from block scalar[1] + i / per_block, whatever
 * its strides and however it is cut.  All operations used are correctly rounded, so every
 * instruction set gives the same bits.
 *
 * Normals come in pairs, by the Box-Muller transform: radius sqrt(-2 ln u) from one number, the
 * angle from another.
 */
#include <string.h>

#include "philox.h"
#include "vmath.h"
#include "walk.h"

/* Words made at a time: they and the numbers made from them stay in the L1 cache. */
#define RANDOM_WORDS 1024
_Static_assert(RANDOM_WORDS % (PHILOX_GROUP * PHILOX_WORDS) == 0, "whole groups");

/* Turn `words` words into numbers; out may not overlap. */
typedef void random_fn(void *restrict out, const uint32_t *restrict word, size_t words);

/* 24 bits in [0, 1). */
static void uniform_f32(void *restrict out, const uint32_t *restrict word, size_t words)
{
	f32 *x = out;

	for (size_t i = 0; i < words; i++)
		x[i] = (f32)(i32)(word[i] >> 8) * 0x1p-24f;
}

/* 53 bits in [0, 1): 27 of the first word, 26 of the second. */
static void uniform_f64(void *restrict out, const uint32_t *restrict word, size_t words)
{
	f64 *x = out;

	for (size_t i = 0; i < words / 2; i++) {
		f64 high = (f64)(i32)(word[2 * i] >> 5);
		f64 low = (f64)(i32)(word[2 * i + 1] >> 6);

		x[i] = fma(high, 0x1p-27, low * 0x1p-53);
	}
}

/*
 * The first word gives u in (0, 1] with 31 bits, so |x| < 6.67.  The second one gives the angle.
 * Its low 30 bits are t in [-pi/4, pi/4).  Of its highest two bits, one turns by pi/2 (sine and
 * cosine change places, and t runs backwards) and one by pi (both change sign).
 */
static void normal_f32(void *restrict out, const uint32_t *restrict word, size_t words)
{
	f32 *x = out;

	for (size_t i = 0; i < words; i += 2) {
		uint32_t a = word[i];
		uint32_t b = word[i + 1];
		f32 u = fmaf((f32)(i32)(a >> 1), 0x1p-31f, 0x1p-32f);
		f32 radius = sqrtf(-2.0f * vmath_f32_log_normal(u, 0));
		f32 t = (f32)(i32)(b << 2) * (0x1.921fb6p0f * 0x1p-32f);
		f32 s = vmath_f32_sin_octant(t);
		f32 c = vmath_f32_cos_octant(t);

		radius = f32_from_bits(f32_bits(radius) ^ (b & 0x80000000u));
		x[i] = radius * (b & 0x40000000u ? s : c);
		x[i + 1] = radius * (b & 0x40000000u ? c : s);
	}
}

/* As above, with 52 bits of u in (0, 1), so |x| < 8.58, and 62 - 9 bits of the angle. */
static void normal_f64(void *restrict out, const uint32_t *restrict word, size_t words)
{
	const f64 turn = 0x1.921fb54442d18p0 * 0x1p-32; /* pi/2 */
	f64 *x = out;

	for (size_t i = 0; i < words / 4; i++) {
		uint64_t a = (uint64_t)word[4 * i] << 32 | word[4 * i + 1];
		uint32_t b = word[4 * i + 2];
		uint32_t low = word[4 * i + 3];
		f64 u = f64_from_bits(a >> 12 | 0x3ff0000000000000u) - (1.0 - 0x1p-53);
		f64 radius = sqrt(-2.0 * vmath_f64_log_normal(u, 0));
		f64 fine = (f64)(i32)(low >> 1);
		f64 t = fma(fine, 0x1p-31 * 4, (f64)(i32)(b << 2)) * turn;
		f64 s = vmath_f64_sin_octant(t);
		f64 c = vmath_f64_cos_octant(t);

		radius = f64_from_bits(f64_bits(radius) ^ (uint64_t)(b & 0x80000000u) << 32);
		x[2 * i] = radius * (b & 0x40000000u ? s : c);
		x[2 * i + 1] = radius * (b & 0x40000000u ? c : s);
	}
}

#define KINDS_F(name)                                                                              \
	{                                                                                          \
		[QUOIT_F32] = name##_f32, [QUOIT_F64] = name##_f64                                 \
	}

/* For each operation of the family, by type; it does not compile until they are above. */
static random_fn *const random_kinds[][QUOIT_DTYPE_NR] = {
#define QUOIT_ROW_RANDOM(nr, name, types) [nr] = KINDS_##types(name),
#include <quoit/family_ops.def>
};

struct random_source {
	random_fn *fn;
	uint64_t key;
	uint64_t block;     /* of element 0 */
	uint32_t per_block; /* elements */
	uint32_t size;      /* bytes of one */
};

static void random_piece(void *const ptr[], uint64_t index, size_t n, void *context)
{
	const struct random_source *source = context;
	_Alignas(64) uint32_t word[RANDOM_WORDS];
	_Alignas(64) uint32_t made[RANDOM_WORDS];
	const size_t most = RANDOM_WORDS / PHILOX_WORDS * source->per_block;
	char *out = ptr[0];

	while (n > 0) {
		size_t lead = index % source->per_block;
		size_t now = n < most - lead ? n : most - lead;
		size_t blocks = (lead + now + source->per_block - 1) / source->per_block;

		blocks = (blocks + PHILOX_GROUP - 1) / PHILOX_GROUP * PHILOX_GROUP;
		philox_fill(word, source->key, source->block + index / source->per_block, blocks);
		if (now == most) {
			source->fn(out, word, RANDOM_WORDS);
		} else {
			source->fn(made, word, blocks * PHILOX_WORDS);
			memcpy(out, (char *)made + lead * source->size, now * source->size);
		}
		out += now * source->size;
		index += now;
		n -= now;
	}
}

static void random_run(struct op_args *args, uint32_t tile, uint32_t tiles)
{
	const struct op_tensor *t[] = {&args->t[0]};
	struct random_source source = {
		.fn = random_kinds[args->opcode][t[0]->dtype],
		.key = args->scalar[0].u,
		.block = args->scalar[1].u,
		.size = op_dtype_size(t[0]->dtype),
	};
	struct walk walk;

	source.per_block = PHILOX_WORDS * sizeof(uint32_t) / source.size;
	walk_make(&walk, t, 1, 1, WALK_ROW_MAJOR);
	walk_run(&walk, op_cut(walk.count, tile, tiles), op_cut(walk.count, tile + 1, tiles),
		 random_piece, &source);
}

const struct op_impl OP_NAME(op_random) = {op_tiles_by_output, random_run, NULL};
