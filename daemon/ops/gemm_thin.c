/* SPDX-License-Identifier: MIT */
/*
 * gemm_thin.c - products with a vector: matrix x vector, vector x matrix, dot.
 *
 * No element of the matrix is used twice, so nothing is packed: all cores read it once, in the
 * order in which it lies.  The work for an element of C does not depend on the elements computed
 * with it, so any cut gives the same bits.  A dot product is cut into parts (parts.h).
 */
#include "gemm_thin.h"
#include "vector.h"

#if defined(__FMA__)
#define THIN_FMA_f32(a, b, c) __builtin_fmaf(a, b, c)
#define THIN_FMA_f64(a, b, c) __builtin_fma(a, b, c)
#else
#define THIN_FMA_f32(a, b, c) ((a) * (b) + (c))
#define THIN_FMA_f64(a, b, c) ((a) * (b) + (c))
#endif

/* Steps after which the sums for THIN_WIDTH elements are added to the totals. */
#define THIN_DEPTH 256

/* Elements of the vector at a time, and rows that share them. */
#define THIN_CHUNK 4096
#define THIN_ROWS  64

#define THIN_LANES_f32 32
#define THIN_LANES_f64 16

/* Rows that are summed together: as many as the registers have room for. */
#if defined(__AVX512F__)
#define THIN_GROUP 8
#elif defined(__AVX2__) || defined(__ARM_NEON)
#define THIN_GROUP 2
#else
#define THIN_GROUP 1
#endif

bool thin_make(const struct gemm *g, struct thin *ret)
{
	const bool row = g->m == 1 && g->n != 1; /* vector x matrix */

	if ((g->m != 1 && g->n != 1) || g->k == 0 || op_dtype_size(g->dtype) == 2)
		return false;
	*ret = (struct thin){
		.dtype = g->dtype,
		.outputs = row ? g->n : g->m,
		.depth = g->k,
		.matrix = row ? g->b.data : g->a.data,
		.across = row ? g->b.column : g->a.row,
		.down = row ? g->b.row : g->a.column,
		.vector = row ? g->a.data : g->b.data,
		.vector_step = row ? g->a.column : g->b.row,
		.c = g->c.data,
		.c_step = row ? g->c.column : g->c.row,
		.alpha = g->alpha,
		.beta = g->beta,
	};
	return ret->across == 1 || ret->down == 1;
}

/*
 * thin_store writes elements of C.  thin_across: the matrix lies along C, and each step of the
 * depth adds a multiple of a stretch of it.  thin_dots makes sums for `rows` rows at once, in
 * lanes.  thin_down: the matrix lies along the depth.
 */
