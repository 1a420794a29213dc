/* SPDX-License-Identifier: MIT */
/*
 * element.h - each operation on one element.
 *
 * Plain C for the compilers of device and host alike, so that a machine without a device can test
 * it.  Results are those of the CPU, as ops.def defines them.
 */
#ifndef QUOIT_CUDA_ELEMENT_H
#define QUOIT_CUDA_ELEMENT_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define ELEMENT static __host__ __device__ __forceinline__
#else
#define ELEMENT static inline
#endif

/* ---- bits ---- */

ELEMENT uint32_t element_f32_bits(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

ELEMENT float element_f32(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

ELEMENT uint64_t element_f64_bits(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

ELEMENT double element_f64(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* ---- arithmetic ---- */

/* Rounds toward zero. x / 0 is 0; the smallest integer / -1 does not fit, and wraps. */
ELEMENT int32_t element_div_i32(int32_t x, int32_t y)
{
	if (y == 0)
		return 0;
	return y == -1 ? (int32_t)(0 - (uint32_t)x) : x / y;
}

ELEMENT int64_t element_div_i64(int64_t x, int64_t y)
{
	if (y == 0)
		return 0;
	return y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}

/* Modulo 2^64. For a negative y it is 1 / x^|y|, rounded toward zero; for x = 0 that is 0. */
ELEMENT int64_t element_pow_i64(int64_t x, int64_t y)
{
	uint64_t square = (uint64_t)x;
	uint64_t power = 1;

	if (y < 0)
		return x == 1 || x == -1 ? (y & 1 ? x : 1) : 0;
	for (; y > 0; y >>= 1, square *= square)
		power *= y & 1 ? square : 1;
	return (int64_t)power;
}

/* A NaN in either place is the result. Of equal numbers (-0 equals 0) the second is. */
ELEMENT float element_min_f32(float x, float y)
{
	return x < y || x != x ? x : y;
}

ELEMENT double element_min_f64(double x, double y)
{
	return x < y || x != x ? x : y;
}

ELEMENT float element_max_f32(float x, float y)
{
	return x > y || x != x ? x : y;
}

ELEMENT double element_max_f64(double x, double y)
{
	return x > y || x != x ? x : y;
}

ELEMENT float element_relu_f32(float x)
{
	return x > 0 || x != x ? x : 0;
}

ELEMENT double element_relu_f64(double x)
{
	return x > 0 || x != x ? x : 0;
}

/* Computed by exp(-|x|), so that nothing overflows and small results keep their digits. */
ELEMENT float element_sigmoid_f32(float x)
{
	float e = expf(-fabsf(x));

	return (x >= 0 ? 1.0f : e) / (1.0f + e);
}

ELEMENT double element_sigmoid_f64(double x)
{
	double e = exp(-fabs(x));

	return (x >= 0 ? 1.0 : e) / (1.0 + e);
}

/* ---- conversion to integers: toward zero, saturating, NaN becomes 0 ---- */

ELEMENT int32_t element_i32_from_f32(float x)
{
	return x != x ? 0 : x >= 0x1p31f ? INT32_MAX : x <= -0x1p31f ? INT32_MIN : (int32_t)x;
}

ELEMENT int32_t element_i32_from_f64(double x)
{
	return x != x ? 0 : x >= 0x1p31 ? INT32_MAX : x <= -0x1p31 ? INT32_MIN : (int32_t)x;
}

ELEMENT int64_t element_i64_from_f32(float x)
{
	return x != x ? 0 : x >= 0x1p63f ? INT64_MAX : x <= -0x1p63f ? INT64_MIN : (int64_t)x;
}

ELEMENT int64_t element_i64_from_f64(double x)
{
	return x != x ? 0 : x >= 0x1p63 ? INT64_MAX : x <= -0x1p63 ? INT64_MIN : (int64_t)x;
}

ELEMENT int32_t element_i32_from_i64(int64_t x)
{
	return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}

#endif
