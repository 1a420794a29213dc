/* SPDX-License-Identifier: MIT */
/*
 * gemm_builtin.c - the matrix product for machines without a BLAS, for strides that a BLAS cannot
 * express, and where each element's bits must not depend on how C is cut.
 *
 * It packs blocks of GEMM_ROWS rows of A on the stack, GEMM_DEPTH deep, in the order in which they
 * are multiplied; then one panel of B after the other, two vectors wide.  From both it makes blocks
 * of C in registers.  So all strides are alike to it.
 *
 * What it needs next is on its way while it multiplies: the packed rows come from L2, where the CPU
 * does not ask for them early enough by itself, and before each block a part of the next panel is
 * packed, which was asked for a block earlier.  Where there are few blocks, packing a panel would
 * take longer than it spares: they read it where it lies in B, and ask for the next one meanwhile.
 */
#include <string.h>

#include "cache.h"
#include "gemm.h"
#include "vector.h"

#define GEMM_DEPTH 256
#define GEMM_AHEAD 1152 /* bytes of packed rows: some 150 to 300 cycles of work */

/*
 * Rows of a panel in B that are asked for ahead: about as many as L1 has ways, since rows that are a
 * multiple of 4 KiB apart share a place there.
 */
#define GEMM_AHEAD_ROWS 12

/* gcc leaves out calls of a function that only prefetches. */
#define GEMM_INLINE inline __attribute__((always_inline))

/*
 * With GEMM_PACKED blocks and more, panels are packed; with fewer, those whose rows are dense are read
 * in B.  With GEMM_EARLY blocks and more, the next panel is packed beside the products.
 */
#define GEMM_EARLY 4

#if defined(__AVX512F__)
#define GEMM_ROWS   12
#define GEMM_PACKED 12
#elif defined(__AVX2__)
#define GEMM_ROWS   6
#define GEMM_PACKED 4
#else
#define GEMM_ROWS   4
#define GEMM_PACKED 12
#endif

/* Blocks of rows that are packed at a time: they take three quarters of a core's L2, within bounds. */
#define GEMM_LEAST_BLOCKS 16
#define GEMM_MOST_BLOCKS  44

static uint64_t gemm_blocks(uint64_t element_bytes)
{
	const uint64_t block = GEMM_ROWS * GEMM_DEPTH * element_bytes;
	const uint64_t fit = op_l2_bytes() / 4 * 3 / block;

	return fit < GEMM_LEAST_BLOCKS ? GEMM_LEAST_BLOCKS : gemm_block_size(fit, GEMM_MOST_BLOCKS);
}

/* The rows of A that are packed at a time: as many each time, in whole blocks. */
static uint64_t gemm_most_rows(uint64_t rows, uint64_t element_bytes)
{
	const uint64_t most = gemm_blocks(element_bytes) * GEMM_ROWS;
	const uint64_t times = rows > 0 ? (rows + most - 1) / most : 1;

	return gemm_block_round((rows + times - 1) / times, GEMM_ROWS);
}

/* A part of a product: some rows of C and A, and of these some of k. */
struct gemm_slab {
	const struct gemm *gemm;
	uint64_t row, rows;
	uint64_t from, depth;
};

static uint64_t gemm_slab_blocks(const struct gemm_slab *s)
{
	return (s->rows + GEMM_ROWS - 1) / GEMM_ROWS;
}

/*
 * For each type: gemm_pack_rows packs the slab's rows of A.  gemm_pack packs `count` rows of a panel
 * of B, from its row `at` on; gemm_ask prefetches some.  gemm_block makes rows x 2 vectors of A B.
 * gemm_update writes what is inside C.  gemm_panel multiplies all packed rows by one panel of B, and
 * meanwhile packs the next one.
 */
