/* SPDX-License-Identifier: MIT */
/*
 * half.h - bfloat16 and float16 as kernels see them; private to daemon/ops.
 *
 * <quoit/half.h> rounds from float32.  What has more bits than that must not be rounded twice:
 * it goes through a float32 that is odd wherever something was cut off, which is then neither
 * a half nor the middle of two, and so is rounded as the number itself would be.
 */
#ifndef QUOITD_OPS_HALF_H
#define QUOITD_OPS_HALF_H

#include <quoit/half.h>

#include "ops/kernel.h"

typedef uint16_t bf16;
typedef uint16_t f16;

/* To float32, toward zero, the last bit set if that is not exact; beyond all: the largest. */
static inline f32 half_odd_from_f64(f64 x)
{
	const f32 nearest = (f32)x;
	const f64 back = (f64)nearest;
	const bool above = x < 0 ? back < x : back > x;
	const uint32_t bits = quoit_float_bits(nearest) - above;

	return back == x ? nearest : quoit_bits_float(bits | 1u);
}

/* Exact below 2^53; above, what lies below 2^11 becomes one bit, far below any half's last. */
static inline f64 half_odd_from_i64(i64 x)
{
	const i64 cut = (x & ~(i64)0x7ff) | (x & 0x7ff ? 0x400 : 0);

	return (f64)((uint64_t)x + (UINT64_C(1) << 53) < UINT64_C(1) << 54 ? x : cut);
}

static inline bf16 half_bf16_from_f64(f64 x)
{
	return quoit_bf16_from_float(half_odd_from_f64(x));
}

static inline f16 half_f16_from_f64(f64 x)
{
	return quoit_f16_from_float(half_odd_from_f64(x));
}

#endif
