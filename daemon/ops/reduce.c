/* SPDX-License-Identifier: MIT */
/*
 * reduce.c - sum, mean, product, largest, smallest, sum of squares: over all elements or along one axis.
 *
 * Floating-point sums and products are made in double, those of integers modulo 2^64.  A contiguous run is summed in
 * REDUCE_LANES interleaved sums for every instruction set, so all give the same bits.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include <quoit/families.h>

#include "reduce.h"
#include "parts.h"

#define REDUCE_LANES 32

/* An axis at least this long is reduced row by row, a shorter one column by column. */
#define REDUCE_LONG 64

/* acc[j] takes in element j of each of `rows` rows, in order; they are `stride` bytes apart. */
typedef void reduce_columns_fn(union op_scalar *acc, const void *x, int64_t stride, uint64_t rows,
			       size_t n);

struct reduce_row {
	walk_fn *run;               /* the context, a union op_scalar, takes in n elements */
	reduce_columns_fn *columns; /* n accumulators take in one element of each row */
	union op_scalar start;
};

/* Prefetch the next four rows: a strip of each is too short for the hardware to predict them. */
static inline void reduce_ask(const char *at, int64_t stride, size_t bytes)
{
	for (int r = 0; r < 4; r++, at += stride) {
		for (size_t i = 0; i < bytes; i += 64)
			__builtin_prefetch(at + i);
	}
}

/*
 * wide: the type of the computation; part: its member of union op_scalar; map: makes the term from
 * an element v; step: takes v into accumulator a.
 */
#define REDUCE(name, type, wide, part, start, map, step)                                           \
	static inline wide name##_step_##type(wide a, wide v)                                      \
	{                                                                                          \
		return step;                                                                       \
	}                                                                                          \
                                                                                                   \
	static void name##_run_##type(void *const ptr[], uint64_t index, size_t n, void *context)  \
	{                                                                                          \
		union op_scalar *acc = context;                                                    \
		const type *x = ptr[0];                                                            \
		wide lane[REDUCE_LANES];                                                           \
		size_t i = 0;                                                                      \
                                                                                                   \
		(void)index;                                                                       \
		for (int l = 0; l < REDUCE_LANES; l++)                                             \
			lane[l] = (start);                                                         \
		for (; i + REDUCE_LANES <= n; i += REDUCE_LANES) {                                 \
			for (int l = 0; l < REDUCE_LANES; l++) {                                   \
				wide v = (wide)x[i + l];                                           \
                                                                                                   \
				lane[l] = name##_step_##type(lane[l], map);                        \
			}                                                                          \
		}                                                                                  \
		for (size_t l = 0; i < n; i++, l++) {                                              \
			wide v = (wide)x[i];                                                       \
                                                                                                   \
			lane[l] = name##_step_##type(lane[l], map);                                \
		}                                                                                  \
		for (int half = REDUCE_LANES / 2; half > 0; half /= 2) {                           \
			for (int l = 0; l < half; l++)                                             \
				lane[l] = name##_step_##type(lane[l], lane[l + half]);             \
		}                                                                                  \
		acc->part = name##_step_##type((wide)acc->part, lane[0]);                          \
	}                                                                                          \
                                                                                                   \
	/* Four rows at a time: what is added up is loaded and stored once for them. */            \
	static void name##_columns_##type(union op_scalar *acc, const void *from, int64_t stride,  \
					  uint64_t rows, size_t n)                                 \
	{                                                                                          \
		const char *at = from;                                                             \
                                                                                                   \
		for (; rows >= 4; rows -= 4, at += 4 * stride) {                                   \
			const type *x0 = (const type *)at;                                         \
			const type *x1 = (const type *)(at + stride);                              \
			const type *x2 = (const type *)(at + 2 * stride);                          \
			const type *x3 = (const type *)(at + 3 * stride);                          \
                                                                                                   \
			if (rows >= 8)                                                             \
				reduce_ask(at + 4 * stride, stride, n * sizeof(type));             \
                                                                                                   \
			OP_INDEPENDENT                                                             \
			for (size_t j = 0; j < n; j++) {                                           \
				wide a = (wide)acc[j].part, v = (wide)x0[j];                       \
                                                                                                   \
				a = name##_step_##type(a, map);                                    \
				v = (wide)x1[j];                                                   \
				a = name##_step_##type(a, map);                                    \
				v = (wide)x2[j];                                                   \
				a = name##_step_##type(a, map);                                    \
				v = (wide)x3[j];                                                   \
				acc[j].part = name##_step_##type(a, map);                          \
			}                                                                          \
		}                                                                                  \
		for (; rows > 0; rows--, at += stride) {                                           \
			const type *x = (const type *)at;                                          \
                                                                                                   \
			OP_INDEPENDENT                                                             \
			for (size_t j = 0; j < n; j++) {                                           \
				wide v = (wide)x[j];                                               \
                                                                                                   \
				acc[j].part = name##_step_##type((wide)acc[j].part, map);          \
			}                                                                          \
		}                                                                                  \
	}