#define GEMM(type)                                                                                  \
	enum {                                                                                      \
		gemm_lanes_##type = OP_VECTOR_BYTES / sizeof(type),                                 \
		gemm_width_##type = 2 * gemm_lanes_##type                                           \
	};                                                                                          \
                                                                                                    \
	/* The rows of a panel; next: some of the next panel's, to be asked for into L2. */         \
	struct gemm_rows_##type {                                                                   \
		const type *b;                                                                      \
		int64_t step;                                                                       \
		const type *next;                                                                   \
		uint64_t asks;                                                                      \
	};                                                                                          \
                                                                                                    \
	static inline type##v gemm_repeat_##type(type x)                                            \
	{                                                                                           \
		return x - (type##v){0};                                                            \
	}                                                                                           \
                                                                                                    \
	/* Rows beyond the last are the last one again; what they give is not written. */           \
	static void gemm_pack_rows_##type(const struct gemm_slab *s, type *to)                      \
	{                                                                                           \
		const struct gemm_matrix *a = &s->gemm->a;                                          \
                                                                                                    \
		for (uint64_t block = 0; block < s->rows;                                           \
		     block += GEMM_ROWS, to += s->depth * GEMM_ROWS)                                \
			for (uint64_t r = 0; r < GEMM_ROWS; r++) {                                  \
				const uint64_t i = block + r < s->rows ? block + r : s->rows - 1;   \
				const type *from = (const type *)a->data +                          \
						   (int64_t)(s->row + i) * a->row +                 \
						   (int64_t)s->from * a->column;                    \
                                                                                                    \
				for (uint64_t p = 0; p < s->depth; p++, from += a->column)          \
					to[p * GEMM_ROWS + r] = *from;                              \
			}                                                                           \
	}                                                                                           \
                                                                                                    \
	static const type *gemm_at_##type(const struct gemm_slab *s, uint64_t at, uint64_t column)  \
	{                                                                                           \
		const struct gemm_matrix *b = &s->gemm->b;                                          \
                                                                                                    \
		return (const type *)b->data + (int64_t)(s->from + at) * b->row +                   \
		       (int64_t)column * b->column;                                                 \
	}                                                                                           \
                                                                                                    \
	/* All of a row's part in a panel: its first line was the last one of the panel before. */  \
	static GEMM_INLINE void gemm_ask_row_##type(const type *b, int64_t step)                    \
	{                                                                                           \
		__builtin_prefetch(b + (gemm_lanes_##type - 1) * step);                             \
		__builtin_prefetch(b + (gemm_width_##type - 1) * step);                             \
	}                                                                                           \
                                                                                                    \
	static GEMM_INLINE void gemm_ask_##type(const struct gemm_slab *s, uint64_t column,         \
						uint64_t at, uint64_t count)                        \
	{                                                                                           \
		const type *b = gemm_at_##type(s, at, column);                                      \
                                                                                                    \
		for (uint64_t p = 0; p < count; p++, b += s->gemm->b.row)                           \
			gemm_ask_row_##type(b, s->gemm->b.column);                                  \
	}                                                                                           \
                                                                                                    \
	static void gemm_pack_##type(const struct gemm_slab *s, uint64_t column, uint64_t at,       \
				     uint64_t count, type##v *panel)                                \
	{                                                                                           \
		const uint64_t width = gemm_block_size(s->gemm->n - column, gemm_width_##type);     \
		const int64_t step = s->gemm->b.column;                                             \
		type *to = (type *)(panel + 2 * at);                                                \
                                                                                                    \
		for (uint64_t p = 0; p < count; p++, to += gemm_width_##type) {                     \
			const type *b = gemm_at_##type(s, at + p, column);                          \
			uint64_t j = 0;                                                             \
                                                                                                    \
			if (step == 1 && width == gemm_width_##type) {                              \
				memcpy(to, b, sizeof(type) * gemm_width_##type);                    \
				continue;                                                           \
			}                                                                           \
			for (; j < width; j++)                                                      \
				to[j] = b[(int64_t)j * step];                                       \
			for (; j < gemm_width_##type; j++)                                          \
				to[j] = 0;                                                          \
		}                                                                                   \
	}                                                                                           \
                                                                                                    \
	/* far: the panel lies in B. */                                                             \
	static GEMM_INLINE void gemm_block_##type(const type *a, uint64_t depth,                    \
						  struct gemm_rows_##type from, bool far,           \
						  type##v ret_sum[GEMM_ROWS][2])                    \
	{                                                                                           \
		type##v sum[GEMM_ROWS][2] = {{{0}}};                                                \
                                                                                                    \
		for (uint64_t p = 0; p < depth; p++, a += GEMM_ROWS, from.b += from.step) {         \
			const type##v left = *(const type##u *)from.b;                              \
			const type##v right = *(const type##u *)(from.b + gemm_lanes_##type);       \
                                                                                                    \
			for (uint64_t at = 0; at < GEMM_ROWS * sizeof(type); at += 64)              \
				__builtin_prefetch((const char *)a + GEMM_AHEAD + at);              \
			if (far)                                                                    \
				gemm_ask_row_##type(from.b + GEMM_AHEAD_ROWS * from.step, 1);       \
			if (far && p < from.asks) {                                                 \
				__builtin_prefetch(from.next + gemm_lanes_##type - 1, 0, 2);        \
				__builtin_prefetch(from.next + gemm_width_##type - 1, 0, 2);        \
				from.next += from.step;                                             \
			}                                                                           \
			_Pragma("GCC unroll 16") for (int r = 0; r < GEMM_ROWS; r++)                \
			{                                                                           \
				type##v x = gemm_repeat_##type(a[r]);                               \
                                                                                                    \
				sum[r][0] = OP_FMA_##type(x, left, sum[r][0]);                      \
				sum[r][1] = OP_FMA_##type(x, right, sum[r][1]);                     \
			}                                                                           \
		}                                                                                   \
		memcpy(ret_sum, sum, sizeof(sum));                                                  \
	}                                                                                           \
                                                                                                    \
	static void gemm_update_##type(const struct gemm_slab *s, uint64_t block, uint64_t column,  \
				       const type *sum)                                             \
	{                                                                                           \
		const struct gemm_matrix *to = &s->gemm->c;                                         \
		const uint64_t rows = gemm_block_size(s->rows - block * GEMM_ROWS, GEMM_ROWS);      \
		const uint64_t width = gemm_block_size(s->gemm->n - column, gemm_width_##type);     \
		const type alpha = (type)s->gemm->alpha;                                            \
		const type beta = s->from == 0 ? (type)s->gemm->beta : 1;                           \
                                                                                                    \
		for (uint64_t r = 0; r < rows; r++, sum += gemm_width_##type) {                     \
			type *c = (type *)to->data +                                                \
				  (int64_t)(s->row + block * GEMM_ROWS + r) * to->row +             \
				  (int64_t)column * to->column;                                     \
                                                                                                    \
			if (beta == 0 && to->column == 1) {                                         \
				OP_INDEPENDENT                                                      \
				for (uint64_t j = 0; j < width; j++)                                \
					c[j] = alpha * sum[j];                                      \
				continue;                                                           \
			}                                                                           \
			if (to->column == 1) {                                                      \
				OP_INDEPENDENT                                                      \
				for (uint64_t j = 0; j < width; j++)                                \
					c[j] = alpha * sum[j] + beta * c[j];                        \
				continue;                                                           \
			}                                                                           \
			for (uint64_t j = 0; j < width; j++, c += to->column)                       \
				*c = beta == 0 ? alpha * sum[j] : alpha * sum[j] + beta * *c;       \
		}                                                                                   \
	}                                                                                           \
                                                                                                    \
	/* panel: NULL: it is read in B.  ret_next: where the next one is packed; NULL: nowhere. */ \
	static void gemm_panel_##type(const struct gemm_slab *s, uint64_t column,                   \
				      const type *packed, const type##v *panel, type##v *ret_next)  \
	{                                                                                           \
		const uint64_t blocks = gemm_slab_blocks(s), next = column + gemm_width_##type;     \
		const bool whole = next + gemm_width_##type <= s->gemm->n;                          \
		type##v sum[GEMM_ROWS][2];                                                          \
                                                                                                    \
		for (uint64_t i = 0; i < blocks; i++, packed += s->depth * GEMM_ROWS) {             \
			const uint64_t at = s->depth * i / blocks;                                  \
			const uint64_t then = s->depth * (i + 1) / blocks;                          \
                                                                                                    \
			if (ret_next)                                                               \
				gemm_pack_##type(s, next, at, then - at, ret_next);                 \
			if (ret_next && whole && i + 1 < blocks)                                    \
				gemm_ask_##type(s, next, then, s->depth *(i + 2) / blocks - then);  \
			if (panel)                                                                  \
				gemm_block_##type(packed, s->depth,                                 \
						  (struct gemm_rows_##type){(const type *)panel,    \
									    gemm_width_##type},     \
						  false, sum);                                      \
			else                                                                        \
				gemm_block_##type(                                                  \
					packed, s->depth,                                           \
					(struct gemm_rows_##type){gemm_at_##type(s, 0, column),     \
								  s->gemm->b.row,                   \
								  gemm_at_##type(s, at, next),      \
								  whole ? then - at : 0},           \
					true, sum);                                                 \
			gemm_update_##type(s, i, column, (const type *)sum);                        \
		}                                                                                   \
	}                                                                                           \
                                                                                                    \
	static void gemm_slab_##type(const struct gemm_slab *s)                                     \
	{                                                                                           \
		const uint64_t blocks = gemm_slab_blocks(s);                                        \
		const bool in_place = s->gemm->b.column == 1 && blocks < GEMM_PACKED;               \
		const bool early = !in_place && blocks >= GEMM_EARLY;                               \
		type packed[GEMM_MOST_BLOCKS * GEMM_ROWS * GEMM_DEPTH];                             \
		type##v panels[2][GEMM_DEPTH * 2];                                                  \
                                                                                                    \
		gemm_pack_rows_##type(s, packed);                                                   \
		for (uint64_t j = 0; j < s->gemm->n; j += gemm_width_##type) {                      \
			const uint64_t next = j + gemm_width_##type;                                \
			const uint64_t here = early ? j / gemm_width_##type % 2 : 0;                \
			type##v *panel = in_place && next <= s->gemm->n ? NULL : panels[here];      \
                                                                                                    \
			if (panel && (!early || j == 0))                                            \
				gemm_pack_##type(s, j, 0, s->depth, panel);                         \
			gemm_panel_##type(s, j, packed, panel,                                      \
					  early &&next < s->gemm->n ? panels[!here] : NULL);        \
		}                                                                                   \
	}                                                                                           \
                                                                                                    \
	static void gemm_all_##type(const struct gemm *gemm)                                        \
	{                                                                                           \
		const uint64_t most = gemm_most_rows(gemm->m, sizeof(type));                        \
		struct gemm_slab s = {.gemm = gemm};                                                \
                                                                                                    \
		/* At least once, so that k = 0 gives beta C. */                                    \
		do {                                                                                \
			s.depth = gemm_block_size(gemm->k - s.from, GEMM_DEPTH);                    \
			for (s.row = 0; s.row < gemm->m; s.row += most) {                           \
				s.rows = gemm_block_size(gemm->m - s.row, most);                    \
				gemm_slab_##type(&s);                                               \
			}                                                                           \
			s.from += s.depth;                                                          \
		} while (s.from < gemm->k);                                                         \
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
