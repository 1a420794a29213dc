/* SPDX-License-Identifier: MIT */
/*
 * gemm.c - matrix products: cuts them into tiles and chooses the code for each.
 *
 * A tile is a panel of rows, one for each core.  A BLAS packs B again in every call, so more panels
 * would cost more than they even out.
 */
#include <limits.h>

#include "blas.h"
#include "gemm_thin.h"
#include "parts.h"

/*
 * A panel has at least half of this many multiply-adds: fewer are not worth a second core, and
 * below 10^6 OpenBLAS uses other kernels, which round differently.
 */
#define GEMM_TILE_WORK (1u << 21)

/*
 * Panels begin at multiples of this many rows, the block height of the known kernels.  So a row
 * meets the same code, and gets the same bits, in whichever panel it is.  BLIS keeps to that.
 * OpenBLAS's float32 kernels for AVX-512 do if C is row-major; its other kernels round some rows by
 * the panel that they are in.  Therefore the built-in code makes float64 products that may be cut:
 * it is as fast.  Its float32 is not.
 */
#define GEMM_PANEL_ROWS 16

struct gemm_batch {
	uint64_t batches;
	uint64_t panels;  /* of one batch, all of the least height; the last may have more rows */
	struct gemm gemm; /* of batch 0 */
};

static struct gemm_matrix gemm_view(const struct op_tensor *t, bool transposed)
{
	const int64_t *stride = &t->stride[QUOIT_MAX_DIMS - 2];

	return (struct gemm_matrix){t->data, stride[transposed], stride[!transposed]};
}

static struct gemm_batch gemm_describe(const struct op_args *args)
{
	const struct op_tensor *c = &args->t[0];
	const struct op_tensor *a = &args->t[1];
	const bool a_transposed = args->arg & QUOIT_GEMM_TRANS_A;
	const bool b_transposed = args->arg & QUOIT_GEMM_TRANS_B;
	struct gemm_batch batch = {
		.batches = (uint64_t)c->dim[0] * c->dim[1],
		.gemm = {.dtype = a->dtype,
			 .c_dtype = c->dtype,
			 .m = c->dim[2],
			 .n = c->dim[3],
			 .k = a->dim[a_transposed ? 2 : 3],
			 .alpha = args->scalar[0].f,
			 .beta = args->scalar[1].f,
			 .a = gemm_view(a, a_transposed),
			 .b = gemm_view(&args->t[2], b_transposed),
			 .c = gemm_view(c, false)},
	};

	batch.panels = batch.gemm.m < GEMM_PANEL_ROWS ? 1 : batch.gemm.m / GEMM_PANEL_ROWS;
	return batch;
}

/* The most tiles: more would be too small. */
static uint64_t gemm_most_tiles(const struct gemm_batch *all)
{
	const uint64_t units = all->batches * all->panels;
	const double work = (double)all->batches * (double)all->gemm.m * (double)all->gemm.n *
			    (double)all->gemm.k;
	const uint64_t tiles = work < GEMM_TILE_WORK ? 1 : (uint64_t)(work / GEMM_TILE_WORK);

	return tiles < units || units == 0 ? tiles : units;
}

static void gemm_advance(struct gemm_matrix *matrix, int64_t elements, uint8_t dtype)
{
	matrix->data = (char *)matrix->data + elements * (int64_t)op_dtype_size(dtype);
}

/*
 * The leading dimension and the transpose flag by which a BLAS knows a matrix in `order`.  False: a
 * BLAS cannot express its strides.
 */
static bool gemm_express(const struct gemm_matrix *matrix, uint64_t rows, uint64_t columns,
			 enum blas_order order, enum blas_transpose *ret_is, int *ret_lead)
{
	const bool by_row = order == BLAS_ROW_MAJOR;
	int64_t lead;

	if (rows > INT_MAX || columns > INT_MAX)
		return false;
	if ((matrix->column == 1 || columns <= 1) &&
	    (rows <= 1 || matrix->row >= (int64_t)columns)) {
		lead = rows <= 1 ? (int64_t)columns : matrix->row;
		*ret_is = by_row ? BLAS_AS_IS : BLAS_TRANSPOSED;
	} else if ((matrix->row == 1 || rows <= 1) &&
		   (columns <= 1 || matrix->column >= (int64_t)rows)) {
		lead = columns <= 1 ? (int64_t)rows : matrix->column;
		*ret_is = by_row ? BLAS_TRANSPOSED : BLAS_AS_IS;
	} else {
		return false;
	}
	*ret_lead = lead > 0 ? (int)lead : 1;
	return lead <= INT_MAX;
}

