/* SPDX-License-Identifier: MIT */
/*
 * gemm_half.c - the matrix product of bfloat16 and float16, summed in float32.
 *
 * C is made block by block.  A block's sums stay in float32 until all of k has been added, and are
 * rounded once.  A block of A times a block of B is added with the CPU's instruction for pairs of
 * bfloat16 if it has one, else by gemm_builtin on float32 copies of both.  In blocks that stay in
 * the caches gemm_builtin is as fast as a BLAS; unlike most, it gives an element of C the same bits
 * in whichever block it is.
 */
#include <string.h>

#include "gemm.h"
#include "half.h"

/* One block's operands in float32, and its sums, which are row-major. */
struct half_scratch {
	_Alignas(64) f32 a[GEMM_BLOCK_ROWS * GEMM_BLOCK_DEPTH];
	_Alignas(64) f32 b[GEMM_BLOCK_DEPTH * GEMM_BLOCK_COLUMNS];
	_Alignas(64) f32 sum[GEMM_BLOCK_ROWS * GEMM_BLOCK_COLUMNS];
};

static inline f32 half_load_f32(f32 x)
{
	return x;
}

static inline f32 half_load_bf16(bf16 x)
{
	return quoit_float_from_bf16(x);
}

static inline f32 half_load_f16(f16 x)
{
	return quoit_float_from_f16(x);
}

static inline f32 half_round_f32(f32 x)
{
	return x;
}

static inline bf16 half_round_bf16(f32 x)
{
	return quoit_bf16_from_float(x);
}

static inline f16 half_round_f16(f32 x)
{
	return quoit_f16_from_float(x);
}

/* Convert n elements, each `step` after the one before, to float32. */
#define WIDEN(type)                                                                                \
	static void half_widen_##type(const type *from, int64_t step, uint64_t n, f32 *to)         \
	{                                                                                          \
		if (step == 1) {                                                                   \
			for (uint64_t i = 0; i < n; i++)                                           \
				to[i] = half_load_##type(from[i]);                                 \
			return;                                                                    \
		}                                                                                  \
		for (uint64_t i = 0; i < n; i++)                                                   \
			to[i] = half_load_##type(from[(int64_t)i * step]);                         \
	}

WIDEN(bf16)
WIDEN(f16)

/* Write n elements of a row of C, each `step` after the one before, from their sums. */
#define FINISH_ROW(type)                                                                           \
	static inline void half_finish_row_##type(const struct gemm *gemm, type *c, int64_t step,  \
						  const f32 *sum, uint64_t n)                      \
	{                                                                                          \
		const f32 alpha = (f32)gemm->alpha;                                                \
		const f32 beta = (f32)gemm->beta;                                                  \
                                                                                                   \
		if (beta == 0) {                                                                   \
			OP_INDEPENDENT                                                             \
			for (uint64_t j = 0; j < n; j++)                                           \
				c[(int64_t)j * step] = half_round_##type(alpha * sum[j]);          \
			return;                                                                    \
		}                                                                                  \
		OP_INDEPENDENT                                                                     \
		for (uint64_t j = 0; j < n; j++) {                                                 \
			const f32 old = half_load_##type(c[(int64_t)j * step]);                    \
                                                                                                   \
			c[(int64_t)j * step] = half_round_##type(alpha * sum[j] + beta * old);     \
		}                                                                                  \
	}                                                                                          \
                                                                                                   \
	static void half_finish_##type(const struct gemm *block, const f32 *sum, uint64_t lead)    \
	{                                                                                          \
		type *c = block->c.data;                                                           \
                                                                                                   \
		for (uint64_t i = 0; i < block->m; i++, c += block->c.row, sum += lead) {          \
			if (block->c.column == 1)                                                  \
				half_finish_row_##type(block, c, 1, sum, block->n);                \
			else                                                                       \
				half_finish_row_##type(block, c, block->c.column, sum, block->n);  \
		}                                                                                  \
	}

