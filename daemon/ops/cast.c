/* SPDX-License-Identifier: MIT */
/* cast.c - converts between types: to floating point to nearest, to integers saturating */
#include "half.h"
#include "walk.h"

/* expr makes the result from x, and `load` makes x from the element e. */
#define CAST_BY(from, to, type, load, expr)                                                        \
	static void cast_##from##_##to(void *const ptr[], uint64_t index, size_t n, void *context) \
	{                                                                                          \
		to *out = ptr[0];                                                                  \
		const from *in = ptr[1];                                                           \
                                                                                                   \
		(void)index, (void)context;                                                        \
		OP_INDEPENDENT                                                                     \
		for (size_t i = 0; i < n; i++) {                                                   \
			from e = in[i];                                                            \
			type x = (load);                                                           \
                                                                                                   \
			out[i] = (expr);                                                           \
		}                                                                                  \
	}

#define CAST(from, to, expr) CAST_BY(from, to, from, e, expr)

/* `limit` is 2^31 or 2^63, which floating-point types can hold and the integer type cannot. */
#define SATURATE(to, limit, low, high)                                                             \
	(x != x ? 0 : x >= (limit) ? (high) : x <= -(limit) ? (low) : (to)x)

CAST(f32, f32, x)
CAST(f32, f64, (f64)x)
CAST(f32, i32, SATURATE(i32, 0x1p31f, INT32_MIN, INT32_MAX))
CAST(f32, i64, SATURATE(i64, 0x1p63f, INT64_MIN, INT64_MAX))
CAST(f64, f32, (f32)x)
CAST(f64, f64, x)
CAST(f64, i32, SATURATE(i32, 0x1p31, INT32_MIN, INT32_MAX))
CAST(f64, i64, SATURATE(i64, 0x1p63, INT64_MIN, INT64_MAX))
CAST(i32, f32, (f32)x)
CAST(i32, f64, (f64)x)
CAST(i32, i32, x)
CAST(i32, i64, (i64)x)
CAST(i64, f32, (f32)x)
CAST(i64, f64, (f64)x)
CAST(i64, i32, x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (i32)x)
CAST(i64, i64, x)

CAST(f32, bf16, quoit_bf16_from_float(x))
CAST(f32, f16, quoit_f16_from_float(x))
CAST(f64, bf16, half_bf16_from_f64(x))
CAST(f64, f16, half_f16_from_f64(x))
CAST(i32, bf16, half_bf16_from_f64(x))
CAST(i32, f16, half_f16_from_f64(x))
CAST(i64, bf16, half_bf16_from_f64(half_odd_from_i64(x)))
CAST(i64, f16, half_f16_from_f64(half_odd_from_i64(x)))

/* Every half is exactly a float32, and is converted as one. */
#define CAST_HALF(half, to, expr) CAST_BY(half, to, f32, quoit_float_from_##half(e), expr)
#define CAST_HALVES(half)                                                                          \
	CAST_HALF(half, f32, x)                                                                    \
	CAST_HALF(half, f64, (f64)x)                                                               \
	CAST_HALF(half, i32, SATURATE(i32, 0x1p31f, INT32_MIN, INT32_MAX))                         \
	CAST_HALF(half, i64, SATURATE(i64, 0x1p63f, INT64_MIN, INT64_MAX))                         \
	CAST_HALF(half, bf16, quoit_bf16_from_float(x))                                            \
	CAST_HALF(half, f16, quoit_f16_from_float(x))

CAST_HALVES(bf16)
CAST_HALVES(f16)

#define ROW(from)                                                                                  \
	{                                                                                          \
		[QUOIT_F32] = cast_##from##_f32, [QUOIT_F64] = cast_##from##_f64,                  \
		[QUOIT_I32] = cast_##from##_i32, [QUOIT_I64] = cast_##from##_i64,                  \
		[QUOIT_BF16] = cast_##from##_bf16, [QUOIT_F16] = cast_##from##_f16                 \
	}

static walk_fn *const cast_fn[QUOIT_DTYPE_NR][QUOIT_DTYPE_NR] = {
	[QUOIT_F32] = ROW(f32), [QUOIT_F64] = ROW(f64),   [QUOIT_I32] = ROW(i32),
	[QUOIT_I64] = ROW(i64), [QUOIT_BF16] = ROW(bf16), [QUOIT_F16] = ROW(f16),
};

static void cast_run(struct op_args *args, uint32_t tile, uint32_t tiles)
{
	const struct op_tensor *t[] = {&args->t[0], &args->t[1]};
	struct walk walk;

	walk_make(&walk, t, 2, 1, WALK_ANY_ORDER);
	walk_run(&walk, op_cut(walk.count, tile, tiles), op_cut(walk.count, tile + 1, tiles),
		 cast_fn[t[1]->dtype][t[0]->dtype], NULL);
}

const struct op_impl OP_NAME(op_cast) = {op_tiles_by_output, cast_run, NULL};