static bool gemm_by_blas(const struct gemm *gemm)
{
	const struct blas *blas = blas_get();
	const bool by_row = gemm->c.column == 1 || gemm->n == 1;
	const enum blas_order order = by_row ? BLAS_ROW_MAJOR : BLAS_COLUMN_MAJOR;
	enum blas_transpose a_is, b_is, c_is;
	int lda, ldb, ldc;
	int m = (int)gemm->m;
	int n = (int)gemm->n;
	int k = (int)gemm->k;

	if (!blas || gemm->k == 0 ||
	    !gemm_express(&gemm->a, gemm->m, gemm->k, order, &a_is, &lda) ||
	    !gemm_express(&gemm->b, gemm->k, gemm->n, order, &b_is, &ldb) ||
	    !gemm_express(&gemm->c, gemm->m, gemm->n, order, &c_is, &ldc) || c_is != BLAS_AS_IS)
		return false;
	if (gemm->dtype == QUOIT_F32)
		blas->sgemm(order, a_is, b_is, m, n, k, (float)gemm->alpha, gemm->a.data, lda,
			    gemm->b.data, ldb, (float)gemm->beta, gemm->c.data, ldc);
	else
		blas->dgemm(order, a_is, b_is, m, n, k, gemm->alpha, gemm->a.data, lda,
			    gemm->b.data, ldb, gemm->beta, gemm->c.data, ldc);
	return true;
}

/* The product of rows from..to - 1 of one batch. */
static struct gemm gemm_part(const struct op_args *args, const struct gemm_batch *all,
			     uint64_t batch, uint64_t from, uint64_t to)
{
	const uint64_t outer = batch / args->t[0].dim[1];
	const uint64_t inner = batch % args->t[0].dim[1];
	struct gemm gemm = all->gemm;
	struct gemm_matrix *matrix[] = {&gemm.c, &gemm.a, &gemm.b};

	for (int i = 0; i < 3; i++) {
		const int64_t *stride = args->t[i].stride;
		int64_t row = i < 2 ? (int64_t)from * matrix[i]->row : 0;

		gemm_advance(matrix[i],
			     (int64_t)outer * stride[0] + (int64_t)inner * stride[1] + row,
			     i ? gemm.dtype : gemm.c_dtype);
	}
	gemm.m = to - from;
	return gemm;
}

static void gemm_rows(const struct op_args *args, const struct gemm_batch *all, uint64_t batch,
		      uint64_t from, uint64_t to)
{
	const struct gemm gemm = gemm_part(args, all, batch, from, to);

	if (op_dtype_size(gemm.dtype) == 2)
		gemm_half(&gemm);
	else if ((gemm.dtype == QUOIT_F64 && gemm_most_tiles(all) > 1) || !gemm_by_blas(&gemm))
		gemm_builtin(&gemm);
}

/* ---- with a vector ---- */

/* Is it one dot product?  Only its sum can be cut. */
static bool gemm_is_dot(const struct gemm_batch *all, const struct thin *thin)
{
	return all->batches == 1 && thin->outputs == 1 && thin->down == 1;
}

static uint32_t gemm_thin_tiles(const struct gemm_batch *all, const struct thin *thin,
				uint32_t cores)
{
	uint64_t bytes = all->batches * thin->outputs * thin->depth * op_dtype_size(thin->dtype);
	uint32_t tiles = op_tiles(bytes, cores);
	uint64_t most =
		gemm_is_dot(all, thin) ? part_count(thin->depth) : all->batches * thin->outputs;

	return tiles < most ? tiles : most > 0 ? (uint32_t)most : 1;
}

/* Where a tile begins: at any row, or at whole cache lines. */
static uint64_t gemm_thin_cut(const struct thin *thin, uint64_t count, uint32_t tile,
			      uint32_t tiles)
{
	return thin->across == 1 ? op_cut(count, tile, tiles) : count * tile / tiles;
}

static void gemm_thin_run(struct op_args *args, const struct gemm_batch *all,
			  const struct thin *thin, uint32_t tile, uint32_t tiles)
{
	const uint64_t count = all->batches * thin->outputs, length = part_length(thin->depth);
	uint64_t at = gemm_thin_cut(thin, count, tile, tiles);
	const uint64_t end = gemm_thin_cut(thin, count, tile + 1, tiles);

	if (gemm_is_dot(all, thin)) {
		for (uint32_t p = part_first(thin->depth, tile, tiles);
		     p < part_first(thin->depth, tile + 1, tiles); p++)
			args->part[p].value.f = thin_dot(
				thin, p * length,
				gemm_block_size(thin->depth - p * length, length) + p * length);
		return;
	}
	for (uint64_t n; at < end; at += n) {
		const uint64_t batch = at / thin->outputs, first = at % thin->outputs;
		const struct gemm gemm = gemm_part(args, all, batch, 0, all->gemm.m);
		struct thin one;

		n = gemm_block_size(end - at, thin->outputs - first);
		(void)thin_make(&gemm, &one);
		thin_run(&one, first, first + n);
	}
}

