/* SPDX-License-Identifier: MIT */
/*
 * gemm_bf16.c - computes blocks of a bfloat16 product with the CPU's own instruction, VDPBF16PS.
 *
 * It adds two products to each of 16 sums in float32.  It takes denormal elements for zeros, and
 * makes denormal sums zeros, whatever the thread's rounding mode: below 2^-126 there is nothing.
 * Both factors are packed so that neighbours along k are adjacent.
 */
#include "gemm.h"

#if defined(__AVX512F__)

#include <immintrin.h>
#include <string.h>

#define BF16_PAIRS (GEMM_BLOCK_DEPTH / 2)
#define BF16_LANES 16

/* Only functions with this attribute may use the instruction, once the CPU is known to have it. */
#define BF16_TARGET __attribute__((target("avx512bf16")))

/* Rows of A, or columns of B, whose neighbours along k are packed. */
struct bf16_lines {
	const uint16_t *data;
	int64_t line;  /* from one line to the next, elements */
	int64_t along; /* from one neighbour to the next */
	uint64_t lines;
	uint64_t k;
};

/* Join n pairs of an element and the one `next` after it: from every `step` to every `to_step`. */
static inline void bf16_join(const uint16_t *from, int64_t next, int64_t step, uint64_t n,
			     uint32_t *to, uint64_t to_step)
{
	if (next == 1 && step == 2 && to_step == 1) {
		memcpy(to, from, n * sizeof(*to));
	} else if (next == 1) {
		for (uint64_t i = 0; i < n; i++, from += step, to += to_step)
			memcpy(to, from, sizeof(*to));
	} else if (step == 1 && to_step == 1) {
		for (uint64_t i = 0; i < n; i++)
			to[i] = from[i] | (uint32_t)from[(int64_t)i + next] << 16;
	} else {
		for (uint64_t i = 0; i < n; i++, from += step, to += to_step)
			*to = *from | (uint32_t)from[next] << 16;
	}
}

/*
 * Pack pair p of line i to i * to_line + p * to_pair.  The last pair of an odd k gets a zero.  Up
 * to a multiple of `unit`, the last line is repeated.
 */
static void bf16_pack(const struct bf16_lines *from, uint32_t *to, uint64_t to_line,
		      uint64_t to_pair, uint64_t unit)
{
	const uint64_t pairs = from->k / 2;
	const uint64_t all = gemm_block_round(from->lines, unit);

	if (from->line == 1)
		for (uint64_t p = 0; p < pairs; p++)
			bf16_join(from->data + 2 * (int64_t)p * from->along, from->along, 1,
				  from->lines, to + p * to_pair, to_line);
	else
		for (uint64_t i = 0; i < from->lines; i++)
			bf16_join(from->data + (int64_t)i * from->line, from->along,
				  2 * from->along, pairs, to + i * to_line, to_pair);
	for (uint64_t i = 0; from->k % 2 && i < from->lines; i++)
		to[i * to_line + pairs * to_pair] =
			from->data[(int64_t)i * from->line + 2 * (int64_t)pairs * from->along];
	for (uint64_t i = from->lines; i < all; i++)
		for (uint64_t p = 0; p < (from->k + 1) / 2; p++)
			to[i * to_line + p * to_pair] =
				to[(from->lines - 1) * to_line + p * to_pair];
}

/* Compute GEMM_BLOCK_HEIGHT rows by two vectors of sums, in registers. */
static inline BF16_TARGET __attribute__((always_inline)) void bf16_tile(
	const uint32_t *a, uint64_t a_line, uint64_t a_pair, const __m512i *b, uint64_t pairs,
	f32 *sum, uint64_t lead)
{
	__m512 c[GEMM_BLOCK_HEIGHT][2];

	_Pragma("GCC unroll 16") for (uint64_t r = 0; r < GEMM_BLOCK_HEIGHT; r++)
	{
		c[r][0] = _mm512_loadu_ps(sum + r * lead);
		c[r][1] = _mm512_loadu_ps(sum + r * lead + BF16_LANES);
	}
	for (uint64_t p = 0; p < pairs; p++, b += 2) {
		_Pragma("GCC unroll 16") for (uint64_t r = 0; r < GEMM_BLOCK_HEIGHT; r++)
		{
			__m512i x = _mm512_set1_epi32((int)a[r * a_line + p * a_pair]);

			c[r][0] = _mm512_dpbf16_ps(c[r][0], (__m512bh)x, (__m512bh)b[0]);
			c[r][1] = _mm512_dpbf16_ps(c[r][1], (__m512bh)x, (__m512bh)b[1]);
		}
	}
	_Pragma("GCC unroll 16") for (uint64_t r = 0; r < GEMM_BLOCK_HEIGHT; r++)
	{
		_mm512_storeu_ps(sum + r * lead, c[r][0]);
		_mm512_storeu_ps(sum + r * lead + BF16_LANES, c[r][1]);
	}
}

/* Multiply all rows by one packed panel of B.  The two layouts of A are constants to bf16_tile. */
static BF16_TARGET void bf16_panel(const uint32_t *a, bool a_by_line, const uint32_t *b,
				   const struct gemm *block, f32 *sum, uint64_t lead)
{
	const uint64_t pairs = (block->k + 1) / 2;

	for (uint64_t i = 0; i < block->m; i += GEMM_BLOCK_HEIGHT) {
		if (a_by_line)
			bf16_tile(a + i * BF16_PAIRS, BF16_PAIRS, 1, (const __m512i *)b, pairs,
				  sum + i * lead, lead);
		else
			bf16_tile(a + i, 1, GEMM_BLOCK_ROWS, (const __m512i *)b, pairs,
				  sum + i * lead, lead);
	}
}

bool gemm_bf16_add(const struct gemm *block, f32 *sum, uint64_t lead)
{
	_Alignas(64) uint32_t a[GEMM_BLOCK_ROWS * BF16_PAIRS];
	_Alignas(64) uint32_t b[BF16_PAIRS * GEMM_BLOCK_WIDTH];
	const bool a_by_line = block->a.row != 1;
	const struct bf16_lines rows = {block->a.data, block->a.row, block->a.column, block->m,
					block->k};

	if (!__builtin_cpu_supports("avx512bf16"))
		return false;
	bf16_pack(&rows, a, a_by_line ? BF16_PAIRS : 1, a_by_line ? 1 : GEMM_BLOCK_ROWS,
		  GEMM_BLOCK_HEIGHT);
	for (uint64_t j = 0; j < block->n; j += GEMM_BLOCK_WIDTH) {
		const struct bf16_lines columns = {
			(const uint16_t *)block->b.data + (int64_t)j * block->b.column,
			block->b.column, block->b.row,
			gemm_block_size(block->n - j, GEMM_BLOCK_WIDTH), block->k};

		bf16_pack(&columns, b, 1, GEMM_BLOCK_WIDTH, GEMM_BLOCK_WIDTH);
		bf16_panel(a, a_by_line, b, block, sum + j, lead);
	}
	return true;
}

#else

bool gemm_bf16_add(const struct gemm *block, f32 *sum, uint64_t lead)
{
	(void)block, (void)sum, (void)lead;
	return false;
}

#endif