/* Converting a signed integer to uint64_t keeps it modulo 2^64. */
REDUCE(sum, f32, f64, f, 0, v, a + v)
REDUCE(sum, f64, f64, f, 0, v, a + v)
REDUCE(sum, i32, uint64_t, u, 0, v, a + v)
REDUCE(sum, i64, uint64_t, u, 0, v, a + v)
REDUCE(sqnorm, f32, f64, f, 0, v *v, a + v)
REDUCE(sqnorm, f64, f64, f, 0, v *v, a + v)
/* The largest of float32 elements is one of them, so it is found in float32. */
REDUCE(amax, f32, f32, f, -(f32)INFINITY, v, v > a || v != v ? v : a)
REDUCE(amax, f64, f64, f, -(f64)INFINITY, v, v > a || v != v ? v : a)
REDUCE(amax, i32, i64, i, INT64_MIN, v, v > a ? v : a)
REDUCE(amax, i64, i64, i, INT64_MIN, v, v > a ? v : a)

REDUCE(amin, f32, f32, f, (f32)INFINITY, v, v < a || v != v ? v : a)
REDUCE(amin, f64, f64, f, (f64)INFINITY, v, v < a || v != v ? v : a)
REDUCE(amin, i32, i64, i, INT64_MAX, v, v < a ? v : a)
REDUCE(amin, i64, i64, i, INT64_MAX, v, v < a ? v : a)
REDUCE(prod, f32, f64, f, 1, v, a *v)
REDUCE(prod, f64, f64, f, 1, v, a *v)
REDUCE(prod, i32, uint64_t, u, 1, v, a *v)
REDUCE(prod, i64, uint64_t, u, 1, v, a *v)

/* A reduction by type, and the operation that takes in its accumulators: SUM, for sums of squares. */
struct reduce_kind {
	struct reduce_row row[QUOIT_DTYPE_NR];
	uint8_t merge;
};

#define ROW(name, type, first)                                                                     \
	{                                                                                          \
		name##_run_##type, name##_columns_##type, first                                    \
	}
/* The rows of each type that a letter of ops.def stands for. */
#define ROWS_F(name, first, whole)                                                                 \
	[QUOIT_F32] = ROW(name, f32, {.f = first}), [QUOIT_F64] = ROW(name, f64, {.f = first})
#define ROWS_N(name, first, whole)                                                                 \
	ROWS_F(name, first, whole), [QUOIT_I32] = ROW(name, i32, {.i = whole}),                    \
				    [QUOIT_I64] = ROW(name, i64, {.i = whole})

/* What each operation reduces by, and what it starts from. */
#define KIND_sum(rows)    rows(sum, 0, 0)
#define KIND_mean(rows)   rows(sum, 0, 0)
#define KIND_sqnorm(rows) rows(sqnorm, 0, 0)
#define KIND_prod(rows)   rows(prod, 1, 1)
#define KIND_amax(rows)   rows(amax, -(f64)INFINITY, INT64_MIN)
#define KIND_amin(rows)   rows(amin, (f64)INFINITY, INT64_MAX)
#define KIND_argmax       KIND_amax
#define KIND_argmin       KIND_amin