#define THIN(type)                                                                                 \
	static void thin_store_##type(const struct thin *t, uint64_t at, const type *sum,          \
				      uint64_t n)                                                  \
	{                                                                                          \
		const type alpha = (type)t->alpha, beta = (type)t->beta;                           \
		type *c = (type *)t->c + (int64_t)at * t->c_step;                                  \
                                                                                                   \
		if (t->c_step == 1 && beta == 0) {                                                 \
			OP_INDEPENDENT                                                             \
			for (uint64_t j = 0; j < n; j++)                                           \
				c[j] = alpha * sum[j];                                             \
		} else if (t->c_step == 1) {                                                       \
			OP_INDEPENDENT                                                             \
			for (uint64_t j = 0; j < n; j++)                                           \
				c[j] = alpha * sum[j] + beta * c[j];                               \
		} else {                                                                           \
			for (uint64_t j = 0; j < n; j++, c += t->c_step)                           \
				*c = beta == 0 ? alpha * sum[j] : alpha * sum[j] + beta * *c;      \
		}                                                                                  \
	}                                                                                          \
                                                                                                   \
	static void thin_add_##type(type *restrict sum, const type *restrict x, int64_t step,      \
				    const type *v, uint64_t steps, uint64_t n)                     \
	{                                                                                          \
		uint64_t k = 0;                                                                    \
                                                                                                   \
		for (; k + 4 <= steps; k += 4, x += 4 * step) {                                    \
			const type *x1 = x + step, *x2 = x1 + step, *x3 = x2 + step;               \
			const type a = v[k], b = v[k + 1], c = v[k + 2], d = v[k + 3];             \
                                                                                                   \
			OP_INDEPENDENT                                                             \
			for (uint64_t j = 0; j < n; j++) {                                         \
				type s = THIN_FMA_##type(a, x[j], sum[j]);                         \
                                                                                                   \
				s = THIN_FMA_##type(b, x1[j], s);                                  \
				s = THIN_FMA_##type(c, x2[j], s);                                  \
				sum[j] = THIN_FMA_##type(d, x3[j], s);                             \
			}                                                                          \
		}                                                                                  \
		for (; k < steps; k++, x += step) {                                                \
			const type a = v[k];                                                       \
                                                                                                   \
			OP_INDEPENDENT                                                             \
			for (uint64_t j = 0; j < n; j++)                                           \
				sum[j] = THIN_FMA_##type(a, x[j], sum[j]);                         \
		}                                                                                  \
	}                                                                                          \
                                                                                                   \
	static const type *thin_vector_##type(const struct thin *t, uint64_t from, uint64_t n,     \
					      type *buffer)                                        \
	{                                                                                          \
		const type *v = (const type *)t->vector + (int64_t)from * t->vector_step;          \
                                                                                                   \
		if (t->vector_step == 1)                                                           \
			return v;                                                                  \
		for (uint64_t k = 0; k < n; k++, v += t->vector_step)                              \
			buffer[k] = *v;                                                            \
		return buffer;                                                                     \
	}                                                                                          \
                                                                                                   \
	static void thin_across_##type(const struct thin *t, uint64_t at, uint64_t n)              \
	{                                                                                          \
		const type *x = (const type *)t->matrix + at;                                      \
		type total[THIN_WIDTH], sum[THIN_WIDTH], buffer[THIN_DEPTH];                       \
                                                                                                   \
		for (uint64_t from = 0; from < t->depth; from += THIN_DEPTH) {                     \
			uint64_t steps = gemm_block_size(t->depth - from, THIN_DEPTH);             \
			type *to = from ? sum : total;                                             \
                                                                                                   \
			memset(to, 0, n * sizeof *to);                                             \
			thin_add_##type(to, x + (int64_t)from * t->down, t->down,                  \
					thin_vector_##type(t, from, steps, buffer), steps, n);     \
			for (uint64_t j = 0; from && j < n; j++)                                   \
				total[j] += sum[j];                                                \
		}                                                                                  \
		thin_store_##type(t, at, total, n);                                                \
	}                                                                                          \
                                                                                                   \
	static inline __attribute__((always_inline)) void thin_dots_##type(                        \
		const type *x, int64_t lead, const type *v, uint64_t n, const int rows, type *sum) \
	{                                                                                          \
		enum { width = OP_VECTOR_BYTES / sizeof(type) };                                   \
		type##v sums[THIN_GROUP][THIN_LANES_##type / width] = {{{0}}};                     \
		uint64_t k = 0;                                                                    \
                                                                                                   \
		for (; k + THIN_LANES_##type <= n; k += THIN_LANES_##type) {                       \
			_Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)                     \
			{                                                                          \
				const type *at = &x[r * lead + (int64_t)k];                        \
                                                                                                   \
				_Pragma("GCC unroll 8") for (int l = 0;                            \
							     l < THIN_LANES_##type / width;        \
							     l++) sums[r][l] =                     \
					OP_FMA_##type(*(const type##u *)(at + l * width),          \
						      *(const type##u *)(v + k + l * width),       \
						      sums[r][l]);                                 \
			}                                                                          \
		}                                                                                  \
		for (int r = 0; r < rows; r++) {                                                   \
			type lane[THIN_LANES_##type];                                              \
                                                                                                   \
			memcpy(lane, sums[r], sizeof lane);                                        \
			for (uint64_t l = 0; k + l < n; l++)                                       \
				lane[l] = THIN_FMA_##type(x[r * lead + (int64_t)(k + l)],          \
							  v[k + l], lane[l]);                      \
			_Pragma("GCC unroll 5") for (int half = THIN_LANES_##type / 2; half > 0;   \
						     half /= 2) for (int l = 0; l < half; l++)     \
				lane[l] += lane[l + half];                                         \
			sum[r] += lane[0];                                                         \
		}                                                                                  \
	}                                                                                          \
                                                                                                   \
	static void thin_down_##type(const struct thin *t, uint64_t at, uint64_t rows)             \
	{                                                                                          \
		type sum[THIN_ROWS] = {0}, buffer[THIN_CHUNK];                                     \
                                                                                                   \
		for (uint64_t from = 0; from < t->depth; from += THIN_CHUNK) {                     \
			uint64_t n = gemm_block_size(t->depth - from, THIN_CHUNK), r = 0;          \
			const type *v = thin_vector_##type(t, from, n, buffer);                    \
			const type *x =                                                            \
				(const type *)t->matrix + (int64_t)at * t->across + (int64_t)from; \
                                                                                                   \
			for (; r + THIN_GROUP <= rows; r += THIN_GROUP)                            \
				thin_dots_##type(x + (int64_t)r * t->across, t->across, v, n,      \
						 THIN_GROUP, &sum[r]);                             \
			for (; r < rows; r++)                                                      \
				thin_dots_##type(x + (int64_t)r * t->across, t->across, v, n, 1,   \
						 &sum[r]);                                         \
		}                                                                                  \
		thin_store_##type(t, at, sum, rows);                                               \
	}                                                                                          \
                                                                                                   \
	static void thin_all_##type(const struct thin *t, uint64_t at, uint64_t end)               \
	{                                                                                          \
		const uint64_t most = t->across == 1 ? THIN_WIDTH : THIN_ROWS;                     \
                                                                                                   \
		for (uint64_t n; at < end; at += n) {                                              \
			n = gemm_block_size(end - at, most);                                       \
			(t->across == 1 ? thin_across_##type : thin_down_##type)(t, at, n);        \
		}                                                                                  \
	}                                                                                          \
                                                                                                   \
	/* A part of a dot product. */                                                             \
	static double thin_part_##type(const struct thin *t, uint64_t from, uint64_t end)          \
	{                                                                                          \
		type buffer[THIN_CHUNK], sum;                                                      \
		double total = 0;                                                                  \
                                                                                                   \
		for (; from < end; from += THIN_CHUNK) {                                           \
			uint64_t n = gemm_block_size(end - from, THIN_CHUNK);                      \
                                                                                                   \
			sum = 0;                                                                   \
			thin_dots_##type((const type *)t->matrix + from, 0,                        \
					 thin_vector_##type(t, from, n, buffer), n, 1, &sum);      \
			total += (double)sum;                                                      \
		}                                                                                  \
		return total;                                                                      \
	}

THIN(f32)
THIN(f64)

void thin_run(const struct thin *t, uint64_t begin, uint64_t end)
{
	if (t->dtype == QUOIT_F32)
		thin_all_f32(t, begin, end);
	else
		thin_all_f64(t, begin, end);
}

double thin_dot(const struct thin *t, uint64_t begin, uint64_t end)
{
	return t->dtype == QUOIT_F32 ? thin_part_f32(t, begin, end) : thin_part_f64(t, begin, end);
}
