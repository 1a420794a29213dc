/* SPDX-License-Identifier: MIT */
/* argmax.c - finds the first place of the largest element; a NaN is larger than anything */
#include <string.h>

#include "parts.h"
#include "reduce.h"

/* The largest of so many elements is found first, and then its place. */
#define ARGMAX_GROUP 1024

/* An axis at least this long is searched row by row. */
#define ARGMAX_LONG 16

struct argmax {
	struct op_part best;
	bool any; /* best holds something */
	walk_fn *amax;
	union op_scalar least;
	uint8_t dtype;
};

/* Does a beat b?  Equal ones do not. */
static bool argmax_beats(uint8_t dtype, union op_scalar a, union op_scalar b)
{
	if (dtype == QUOIT_I32 || dtype == QUOIT_I64)
		return a.i > b.i;
	return a.f > b.f || (a.f != a.f && b.f == b.f);
}

/* The first place of `value` among n elements; 0 if a client has overwritten it meanwhile. */
#define ARGMAX_PLACE(type, part)                                                                   \
	static size_t argmax_place_##type(const type *x, size_t n, union op_scalar value)          \
	{                                                                                          \
		for (size_t i = 0; i < n; i++) {                                                   \
			if (x[i] == value.part || (x[i] != x[i] && value.part != value.part))      \
				return i;                                                          \
		}                                                                                  \
		return 0;                                                                          \
	}

ARGMAX_PLACE(f32, f)
ARGMAX_PLACE(f64, f)
ARGMAX_PLACE(i32, i)
ARGMAX_PLACE(i64, i)

static size_t argmax_place(uint8_t dtype, const void *x, size_t n, union op_scalar value)
{
	switch (dtype) {
	case QUOIT_F32:
		return argmax_place_f32(x, n, value);
	case QUOIT_F64:
		return argmax_place_f64(x, n, value);
	case QUOIT_I32:
		return argmax_place_i32(x, n, value);
	default:
		return argmax_place_i64(x, n, value);
	}
}

static void argmax_piece(void *const ptr[], uint64_t index, size_t n, void *context)
{
	struct argmax *argmax = context;
	const uint32_t size = op_dtype_size(argmax->dtype);

	for (size_t i = 0; i < n; i += ARGMAX_GROUP) {
		void *group = (char *)ptr[0] + i * size;
		size_t now = n - i < ARGMAX_GROUP ? n - i : ARGMAX_GROUP;
		union op_scalar value = argmax->least;

		argmax->amax((void *const[]){group}, index, now, &value);
		if (argmax->any && !argmax_beats(argmax->dtype, value, argmax->best.value))
			continue;
		argmax->any = true;
		argmax->best.value = value;
		argmax->best.index = index + i + argmax_place(argmax->dtype, group, now, value);
	}
}

/* ---- along an axis: a best value and its place for each column of a piece ---- */

struct argmax_columns {
	union op_scalar value[WALK_PIECE];
	i64 place[WALK_PIECE];
};

#define ARGMAX_COLUMNS(type, part)                                                                 \
	static void argmax_columns_##type(struct argmax_columns *best, const type *x, size_t n,    \
					  i64 place)                                               \
	{                                                                                          \
		for (size_t j = 0; j < n; j++) {                                                   \
			type b = (type)best->value[j].part;                                        \
			bool beats = place == 0 || x[j] > b || (x[j] != x[j] && b == b);           \
                                                                                                   \
			best->value[j].part = beats ? x[j] : b;                                    \
			best->place[j] = beats ? place : best->place[j];                           \
		}                                                                                  \
	}

ARGMAX_COLUMNS(f32, f)
ARGMAX_COLUMNS(f64, f)
ARGMAX_COLUMNS(i32, i)
ARGMAX_COLUMNS(i64, i)