/* Add up the parts of a dot product. */
static void gemm_finish(struct op_args *args)
{
	const struct gemm_batch all = gemm_describe(args);
	const struct gemm *g = &all.gemm;
	struct thin thin;
	double sum = 0;

	if (g->m != 1 || g->n != 1 || !thin_make(g, &thin) || !gemm_is_dot(&all, &thin))
		return;
	for (uint32_t p = 0; p < part_count(thin.depth); p++)
		sum += args->part[p].value.f;
	if (g->dtype == QUOIT_F32) {
		f32 *c = g->c.data;

		*c = (f32)(g->alpha * sum + (g->beta == 0 ? 0 : g->beta * (double)*c));
	} else {
		f64 *c = g->c.data;

		*c = g->alpha * sum + (g->beta == 0 ? 0 : g->beta * *c);
	}
}

/* ---- with few rows ---- */

/* Columns that a tile has at least: whole panels of the built-in product. */
#define GEMM_STRIP 64u

/* It is cut by columns: the built-in product gives them the same bits wherever they are cut. */
static bool gemm_is_flat(const struct gemm_batch *all)
{
	const struct gemm *g = &all->gemm;

	return all->batches == 1 && g->m < GEMM_PANEL_ROWS && g->n >= 2 * GEMM_STRIP && g->k > 0 &&
	       g->k * g->n >= GEMM_TILE_WORK / GEMM_PANEL_ROWS && op_dtype_size(g->dtype) > 2;
}

static uint32_t gemm_flat_tiles(const struct gemm *g, uint32_t cores)
{
	uint32_t tiles = op_tiles(g->k * g->n * op_dtype_size(g->dtype), cores);
	uint64_t most = g->n / GEMM_STRIP;

	return tiles < most ? tiles : (uint32_t)most;
}

static void gemm_flat_run(const struct gemm_batch *all, uint32_t tile, uint32_t tiles)
{
	struct gemm strip = all->gemm;
	uint64_t begin = op_cut(strip.n, tile, tiles), end = op_cut(strip.n, tile + 1, tiles);

	if (begin == end)
		return;
	gemm_advance(&strip.b, (int64_t)begin * strip.b.column, strip.dtype);
	gemm_advance(&strip.c, (int64_t)begin * strip.c.column, strip.dtype);
	strip.n = end - begin;
	gemm_builtin(&strip);
}

/* ---- all ---- */

/* Batches and their panels form one sequence; each tile takes a stretch of it. */
static void gemm_run(struct op_args *args, uint32_t tile, uint32_t tiles)
{
	const struct gemm_batch all = gemm_describe(args);
	struct thin thin;
	const uint64_t units = all.batches * all.panels;
	const uint64_t most = gemm_most_tiles(&all);
	uint64_t unit, end;

	if (all.gemm.m == 0 || all.gemm.n == 0)
		return;
	if (thin_make(&all.gemm, &thin)) {
		gemm_thin_run(args, &all, &thin, tile, tiles);
		return;
	}
	if (gemm_is_flat(&all)) {
		gemm_flat_run(&all, tile, tiles);
		return;
	}
	if (tile >= most)
		return;
	tiles = tiles < most ? tiles : (uint32_t)most;
	unit = units * tile / tiles;
	end = units * (tile + 1) / tiles;
	while (unit < end) {
		const uint64_t panel = unit % all.panels;
		const uint64_t left = all.panels - panel;
		const bool last = left <= end - unit;

		gemm_rows(args, &all, unit / all.panels, panel * GEMM_PANEL_ROWS,
			  last ? all.gemm.m : (panel + end - unit) * GEMM_PANEL_ROWS);
		unit += last ? left : end - unit;
	}
}

static uint32_t gemm_tiles(const struct op_args *args, uint32_t cores)
{
	const struct gemm_batch all = gemm_describe(args);
	const uint64_t most = gemm_most_tiles(&all);
	struct thin thin;

	if (thin_make(&all.gemm, &thin))
		return gemm_thin_tiles(&all, &thin, cores);
	if (gemm_is_flat(&all))
		return gemm_flat_tiles(&all.gemm, cores);
	return most < cores ? (uint32_t)most : cores > 0 ? cores : 1;
}

const struct op_impl OP_NAME(op_gemm) = {gemm_tiles, gemm_run, gemm_finish};