/* A kind for each operation of these families, which does not compile until it is above. */
static const struct reduce_kind reduce_kinds[] = {
#define QUOIT_ROW_REDUCTION(nr, name, types)                                                       \
	[nr] = {.row = {KIND_##name(ROWS_##types)},                                                \
		.merge = nr == QUOIT_OP_SQNORM ? QUOIT_OP_SUM : nr},
#define QUOIT_ROW_EXTREME QUOIT_ROW_REDUCTION
#define QUOIT_ROW_PLACE   QUOIT_ROW_REDUCTION
#include <quoit/family_ops.def>
};

walk_fn *reduce_extreme(uint8_t opcode, uint8_t dtype, union op_scalar *ret_start)
{
	const struct reduce_row *row = &reduce_kinds[opcode].row[dtype];

	*ret_start = row->start;
	return row->run;
}

bool reduce_nothing(struct op_args *args)
{
	if (op_count(&args->t[0]) == 0 || op_count(&args->t[1]) > 0)
		return false;
	op_fail(args, -EINVAL, args->arg, 0);
	return true;
}

/* Write n finished accumulators as elements of the output's type to `to`. */
static void reduce_round(const struct op_args *args, const union op_scalar *acc, size_t n, void *to)
{
	uint64_t elements = op_count(&args->t[1]);
	f64 divisor = 1;

	if (args->opcode == QUOIT_OP_MEAN)
		divisor = elements > 0 ? (f64)(elements / op_count(&args->t[0])) : 0;
	for (size_t j = 0; j < n; j++) {
		switch (args->t[0].dtype) {
		case QUOIT_F32:
			((f32 *)to)[j] = (f32)(acc[j].f / divisor);
			break;
		case QUOIT_F64:
			((f64 *)to)[j] = acc[j].f / divisor;
			break;
		case QUOIT_I32:
			((i32 *)to)[j] = (i32)acc[j].u;
			break;
		default:
			((i64 *)to)[j] = acc[j].i;
		}
	}
}

/* ---- to one element ---- */

static void reduce_parts(struct op_args *args, const struct reduce_row *row, uint32_t tile,
			 uint32_t tiles)
{
	const struct op_tensor *t[] = {&args->t[1]};
	struct walk walk;

	walk_make(&walk, t, 1, 0, WALK_ANY_ORDER);
	for (uint32_t p = part_first(walk.count, tile, tiles);
	     p < part_first(walk.count, tile + 1, tiles); p++) {
		args->part[p].value = row->start;
		part_run(&walk, p, row->run, &args->part[p].value);
	}
}

static void reduce_finish(struct op_args *args)
{
	const bool whole = args->t[1].dtype == QUOIT_I32 || args->t[1].dtype == QUOIT_I64;
	/* Parts have the accumulator's type. */
	const struct reduce_row *row =
		&reduce_kinds[reduce_kinds[args->opcode].merge].row[whole ? QUOIT_I64 : QUOIT_F64];
	union op_scalar acc = row->start;

	if (op_count(&args->t[0]) != 1)
		return;
	if (quoit_needs_element(args->opcode) && reduce_nothing(args))
		acc.u = 0;
	for (uint32_t p = 0; p < part_count(op_count(&args->t[1])); p++)
		row->columns(&acc, &args->part[p].value, 0, 1, 1);
	reduce_round(args, &acc, 1, args->t[0].data);
}

/* ---- to many elements, along an axis ---- */

struct reduce_axis {
	struct op_args *args;
	const struct reduce_row *row;
	struct walk walk; /* the output, and the input at place 0 of the axis */
	uint64_t length;  /* of the axis */
	int64_t stride;   /* in bytes */
};

/* Reduce each output element by itself: one run along the axis. */
static void reduce_rows(const struct reduce_axis *axis, uint64_t begin, uint64_t end)
{
	const struct op_tensor along = {
		.data = NULL,
		.dim = {1, 1, 1, (uint32_t)axis->length},
		.stride = {0, 0, 0, axis->stride / axis->walk.operand[1].size},
		.dtype = axis->args->t[1].dtype};
	const struct op_tensor *t[] = {&along};
	uint64_t pos[QUOIT_MAX_DIMS] = {0};
	struct walk walk;

	walk_make(&walk, t, 1, 0, WALK_ROW_MAJOR);
	walk_seek(&axis->walk, begin, pos);
	for (uint64_t i = begin; i < end; i++) {
		union op_scalar acc = axis->row->start;

		walk.operand[0].data = walk_address(&axis->walk, 1, pos);
		walk_run(&walk, 0, walk.count, axis->row->run, &acc);
		reduce_round(axis->args, &acc, 1, walk_address(&axis->walk, 0, pos));
		walk_step(&axis->walk, pos, 1);
	}
}

/* Reduce a piece of output elements at a time: they take in the axis step by step. */
static void reduce_columns(const struct reduce_axis *axis, uint64_t begin, uint64_t end)
{
	union op_scalar acc[WALK_PIECE];
	struct walk_buffer buffer;
	uint64_t pos[QUOIT_MAX_DIMS] = {0};

	walk_seek(&axis->walk, begin, pos);
	while (begin < end) {
		size_t n = walk_piece(&axis->walk, pos, end - begin);

		n = n < WALK_PIECE ? n : WALK_PIECE;
		for (size_t j = 0; j < n; j++)
			acc[j] = axis->row->start;
		if (axis->walk.operand[1].kind == WALK_DIRECT)
			axis->row->columns(acc, walk_address(&axis->walk, 1, pos), axis->stride,
					   axis->length, n);
		else
			for (uint64_t k = 0; k < axis->length; k++)
				axis->row->columns(acc,
						   walk_load(&axis->walk, 1, pos,
							     (int64_t)k * axis->stride, n, &buffer),
						   0, 1, n);
		reduce_round(axis->args, acc, n, buffer.bytes);
		walk_store(&axis->walk, 0, pos, n, buffer.bytes);
		walk_step(&axis->walk, pos, n);
		begin += n;
	}
}

static void reduce_run(struct op_args *args, uint32_t tile, uint32_t tiles)
{
	struct op_tensor first = args->t[1];
	const struct op_tensor *t[] = {&args->t[0], &first};
	const uint32_t a = args->arg & 3;
	struct reduce_axis axis = {.args = args,
				   .row = &reduce_kinds[args->opcode].row[first.dtype]};
	uint64_t begin, end;
	bool even;

	if (op_count(t[0]) == 1) {
		reduce_parts(args, axis.row, tile, tiles);
		return;
	}
	axis.length = first.dim[a];
	axis.stride = first.stride[a] * op_dtype_size(first.dtype);
	first.dim[a] = 1;
	walk_make(&axis.walk, t, 2, 1, WALK_ANY_ORDER);
	if (quoit_needs_element(args->opcode) && reduce_nothing(args)) /* failed: write zeros */
		axis.row = &reduce_kinds[QUOIT_OP_SUM].row[first.dtype];
	begin = axis.walk.count * tile / tiles;
	end = axis.walk.count * (tile + 1) / tiles;
	even = axis.stride == op_dtype_size(first.dtype) || axis.walk.count < REDUCE_LONG;
	if (even && axis.length >= REDUCE_LONG)
		reduce_rows(&axis, begin, end);
	else if (begin < end)
		reduce_columns(&axis, begin, end);
}

uint32_t reduce_tiles(const struct op_args *args, uint32_t cores)
{
	const struct op_tensor *x = &args->t[1];
	uint64_t wide;
	uint32_t tiles;

	if (op_count(&args->t[0]) == 1)
		return part_tiles(x, cores);
	tiles = op_tiles(op_count(x) * op_dtype_size(x->dtype), cores);
	/* Narrow strips of rows come from memory slowly: no more of them than there are cores. */
	wide = op_count(&args->t[0]) / WALK_PIECE;
	wide = wide < cores ? cores : wide;
	return x->stride[args->arg & 3] != 1 && wide < tiles ? (uint32_t)wide : tiles;
}

const struct op_impl OP_NAME(op_reduce) = {reduce_tiles, reduce_run, reduce_finish};
