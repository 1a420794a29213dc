/* SPDX-License-Identifier: MIT */
/* place.c - finds the first place of the largest or smallest element; a NaN beats any number */
#include <string.h>

#include "parts.h"
#include "reduce.h"

/* The best of so many elements is found first, and then its place. */
#define PLACE_GROUP 1024

/* An axis at least this long is searched row by row. */
#define PLACE_LONG 16

struct place {
	struct op_part best;
	bool any; /* best holds something */
	walk_fn *extreme;
	union op_scalar start;
	uint8_t dtype;
	bool least; /* the smallest is the best */
};

/* Does a beat b?  Equal ones do not. */
static bool place_beats(uint8_t dtype, bool least, union op_scalar a, union op_scalar b)
{
	if (dtype == QUOIT_I32 || dtype == QUOIT_I64)
		return least ? a.i < b.i : a.i > b.i;
	return (least ? a.f < b.f : a.f > b.f) || (a.f != a.f && b.f == b.f);
}

/* The first place of `value` among n elements; 0 if a client has overwritten it meanwhile. */
#define PLACE_FIND(type, part)                                                                     \
	static size_t place_find_##type(const type *x, size_t n, union op_scalar value)            \
	{                                                                                          \
		for (size_t i = 0; i < n; i++) {                                                   \
			if (x[i] == value.part || (x[i] != x[i] && value.part != value.part))      \
				return i;                                                          \
		}                                                                                  \
		return 0;                                                                          \
	}

PLACE_FIND(f32, f)
PLACE_FIND(f64, f)
PLACE_FIND(i32, i)
PLACE_FIND(i64, i)

static size_t place_find(uint8_t dtype, const void *x, size_t n, union op_scalar value)
{
	switch (dtype) {
	case QUOIT_F32:
		return place_find_f32(x, n, value);
	case QUOIT_F64:
		return place_find_f64(x, n, value);
	case QUOIT_I32:
		return place_find_i32(x, n, value);
	default:
		return place_find_i64(x, n, value);
	}
}

static void place_piece(void *const ptr[], uint64_t index, size_t n, void *context)
{
	struct place *place = context;
	const uint32_t size = op_dtype_size(place->dtype);

	for (size_t i = 0; i < n; i += PLACE_GROUP) {
		void *group = (char *)ptr[0] + i * size;
		size_t now = n - i < PLACE_GROUP ? n - i : PLACE_GROUP;
		union op_scalar value = place->start;

		place->extreme((void *const[]){group}, index, now, &value);
		if (place->any &&
		    !place_beats(place->dtype, place->least, value, place->best.value))
			continue;
		place->any = true;
		place->best.value = value;
		place->best.index = index + i + place_find(place->dtype, group, now, value);
	}
}

/* ---- along an axis: a best value and its place for each column of a piece ---- */

struct place_columns {
	union op_scalar value[WALK_PIECE];
	i64 place[WALK_PIECE];
};

#define PLACE_COLUMNS(name, type, part, better)                                                    \
	static void place_##name##_##type(struct place_columns *best, const void *from, size_t n,  \
					  i64 place)                                               \
	{                                                                                          \
		const type *x = from;                                                              \
                                                                                                   \
		for (size_t j = 0; j < n; j++) {                                                   \
			type b = (type)best->value[j].part;                                        \
			bool beats = place == 0 || x[j] better b || (x[j] != x[j] && b == b);      \
                                                                                                   \
			best->value[j].part = beats ? x[j] : b;                                    \
			best->place[j] = beats ? place : best->place[j];                           \
		}                                                                                  \
	}

#define PLACE_COLUMNS_ALL(name, better)                                                            \
	PLACE_COLUMNS(name, f32, f, better)                                                        \
	PLACE_COLUMNS(name, f64, f, better)                                                        \
	PLACE_COLUMNS(name, i32, i, better)                                                        \
	PLACE_COLUMNS(name, i64, i, better)

PLACE_COLUMNS_ALL(largest, >)
PLACE_COLUMNS_ALL(smallest, <)

