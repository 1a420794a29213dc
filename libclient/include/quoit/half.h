/* SPDX-License-Identifier: MIT */
/*
 * half.h - bfloat16 and float16 to float and back, for programs that fill or read such tensors.
 *
 * bfloat16 (QUOIT_BF16) is the upper half of a float: 8 bits of exponent, 7 of fraction.  float16
 * (QUOIT_F16) is IEEE 754 binary16: 5 bits of exponent, 10 of fraction, at most 65504.  Conversion
 * to float is exact.  Conversion from float rounds to nearest, ties to even; values that are too
 * large become infinite, NaN stays NaN, and values too small for a normal number become denormal
 * ones.
 *
 * Pure functions in plain C, the same on every machine; a loop over them becomes vector code.
 */
#ifndef QUOIT_HALF_H
#define QUOIT_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t quoit_float_bits(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

static inline float quoit_bits_float(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

static inline float quoit_float_from_bf16(uint16_t x)
{
	return quoit_bits_float((uint32_t)x << 16);
}

static inline uint16_t quoit_bf16_from_float(float x)
{
	uint32_t bits = quoit_float_bits(x);
	uint32_t nearest = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
	uint32_t quiet = bits >> 16 | 0x40u; /* a NaN whose fraction is all in the lower half */

	return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? quiet : nearest);
}

static inline float quoit_float_from_f16(uint16_t x)
{
	uint32_t sign = (uint32_t)(x & 0x8000u) << 16;
	uint32_t rest = (uint32_t)(x & 0x7fffu) << 13;
	/* A denormal counts in units of 2^-24: place its bits behind 2^-14, then subtract 2^-14. */
	float small = quoit_bits_float(rest + (113u << 23)) - quoit_bits_float(113u << 23);
	uint32_t normal = rest + (112u << 23);
	uint32_t special = rest | 0x7f800000u;
	uint32_t bits = rest < 1u << 23      ? quoit_float_bits(small)
			: rest < 0x1fu << 23 ? normal
					     : special;

	return quoit_bits_float(sign | bits);
}

static inline uint16_t quoit_f16_from_float(float x)
{
	uint32_t bits = quoit_float_bits(x);
	uint32_t sign = bits >> 16 & 0x8000u;
	uint32_t rest = bits & 0x7fffffffu;
	/*
	 * A float near 0.5 has units of 2^-24, those of the denormals: the addition does the
	 * rounding.
	 */
	uint32_t small = quoit_float_bits(quoit_bits_float(rest) + 0.5f) - 0x3f000000u;
	uint32_t normal = (rest - (112u << 23) + 0xfffu + (rest >> 13 & 1u)) >> 13;
	uint32_t special = rest > 0x7f800000u ? 0x7e00u : 0x7c00u;
	uint32_t half = rest < 113u << 23 ? small : rest < 143u << 23 ? normal : special;

	return (uint16_t)(sign | half);
}

#endif
