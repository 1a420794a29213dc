/* SPDX-License-Identifier: MIT */
/*
 * half.h - conversion of the two types of 16 bits, by their definition: f16 (IEEE 754 binary16: 5
 * bits of exponent, 10 of mantissa) and bf16 (the upper half of an f32: 8 and 7).
 *
 * Rounds once, to nearest, ties to even; a number that is too large becomes infinite.  For the
 * compilers of device and host alike, as element.h.
 */
#ifndef QUOIT_CUDA_HALF_H
#define QUOIT_CUDA_HALF_H

#include "kernels/element.h"

#define HALF_F16_MANTISSA  10
#define HALF_F16_LEAST     (-14) /* exponent of the smallest normal number */
#define HALF_BF16_MANTISSA 7
#define HALF_BF16_LEAST    (-126)

/*
 * In units of the last place the rounded number is an integer that includes the implicit bit.
 * Adding it to the exponent's field, less one, makes the carry into the exponent, up to infinity.
 */
ELEMENT uint16_t half_round(double x, int mantissa, int least)
{
	const uint64_t bits = element_f64_bits(x);
	const uint16_t sign = (uint16_t)(bits >> 48 & 0x8000u);
	const uint32_t infinite = (uint32_t)(3 - 2 * least) << mantissa;
	const double a = fabs(x);
	int exponent = (int)(bits >> 52 & 0x7ffu) - 1023;

	if (x != x)
		return (uint16_t)(sign | infinite | 1u << (mantissa - 1));
	if (exponent > 1 - least)
		return (uint16_t)(sign | infinite);
	exponent = exponent < least ? least : exponent;
	return (uint16_t)(sign + ((uint32_t)(exponent - least) << mantissa) +
			  (uint32_t)rint(
				  a * element_f64((uint64_t)(1023 + mantissa - exponent) << 52)));
}

ELEMENT double half_widen(uint16_t half, int mantissa, int least)
{
	const uint32_t field = (half & 0x7fffu) >> mantissa;
	const uint32_t fraction = half & ((1u << mantissa) - 1);
	const uint32_t most = (uint32_t)(3 - 2 * least);
	const uint32_t digits = field ? fraction | 1u << mantissa : fraction;
	const int exponent = (field ? (int)field - 1 : 0) + least - mantissa;
	double a = (double)digits * element_f64((uint64_t)(1023 + exponent) << 52);

	if (field == most)
		a = fraction ? (double)NAN : (double)INFINITY;
	return half & 0x8000u ? -a : a;
}

/*
 * A double that rounds to a type of 16 bits as x itself would. The bits of x that do not fit are
 * gathered in the last one that does, so x is not rounded twice.
 */
ELEMENT double half_from_i64_exactly(int64_t x)
{
	const int64_t lost = x & 0x7ff;

	if (x >= -(INT64_C(1) << 53) && x <= INT64_C(1) << 53)
		return (double)x;
	return (double)(x - lost + (lost ? 0x400 : 0));
}

ELEMENT uint16_t half_f16_from_f64(double x)
{
	return half_round(x, HALF_F16_MANTISSA, HALF_F16_LEAST);
}

ELEMENT uint16_t half_bf16_from_f64(double x)
{
	return half_round(x, HALF_BF16_MANTISSA, HALF_BF16_LEAST);
}

ELEMENT double half_f64_from_f16(uint16_t half)
{
	return half_widen(half, HALF_F16_MANTISSA, HALF_F16_LEAST);
}

ELEMENT double half_f64_from_bf16(uint16_t half)
{
	return half_widen(half, HALF_BF16_MANTISSA, HALF_BF16_LEAST);
}

#endif