typedef void place_columns_fn(struct place_columns *best, const void *x, size_t n, i64 place);

static place_columns_fn *const place_take[2][QUOIT_DTYPE_NR] = {
	{[QUOIT_F32] = place_largest_f32,
	 [QUOIT_F64] = place_largest_f64,
	 [QUOIT_I32] = place_largest_i32,
	 [QUOIT_I64] = place_largest_i64},
	{[QUOIT_F32] = place_smallest_f32,
	 [QUOIT_F64] = place_smallest_f64,
	 [QUOIT_I32] = place_smallest_i32,
	 [QUOIT_I64] = place_smallest_i64},
};

/* Without a best yet. */
static struct place place_begin(const struct op_args *args)
{
	struct place place = {.dtype = args->t[1].dtype, .least = args->opcode == QUOIT_OP_ARGMIN};

	place.extreme = reduce_extreme(args->opcode, place.dtype, &place.start);
	return place;
}

/* Find each output element by itself, along an axis with adjacent elements. */
static void place_rows(const struct op_args *args, const struct walk *walk, uint64_t length,
		       uint64_t begin, uint64_t end)
{
	struct place place = place_begin(args);
	uint64_t pos[QUOIT_MAX_DIMS] = {0};

	walk_seek(walk, begin, pos);
	for (; begin < end; begin++, walk_step(walk, pos, 1)) {
		place.any = false;
		place_piece((void *const[]){walk_address(walk, 1, pos)}, 0, length, &place);
		*(i64 *)walk_address(walk, 0, pos) = (i64)place.best.index;
	}
}

static void place_axis(struct op_args *args, uint32_t tile, uint32_t tiles)
{
	struct op_tensor first = args->t[1];
	const struct op_tensor *t[] = {&args->t[0], &first};
	const uint64_t length = first.dim[args->arg & 3];
	const int64_t stride = first.stride[args->arg & 3] * op_dtype_size(first.dtype);
	place_columns_fn *take = place_take[args->opcode == QUOIT_OP_ARGMIN][first.dtype];
	struct place_columns best = {.place = {0}};
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
	if (stride == op_dtype_size(first.dtype) && length >= PLACE_LONG) {
		place_rows(args, &walk, length, begin, end);
		return;
	}
	(void)reduce_nothing(args); /* if so, all places are 0 */
	walk_seek(&walk, begin, pos);
	while (begin < end) {
		size_t n = walk_piece(&walk, pos, end - begin);

		n = n < WALK_PIECE ? n : WALK_PIECE;
		for (uint64_t k = 0; k < length; k++)
			take(&best, walk_load(&walk, 1, pos, (int64_t)k * stride, n, &buffer), n,
			     (i64)k);
		walk_store(&walk, 0, pos, n, best.place);
		walk_step(&walk, pos, n);
		begin += n;
	}
}

static void place_run(struct op_args *args, uint32_t tile, uint32_t tiles)
{
	const struct op_tensor *t[] = {&args->t[1]};
	struct place place = place_begin(args);
	struct walk walk;

	if (op_count(&args->t[0]) != 1) {
		place_axis(args, tile, tiles);
		return;
	}
	walk_make(&walk, t, 1, 0, WALK_ROW_MAJOR);
	for (uint32_t p = part_first(walk.count, tile, tiles);
	     p < part_first(walk.count, tile + 1, tiles); p++) {
		place.any = false;
		part_run(&walk, p, place_piece, &place);
		args->part[p] = place.best;
	}
}

static void place_finish(struct op_args *args)
{
	struct op_part best = args->part[0];

	if (op_count(&args->t[0]) != 1)
		return;
	if (reduce_nothing(args))
		best.index = 0;
	for (uint32_t p = 1; p < part_count(op_count(&args->t[1])); p++) {
		if (place_beats(args->t[1].dtype, args->opcode == QUOIT_OP_ARGMIN,
				args->part[p].value, best.value))
			best = args->part[p];
	}
	*(i64 *)args->t[0].data = (i64)best.index;
}

const struct op_impl OP_NAME(op_place) = {reduce_tiles, place_run, place_finish};
