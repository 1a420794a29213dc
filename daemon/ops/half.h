/* SPDX-License-Identifier: MIT */
/*
 * half.h - bfloat16 and float16 for the kernels; private to daemon/ops.
 *
 * <quoit/half.h> rounds from float32.  A number with more bits must not be rounded twice.  So it
 * goes through a float32 that is odd if anything was cut off.  Such a float32 is neither a half nor
 * the middle of two, so it is rounded as the number itself would be.
 */
#ifndef QUOITD_OPS_HALF_H
#define QUOITD_OPS_HALF_H

#include <quoit/half.h>

#include "kernel.h"

typedef uint16_t bf16;
typedef uint16_t f16;

/* To float32, toward zero, with the last bit set if inexact; beyond the range: the largest. */
static inline f32 half_odd_from_f64(f64 x)
{
	const f32 nearest = (f32)x;
	const f64 back = (f64)nearest;
	const bool above = x < 0 ? back < x : back > x;
	const uint32_t bits = quoit_float_bits(nearest) - above;

	return back == x ? nearest : quoit_bits_float(bits | 1u);
}

/* Exact below 2^53.  Above, the bits below 2^11 become one bit, far below any half's last bit. */
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