static void argmax_take(uint8_t dtype, struct argmax_columns *best, const void *x, size_t n,
			i64 place)
{
	switch (dtype) {
	case QUOIT_F32:
		argmax_columns_f32(best, x, n, place);
		break;
	case QUOIT_F64:
		argmax_columns_f64(best, x, n, place);
		break;
	case QUOIT_I32:
		argmax_columns_i32(best, x, n, place);
		break;
	default:
		argmax_columns_i64(best, x, n, place);
	}
}

/* Find each output element by itself, along an axis with adjacent elements. */
static void argmax_rows(const struct op_args *args, const struct walk *walk, uint64_t length,
			uint64_t begin, uint64_t end)
{
	struct argmax argmax = {.dtype = args->t[1].dtype};
	uint64_t pos[QUOIT_MAX_DIMS] = {0};

	argmax.amax = reduce_amax(argmax.dtype, &argmax.least);
	walk_seek(walk, begin, pos);
	for (; begin < end; begin++, walk_step(walk, pos, 1)) {
		argmax.any = false;
		argmax_piece((void *const[]){walk_address(walk, 1, pos)}, 0, length, &argmax);
		*(i64 *)walk_address(walk, 0, pos) = (i64)argmax.best.index;
	}
}

static void argmax_axis(struct op_args *args, uint32_t tile, uint32_t tiles)
{
	struct op_tensor first = args->t[1];
	const struct op_tensor *t[] = {&args->t[0], &first};
	const uint64_t length = first.dim[args->arg & 3];
	const int64_t stride = first.stride[args->arg & 3] * op_dtype_size(first.dtype);
	struct argmax_columns best = {.place = {0}};
	struct walk_buffer buffer;
	uint64_t pos[QUOIT_MAX_DIMS] = {0};
	struct walk walk;
	uint64_t begin, end;

	first.dim[args->arg & 3] = 1;
	walk_make(&walk, t, 2, 1, WALK_ANY_ORDER);
	begin = walk.count * tile / tiles;
	end = walk.count * (tile + 1) / tiles;
	if (begin == end)
		return;
	if (stride == op_dtype_size(first.dtype) && length >= ARGMAX_LONG) {
		argmax_rows(args, &walk, length, begin, end);
		return;
	}
	(void)reduce_nothing(args); /* if so, all places are 0 */
	walk_seek(&walk, begin, pos);
	while (begin < end) {
		size_t n = walk_piece(&walk, pos, end - begin);

		n = n < WALK_PIECE ? n : WALK_PIECE;
		for (uint64_t k = 0; k < length; k++)
			argmax_take(first.dtype, &best,
				    walk_load(&walk, 1, pos, (int64_t)k * stride, n, &buffer), n,
				    (i64)k);
		walk_store(&walk, 0, pos, n, best.place);
		walk_step(&walk, pos, n);
		begin += n;
	}
}

static void argmax_run(struct op_args *args, uint32_t tile, uint32_t tiles)
{
	const struct op_tensor *t[] = {&args->t[1]};
	struct argmax argmax = {.dtype = t[0]->dtype};
	struct walk walk;

	if (op_count(&args->t[0]) != 1) {
		argmax_axis(args, tile, tiles);
		return;
	}
	argmax.amax = reduce_amax(argmax.dtype, &argmax.least);
	walk_make(&walk, t, 1, 0, WALK_ROW_MAJOR);
	for (uint32_t p = part_first(walk.count, tile, tiles);
	     p < part_first(walk.count, tile + 1, tiles); p++) {
		argmax.any = false;
		part_run(&walk, p, argmax_piece, &argmax);
		args->part[p] = argmax.best;
	}
}

static void argmax_finish(struct op_args *args)
{
	struct op_part best = args->part[0];

	if (op_count(&args->t[0]) != 1)
		return;
	if (reduce_nothing(args))
		best.index = 0;
	for (uint32_t p = 1; p < part_count(op_count(&args->t[1])); p++) {
		if (argmax_beats(args->t[1].dtype, args->part[p].value, best.value))
			best = args->part[p];
	}
	*(i64 *)args->t[0].data = (i64)best.index;
}

const struct op_impl OP_NAME(op_argmax) = {reduce_tiles, argmax_run, argmax_finish};
