/* SPDX-License-Identifier: MIT */
/*
 * gemm_builtin.c - the matrix product for machines without a BLAS and for strides that a BLAS
 * cannot express.
 *
 * It packs up to GEMM_BLOCKS blocks of GEMM_ROWS rows of A on the stack, GEMM_DEPTH deep, in the
 * order in which they are multiplied; then one panel of B after the other, two vectors wide.  From
 * both it makes blocks of C in registers.  So all strides are alike to it.  While it makes a block,
 * it prefetches a part of the next panel of B.
 */
#include <string.h>

#include "gemm.h"
#include "vector.h"

#define GEMM_DEPTH  256
#define GEMM_BLOCKS 28
#define GEMM_ASKING 4 /* least blocks: with fewer, prefetches come all at once, which is slower */

#if defined(__AVX512F__)
#define GEMM_ROWS 12
#elif defined(__AVX2__)
#define GEMM_ROWS 6
#else
#define GEMM_ROWS 4
#endif

/*
 * For each type: gemm_pack_rows packs rows of A.  gemm_pack packs a panel of B; gemm_ask prefetches
 * a part of one.  gemm_block makes rows x 2 vectors of A B over `depth`.  gemm_update writes what
 * is inside C.  gemm_panel multiplies all packed rows by one panel of B.
 */