FINISH_ROW(f32)
FINISH_ROW(bf16)
FINISH_ROW(f16)

/* Make a dense copy in float32 that is fast along the same dim. */
static struct gemm_matrix half_widen(const struct gemm_matrix *from, uint8_t dtype, uint64_t rows,
				     uint64_t columns, f32 *to)
{
	const bool by_column = from->row == 1 && from->column != 1;
	const uint64_t length = by_column ? rows : columns;
	const uint64_t lines = by_column ? columns : rows;
	const int64_t next = by_column ? from->column : from->row;
	const int64_t step = by_column ? from->row : from->column;
	const uint16_t *line = from->data;

	for (uint64_t i = 0; i < lines; i++, line += next) {
		if (dtype == QUOIT_BF16)
			half_widen_bf16(line, step, length, to + i * length);
		else
			half_widen_f16(line, step, length, to + i * length);
	}
	return (struct gemm_matrix){to, by_column ? 1 : (int64_t)length,
				    by_column ? (int64_t)length : 1};
}

/* The matrix from element (row, column) on. */
static struct gemm_matrix half_from(const struct gemm_matrix *matrix, uint8_t dtype, uint64_t row,
				    uint64_t column)
{
	const int64_t elements = (int64_t)row * matrix->row + (int64_t)column * matrix->column;

	return (struct gemm_matrix){(char *)matrix->data + elements * (int64_t)op_dtype_size(dtype),
				    matrix->row, matrix->column};
}

/* sum += A B for a block. */
static void half_add(const struct gemm *block, struct half_scratch *scratch, uint64_t lead)
{
	struct gemm wide = *block;

	if (block->dtype == QUOIT_BF16 && gemm_bf16_add(block, scratch->sum, lead))
		return;
	wide.dtype = wide.c_dtype = QUOIT_F32;
	wide.alpha = wide.beta = 1;
	wide.a = half_widen(&block->a, block->dtype, block->m, block->k, scratch->a);
	wide.b = half_widen(&block->b, block->dtype, block->k, block->n, scratch->b);
	wide.c = (struct gemm_matrix){scratch->sum, (int64_t)lead, 1};
	gemm_builtin(&wide);
}

static void half_block(const struct gemm *block, struct half_scratch *scratch)
{
	const uint64_t lead = gemm_block_round(block->n, GEMM_BLOCK_WIDTH);
	const uint64_t rows = gemm_block_round(block->m, GEMM_BLOCK_HEIGHT);
	struct gemm part = *block;

	memset(scratch->sum, 0, rows * lead * sizeof(f32));
	for (uint64_t k = 0; k < block->k; k += part.k) {
		part.k = gemm_block_size(block->k - k, GEMM_BLOCK_DEPTH);
		part.a = half_from(&block->a, block->dtype, 0, k);
		part.b = half_from(&block->b, block->dtype, k, 0);
		half_add(&part, scratch, lead);
	}
	if (block->c_dtype == QUOIT_F32)
		half_finish_f32(block, scratch->sum, lead);
	else if (block->c_dtype == QUOIT_BF16)
		half_finish_bf16(block, scratch->sum, lead);
	else
		half_finish_f16(block, scratch->sum, lead);
}

void gemm_half(const struct gemm *gemm)
{
	struct half_scratch scratch;
	struct gemm block = *gemm;

	for (uint64_t i = 0; i < gemm->m; i += block.m) {
		block.m = gemm_block_size(gemm->m - i, GEMM_BLOCK_ROWS);
		block.a = half_from(&gemm->a, gemm->dtype, i, 0);
		for (uint64_t j = 0; j < gemm->n; j += block.n) {
			block.n = gemm_block_size(gemm->n - j, GEMM_BLOCK_COLUMNS);
			block.b = half_from(&gemm->b, gemm->dtype, 0, j);
			block.c = half_from(&gemm->c, gemm->c_dtype, i, j);
			half_block(&block, &scratch);
		}
	}
}
