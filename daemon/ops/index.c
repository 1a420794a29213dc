/* SPDX-License-Identifier: MIT */
/* index.c - gathers by an index, selects by a condition, compares */
#include <errno.h>
#include <string.h>

#include "walk.h"

/* ---- gather ---- */

/* One load: the index that is checked is used, whatever a client writes meanwhile. */
static int64_t gather_index(const struct op_tensor *index, uint64_t i)
{
	int64_t at = (int64_t)i * index->stride[QUOIT_MAX_DIMS - 1];

	if (index->dtype == QUOIT_I32)
		return __atomic_load_n((const i32 *)index->data + at, __ATOMIC_RELAXED);
	return __atomic_load_n((const i64 *)index->data + at, __ATOMIC_RELAXED);
}

/* Gather elements from..to - 1 of one row of the output, the row at pos[0..2]. */
static void gather_row(struct op_args *args, const uint32_t pos[QUOIT_MAX_DIMS - 1], uint64_t from,
		       uint64_t to)
{
	const uint32_t last = QUOIT_MAX_DIMS - 1;
	const struct op_tensor *out = &args->t[0];
	const struct op_tensor *in = &args->t[1];
	const uint32_t axis = args->arg & 3;
	const int64_t size = op_dtype_size(out->dtype);
	const int64_t out_stride = out->stride[last] * size;
	const int64_t in_stride = in->stride[last] * size;
	const uint64_t run = axis == last ? 1 : to - from; /* elements under one index */
	char *dst = (char *)out->data + (int64_t)from * out_stride;
	const char *src = in->data;

	for (uint32_t d = 0; d < last; d++) {
		dst += pos[d] * out->stride[d] * size;
		src += d == axis ? 0 : pos[d] * in->stride[d] * size;
	}
	for (uint64_t i = from; i < to; i += run, dst += (int64_t)run * out_stride) {
		int64_t index = gather_index(&args->t[2], axis == last ? i : pos[axis]);
		bool inside = index >= 0 && index < in->dim[axis];
		const uint64_t zero = 0;

		if (!inside)
			op_fail(args, -ERANGE, (uint64_t)index, in->dim[axis]);
		if (inside)
			walk_strided(dst, out_stride,
				     src + index * in->stride[axis] * size +
					     (axis == last ? 0 : (int64_t)i * in_stride),
				     in_stride, run, (uint32_t)size);
		else
			walk_strided(dst, out_stride, (const char *)&zero, 0, run, (uint32_t)size);
	}
}

static void gather_run(struct op_args *args, uint32_t tile, uint32_t tiles)
{
	const struct op_tensor *out = &args->t[0];
	uint64_t row = out->dim[QUOIT_MAX_DIMS - 1];
	uint64_t i = op_cut(op_count(out), tile, tiles);
	uint64_t end = op_cut(op_count(out), tile + 1, tiles);

	while (i < end) {
		uint64_t from = i % row;
		uint64_t to = row - from < end - i ? row : from + (end - i);
		uint64_t rest = i / row;
		uint32_t pos[QUOIT_MAX_DIMS - 1];

		for (uint32_t d = QUOIT_MAX_DIMS - 1; d-- > 0;) {
			pos[d] = (uint32_t)(rest % out->dim[d]);
			rest /= out->dim[d];
		}
		gather_row(args, pos, from, to);
		i += to - from;
	}
}

/* ---- select ---- */

#define SELECT(type)                                                                               \
	static void select_##type(void *const ptr[], uint64_t index, size_t n, void *context)      \
	{                                                                                          \
		type *out = ptr[0];                                                                \
		const i32 *cond = ptr[1];                                                          \
		const type *x = ptr[2];                                                            \
		const type *y = ptr[3];                                                            \
                                                                                                   \
		(void)index, (void)context;                                                        \
		OP_INDEPENDENT                                                                     \
		for (size_t i = 0; i < n; i++) {                                                   \
			type a = x[i];                                                             \
			type b = y[i];                                                             \
                                                                                                   \
			out[i] = cond[i] != 0 ? a : b;                                             \
		}                                                                                  \
	}

SELECT(uint16_t)
SELECT(uint32_t)
SELECT(uint64_t)

static void select_run(struct op_args *args, uint32_t tile, uint32_t tiles)
{
	const struct op_tensor *t[] = {&args->t[0], &args->t[1], &args->t[2], &args->t[3]};
	const uint32_t size = op_dtype_size(t[0]->dtype);
	walk_fn *fn = size == 2 ? select_uint16_t : size == 4 ? select_uint32_t : select_uint64_t;
	struct walk walk;

	walk_make(&walk, t, 4, 1, WALK_ANY_ORDER);
	walk_run(&walk, op_cut(walk.count, tile, tiles), op_cut(walk.count, tile + 1, tiles), fn,
		 NULL);
}

/* ---- compare ---- */

#define COMPARE(name, type, op)                                                                    \
	static void name##_##type(void *const ptr[], uint64_t index, size_t n, void *context)      \
	{                                                                                          \
		i32 *out = ptr[0];                                                                 \
		const type *x = ptr[1];                                                            \
		const type *y = ptr[2];                                                            \
                                                                                                   \
		(void)index, (void)context;                                                        \
		OP_INDEPENDENT                                                                     \
		for (size_t i = 0; i < n; i++)                                                     \
			out[i] = x[i] op y[i];                                                     \
	}

#define COMPARE_TYPES(name, op)                                                                    \
	COMPARE(name, f32, op) COMPARE(name, f64, op) COMPARE(name, i32, op) COMPARE(name, i64, op)

COMPARE_TYPES(eq, ==)
COMPARE_TYPES(ne, !=)
COMPARE_TYPES(lt, <)
COMPARE_TYPES(le, <=)
COMPARE_TYPES(gt, >)
COMPARE_TYPES(ge, >=)

#define ROW(name)                                                                                  \
	{                                                                                          \
		[QUOIT_F32] = name##_f32, [QUOIT_F64] = name##_f64, [QUOIT_I32] = name##_i32,      \
		[QUOIT_I64] = name##_i64                                                           \
	}

static walk_fn *const compare_fn[QUOIT_CMP_NR][QUOIT_DTYPE_NR] = {
	[QUOIT_CMP_EQ] = ROW(eq), [QUOIT_CMP_NE] = ROW(ne), [QUOIT_CMP_LT] = ROW(lt),
	[QUOIT_CMP_LE] = ROW(le), [QUOIT_CMP_GT] = ROW(gt), [QUOIT_CMP_GE] = ROW(ge),
};

static void compare_run(struct op_args *args, uint32_t tile, uint32_t tiles)
{
	const struct op_tensor *t[] = {&args->t[0], &args->t[1], &args->t[2]};
	struct op_tensor scalar;
	uint64_t storage;
	struct walk walk;

	if (args->arg & QUOIT_CMP_SCALAR) {
		scalar = walk_scalar(t[1], args->scalar[0], &storage);
		t[2] = &scalar;
	}
	walk_make(&walk, t, 3, 1, WALK_ANY_ORDER);
	walk_run(&walk, op_cut(walk.count, tile, tiles), op_cut(walk.count, tile + 1, tiles),
		 compare_fn[args->arg & QUOIT_CMP_MASK][t[1]->dtype], NULL);
}

const struct op_impl OP_NAME(op_gather) = {op_tiles_by_output, gather_run, NULL};
const struct op_impl OP_NAME(op_select) = {op_tiles_by_output, select_run, NULL};
const struct op_impl OP_NAME(op_compare) = {op_tiles_by_output, compare_run, NULL};