#define GEMM(type)                                                                                 \
	enum {                                                                                     \
		gemm_lanes_##type = OP_VECTOR_BYTES / sizeof(type),                                \
		gemm_width_##type = 2 * gemm_lanes_##type                                          \
	};                                                                                         \
                                                                                                   \
	static inline type##v gemm_repeat_##type(type x)                                           \
	{                                                                                          \
		return x - (type##v){0};                                                           \
	}                                                                                          \
                                                                                                   \
	/* Rows beyond the last are the last one again; what they give is not written. */          \
	static void gemm_pack_rows_##type(const struct gemm *gemm, uint64_t row, uint64_t rows,    \
					  uint64_t from, uint64_t depth, type *to)                 \
	{                                                                                          \
		const int64_t step = gemm->a.column;                                               \
                                                                                                   \
		for (uint64_t block = 0; block < rows;                                             \
		     block += GEMM_ROWS, to += depth * GEMM_ROWS)                                  \
			for (uint64_t r = 0; r < GEMM_ROWS; r++) {                                 \
				const uint64_t i = block + r < rows ? block + r : rows - 1;        \
				const type *a = (const type *)gemm->a.data +                       \
						(int64_t)(row + i) * gemm->a.row +                 \
						(int64_t)from * step;                              \
                                                                                                   \
				for (uint64_t p = 0; p < depth; p++, a += step)                    \
					to[p * GEMM_ROWS + r] = *a;                                \
			}                                                                          \
	}                                                                                          \
                                                                                                   \
	static void gemm_ask_##type(const struct gemm *gemm, uint64_t column, uint64_t from,       \
				    uint64_t depth)                                                \
	{                                                                                          \
		const type *b = (const type *)gemm->b.data + (int64_t)from * gemm->b.row +         \
				(int64_t)column * gemm->b.column;                                  \
                                                                                                   \
		for (uint64_t p = 0; p < depth; p++, b += gemm->b.row) {                           \
			__builtin_prefetch(b);                                                     \
			__builtin_prefetch(b + (gemm_width_##type - 1) * gemm->b.column);          \
		}                                                                                  \
	}                                                                                          \
                                                                                                   \
	static void gemm_pack_##type(const struct gemm *gemm, uint64_t column, uint64_t from,      \
				     uint64_t depth, type *panel)                                  \
	{                                                                                          \
		const uint64_t width = gemm->n - column < gemm_width_##type ? gemm->n - column     \
									    : gemm_width_##type;   \
		const int64_t step = gemm->b.column;                                               \
                                                                                                   \
		for (uint64_t p = 0; p < depth; p++, panel += gemm_width_##type) {                 \
			const type *b = (const type *)gemm->b.data +                               \
					(int64_t)(from + p) * gemm->b.row +                        \
					(int64_t)column * step;                                    \
			uint64_t j = 0;                                                            \
                                                                                                   \
			if (step == 1 && width == gemm_width_##type) {                             \
				memcpy(panel, b, sizeof(type) * gemm_width_##type);                \
				continue;                                                          \
			}                                                                          \
			for (; j < width; j++)                                                     \
				panel[j] = b[(int64_t)j * step];                                   \
			for (; j < gemm_width_##type; j++)                                         \
				panel[j] = 0;                                                      \
		}                                                                                  \
	}                                                                                          \
                                                                                                   \
	static inline void gemm_block_##type(const type *a, uint64_t depth, const type##v *b,      \
					     type##v ret_sum[GEMM_ROWS][2])                        \
	{                                                                                          \
		type##v sum[GEMM_ROWS][2] = {{{0}}};                                               \
                                                                                                   \
		for (uint64_t p = 0; p < depth; p++, a += GEMM_ROWS, b += 2) {                     \
			_Pragma("GCC unroll 16") for (int r = 0; r < GEMM_ROWS; r++)               \
			{                                                                          \
				type##v x = gemm_repeat_##type(a[r]);                              \
                                                                                                   \
				sum[r][0] = OP_FMA_##type(x, b[0], sum[r][0]);                     \
				sum[r][1] = OP_FMA_##type(x, b[1], sum[r][1]);                     \
			}                                                                          \
		}                                                                                  \
		memcpy(ret_sum, sum, sizeof(sum));                                                 \
	}                                                                                          \
                                                                                                   \
	static void gemm_update_##type(const struct gemm *gemm, uint64_t row, uint64_t rows,       \
				       uint64_t column, bool first, const type *sum)               \
	{                                                                                          \
		const uint64_t width = gemm->n - column < gemm_width_##type ? gemm->n - column     \
									    : gemm_width_##type;   \
		const type alpha = (type)gemm->alpha;                                              \
		const type beta = first ? (type)gemm->beta : 1;                                    \
                                                                                                   \
		for (uint64_t r = 0; r < rows; r++, sum += gemm_width_##type) {                    \
			type *c = (type *)gemm->c.data + (int64_t)(row + r) * gemm->c.row +        \
				  (int64_t)column * gemm->c.column;                                \
                                                                                                   \
			if (beta == 0 && gemm->c.column == 1) {                                    \
				OP_INDEPENDENT                                                     \
				for (uint64_t j = 0; j < width; j++)                               \
					c[j] = alpha * sum[j];                                     \
				continue;                                                          \
			}                                                                          \
			if (gemm->c.column == 1) {                                                 \
				OP_INDEPENDENT                                                     \
				for (uint64_t j = 0; j < width; j++)                               \
					c[j] = alpha * sum[j] + beta * c[j];                       \
				continue;                                                          \
			}                                                                          \
			for (uint64_t j = 0; j < width; j++, c += gemm->c.column)                  \
				*c = beta == 0 ? alpha * sum[j] : alpha * sum[j] + beta * *c;      \
		}                                                                                  \
	}                                                                                          \
                                                                                                   \
	/* Each block prefetches part of the next panel. */                                        \
	static void gemm_panel_##type(const struct gemm *gemm, uint64_t row, uint64_t rows,        \
				      uint64_t column, uint64_t from, uint64_t depth,              \
				      const type *packed)                                          \
	{                                                                                          \
		const uint64_t blocks = (rows + GEMM_ROWS - 1) / GEMM_ROWS;                        \
		const bool more =                                                                  \
			blocks >= GEMM_ASKING && column + 2 * gemm_width_##type <= gemm->n;        \
		type##v panel[GEMM_DEPTH * 2];                                                     \
		type##v sum[GEMM_ROWS][2];                                                         \
                                                                                                   \
		gemm_pack_##type(gemm, column, from, depth, (type *)panel);                        \
		for (uint64_t i = 0; i < blocks; i++, packed += depth * GEMM_ROWS) {               \
			const uint64_t asked = depth * i / blocks;                                 \
			const uint64_t left = rows - i * GEMM_ROWS;                                \
                                                                                                   \
			if (more)                                                                  \
				gemm_ask_##type(gemm, column + gemm_width_##type, from + asked,    \
						depth * (i + 1) / blocks - asked);                 \
			gemm_block_##type(packed, depth, panel, sum);                              \
			gemm_update_##type(gemm, row + i * GEMM_ROWS,                              \
					   left < GEMM_ROWS ? left : GEMM_ROWS, column, from == 0, \
					   (const type *)sum);                                     \
		}                                                                                  \
	}                                                                                          \
                                                                                                   \
	static void gemm_rows_##type(const struct gemm *gemm, uint64_t row, uint64_t rows,         \
				     uint64_t from, uint64_t depth)                                \
	{                                                                                          \
		type packed[GEMM_BLOCKS * GEMM_ROWS * GEMM_DEPTH];                                 \
                                                                                                   \
		gemm_pack_rows_##type(gemm, row, rows, from, depth, packed);                       \
		for (uint64_t j = 0; j < gemm->n; j += gemm_width_##type)                          \
			gemm_panel_##type(gemm, row, rows, j, from, depth, packed);                \
	}                                                                                          \
                                                                                                   \
	static void gemm_all_##type(const struct gemm *gemm)                                       \
	{                                                                                          \
		const uint64_t most = GEMM_BLOCKS * GEMM_ROWS;                                     \
		uint64_t from = 0;                                                                 \
                                                                                                   \
		/* At least once, so that k = 0 gives beta C. */                                   \
		do {                                                                               \
			uint64_t depth = gemm_block_size(gemm->k - from, GEMM_DEPTH);              \
                                                                                                   \
			for (uint64_t row = 0; row < gemm->m; row += most)                         \
				gemm_rows_##type(gemm, row, gemm_block_size(gemm->m - row, most),  \
						 from, depth);                                     \
			from += depth;                                                             \
		} while (from < gemm->k);                                                          \
	}

GEMM(f32)
GEMM(f64)

void gemm_builtin(const struct gemm *gemm)
{
	if (gemm->dtype == QUOIT_F32)
		gemm_all_f32(gemm);
	else
		gemm_all_f64(gemm);
}
