/* SPDX-License-Identifier: MIT */
/*
 * vmath.h - exp, log, tanh, sin, cos and sigmoid that compilers turn into vector code.
 *
 * There are no branches and no tables, only correctly rounded operations and explicit fma.  So the
 * bits are the same for every instruction set, compiler and vector width.  The largest errors found
 * against long double, in ulp of the result (test_ops_vmath.c checks them): exp 1.1, log 1, sigmoid
 * 2.2, tanh 3, sin and cos 1.6.  Denormals, infinities and NaN are as in C.
 *
 * The polynomials are minimax fits of the functions named beside them, made with the Remez exchange
 * in 40 digits.  Constants in two or three parts are the nearest sums.
 */
#ifndef QUOITD_OPS_VMATH_H
#define QUOITD_OPS_VMATH_H

#include <math.h>
#include <string.h>

#include "kernel.h"

static inline uint32_t f32_bits(f32 x)
{
	uint32_t u;

	memcpy(&u, &x, sizeof(u));
	return u;
}

static inline f32 f32_from_bits(uint32_t u)
{
	f32 x;

	memcpy(&x, &u, sizeof(x));
	return x;
}

static inline uint64_t f64_bits(f64 x)
{
	uint64_t u;

	memcpy(&u, &x, sizeof(u));
	return u;
}

static inline f64 f64_from_bits(uint64_t u)
{
	f64 x;

	memcpy(&x, &u, sizeof(x));
	return x;
}

/* Adding and subtracting it rounds to an integer, which is in the low bits of the sum. */
#define F32_ROUND 0x1.8p23f
#define F64_ROUND 0x1.8p52

/* x = k ln 2 + r with |r| <= ln 2 / 2: returns expm1(r), *ret_k is k.  |x| < 1000. */
static inline f32 vmath_f32_expm1_reduced(f32 x, uint32_t *ret_k)
{
	f32 sum = fmaf(x, 0x1.715476p0f, F32_ROUND);
	f32 k = sum - F32_ROUND;
	f32 r = fmaf(k, -0x1.7f7d1cp-20f, fmaf(k, -0x1.62e4p-1f, x));
	f32 p = 0x1.6d99b4p-10f; /* (expm1(r) - r) / r^2 */

	p = fmaf(p, r, 0x1.122880p-7f);
	p = fmaf(p, r, 0x1.555486p-5f);
	p = fmaf(p, r, 0x1.5554aep-3f);
	p = fmaf(p, r, 0.5f);
	*ret_k = f32_bits(sum) - f32_bits(F32_ROUND);
	return fmaf(r * r, p, r);
}

static inline f64 vmath_f64_expm1_reduced(f64 x, uint64_t *ret_k)
{
	f64 sum = fma(x, 0x1.71547652b82fep0, F64_ROUND);
	f64 k = sum - F64_ROUND;
	f64 r = fma(k, -0x1.a39ef35793c76p-33, fma(k, -0x1.62e42feep-1, x));
	f64 p = 0x1.1f95b720bd3bcp-29;

	p = fma(p, r, 0x1.af5f300f87ec6p-26);
	p = fma(p, r, 0x1.27e4c56d24091p-22);
	p = fma(p, r, 0x1.71ddf8181082fp-19);
	p = fma(p, r, 0x1.a01a01b0cdd8ep-16);
	p = fma(p, r, 0x1.a01a01affa84ep-13);
	p = fma(p, r, 0x1.6c16c16c1440cp-10);
	p = fma(p, r, 0x1.111111110f67fp-7);
	p = fma(p, r, 0x1.555555555555ap-5);
	p = fma(p, r, 0x1.5555555555559p-3);
	p = fma(p, r, 0.5);
	*ret_k = f64_bits(sum) - f64_bits(F64_ROUND);
	return fma(r * r, p, r);
}

/* Multiplies by 2^k in two steps: no factor overflows unless the result does. */
static inline f32 vmath_f32_scale(f32 x, uint32_t k)
{
	uint32_t half = ((k + 512) >> 1) - 256;

	return x * f32_from_bits((half + 127) << 23) * f32_from_bits((k - half + 127) << 23);
}

static inline f64 vmath_f64_scale(f64 x, uint64_t k)
{
	uint64_t half = ((k + 4096) >> 1) - 2048;

	return x * f64_from_bits((half + 1023) << 52) * f64_from_bits((k - half + 1023) << 52);
}

static inline f32 vmath_f32_exp(f32 x)
{
	uint32_t k;
	f32 y;

	x = x > 90.0f ? 90.0f : x; /* beyond both ends the result is inf or 0; NaN passes */
	x = x < -105.0f ? -105.0f : x;
	y = 1.0f + vmath_f32_expm1_reduced(x, &k);
	return vmath_f32_scale(y, k);
}

static inline f64 vmath_f64_exp(f64 x)
{
	uint64_t k;
	f64 y;

	x = x > 711.0 ? 711.0 : x;
	x = x < -747.0 ? -747.0 : x;
	y = 1.0 + vmath_f64_expm1_reduced(x, &k);
	return vmath_f64_scale(y, k);
}

/* ln of a normal positive number, plus `k` ln 2. */
static inline f32 vmath_f32_log_normal(f32 x, i32 k)
{
	uint32_t u = f32_bits(x) - 0x3f3504f3u; /* x = 2^e m, m in [sqrt(1/2), sqrt(2)) */
	f32 f = f32_from_bits((u & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
	f32 e = (f32)((i32)((u + 0x40000000u) >> 23) - 0x80 + k);
	f32 p = -0x1.41f07cp-4f; /* (log1p(f) - f + f^2 / 2) / f^3 */
	f32 y;

	p = fmaf(p, f, 0x1.07d154p-3f);
	p = fmaf(p, f, -0x1.0ce03cp-3f);
	p = fmaf(p, f, 0x1.226e3ap-3f);
	p = fmaf(p, f, -0x1.547890p-3f);
	p = fmaf(p, f, 0x1.99a596p-3f);
	p = fmaf(p, f, -0x1.000220p-2f);
	p = fmaf(p, f, 0x1.55554ap-2f);
	y = fmaf(e, 0x1.7f7d1cp-20f, f * f * f * p);
	y = fmaf(f * f, -0.5f, y);
	return fmaf(e, 0x1.62e4p-1f, f + y);
}

static inline f64 vmath_f64_log_normal(f64 x, i32 k)
{
	uint64_t u = f64_bits(x) - 0x3fe6a09e667f3bcdu;
	f64 f = f64_from_bits((u & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1.0;
	f64 e = (f64)((i32)((u + 0x4000000000000000u) >> 52) - 0x400 + k);
	f64 s = f / (2.0 + f);
	f64 z = s * s;
	f64 half = 0.5 * f * f;
	f64 p = 0x1.2f51a15d2b9a7p-3; /* (2 atanh(s) - 2 s) / s^3; log1p(f) = 2 atanh(s) */

	p = fma(p, z, 0x1.399d18ee75c67p-3);
	p = fma(p, z, 0x1.746648758677dp-3);
	p = fma(p, z, 0x1.c71c52bbd8953p-3);
	p = fma(p, z, 0x1.2492493fb0374p-2);
	p = fma(p, z, 0x1.99999999847bfp-2);
	p = fma(p, z, 0x1.555555555557cp-1);
	/* 2 atanh(s) = f - (half - s (half + z p)), which loses nothing for small f. */
	p = fma(s, fma(z, p, half), e * 0x1.a39ef35793c76p-33) - half;
	return fma(e, 0x1.62e42feep-1, f + p);
}

static inline f32 vmath_f32_log(f32 x)
{
	int tiny = x < 0x1p-126f;
	f32 y = vmath_f32_log_normal(tiny ? x * 0x1p23f : x, tiny ? -23 : 0);

	y = x == INFINITY ? INFINITY : y;
	y = x == 0 ? -INFINITY : y;
	return x >= 0 ? y : NAN;
}

static inline f64 vmath_f64_log(f64 x)
{
	int tiny = x < 0x1p-1022;
	f64 y = vmath_f64_log_normal(tiny ? x * 0x1p52 : x, tiny ? -52 : 0);

	y = x == (f64)INFINITY ? (f64)INFINITY : y;
	y = x == 0 ? -(f64)INFINITY : y;
	return x >= 0 ? y : (f64)NAN;
}

/* With E = expm1(2 |x|): tanh |x| = E / (E + 2). */
static inline f32 vmath_f32_tanh(f32 x)
{
	f32 a = 2.0f * fabsf(x);
	uint32_t k;
	f32 q, scale, e;

	a = a > 20.0f ? 20.0f : a;
	q = vmath_f32_expm1_reduced(a, &k);
	scale = f32_from_bits((k + 127) << 23);
	e = fmaf(scale, q, scale - 1.0f);
	return copysignf(e / (e + 2.0f), x);
}

static inline f64 vmath_f64_tanh(f64 x)
{
	f64 a = 2.0 * fabs(x);
	uint64_t k;
	f64 q, scale, e;

	a = a > 40.0 ? 40.0 : a;
	q = vmath_f64_expm1_reduced(a, &k);
	scale = f64_from_bits((k + 1023) << 52);
	e = fma(scale, q, scale - 1.0);
	return copysign(e / (e + 2.0), x);
}

/* Uses exp(-|x|), so that nothing overflows and small results keep their digits. */
static inline f32 vmath_f32_sigmoid(f32 x)
{
	f32 e = vmath_f32_exp(-fabsf(x));

	return (x >= 0 ? 1.0f : e) / (1.0f + e);
}

static inline f64 vmath_f64_sigmoid(f64 x)
{
	f64 e = vmath_f64_exp(-fabs(x));

	return (x >= 0 ? 1.0 : e) / (1.0 + e);
}

/* sin and cos of |r| <= pi/4. */
static inline f32 vmath_f32_sin_octant(f32 r)
{
	f32 z = r * r;

	return fmaf(r * z, fmaf(fmaf(-0x1.990550p-13f, z, 0x1.1106b6p-7f), z, -0x1.555546p-3f), r);
}

static inline f32 vmath_f32_cos_octant(f32 r)
{
	f32 z = r * r;
	f32 p = fmaf(fmaf(0x1.9a6df0p-16f, z, -0x1.6c0e74p-10f), z, 0x1.55554ep-5f);

	return fmaf(z * z, p, fmaf(z, -0.5f, 1.0f));
}

static inline f64 vmath_f64_sin_octant(f64 r)
{
	f64 z = r * r;
	f64 p = 0x1.5d868879b729dp-33;

	p = fma(p, z, -0x1.ae5e4943f8442p-26);
	p = fma(p, z, 0x1.71de356bb3b85p-19);
	p = fma(p, z, -0x1.a01a019c2cbb5p-13);
	p = fma(p, z, 0x1.111111110fb34p-7);
	p = fma(p, z, -0x1.555555555554cp-3);
	return fma(r * z, p, r);
}

static inline f64 vmath_f64_cos_octant(f64 r)
{
	f64 z = r * r;
	f64 p = -0x1.8ff8f0915785fp-37;

	p = fma(p, z, 0x1.1eea87d17b913p-29);
	p = fma(p, z, -0x1.27e4f902298d4p-22);
	p = fma(p, z, 0x1.a01a019e22edbp-16);
	p = fma(p, z, -0x1.6c16c16c16126p-10);
	p = fma(p, z, 0x1.5555555555553p-5);
	return fma(z * z, p, fma(z, -0.5, 1.0));
}

/*
 * Up to these the three parts of pi/2 keep every digit of the remainder.  Above, the results are
 * wrong, though nothing traps: there the caller uses libm.
 */
#define VMATH_F32_TRIG_MAX 0x1p14f
#define VMATH_F64_TRIG_MAX 0x1p30

/* sin(x + quarter pi/2). */
static inline f32 vmath_f32_trig_near(f32 x, uint32_t quarter)
{
	f32 sum = fmaf(x, 0x1.45f306p-1f, F32_ROUND);
	f32 k = sum - F32_ROUND;
	f32 r = fmaf(k, -0x1.921fb6p0f, x);
	uint32_t q = f32_bits(sum) + quarter;
	f32 y;

	r = fmaf(k, 0x1.777a5cp-25f, r);
	r = fmaf(k, 0x1.ee59dap-50f, r);
	y = q & 1 ? vmath_f32_cos_octant(r) : vmath_f32_sin_octant(r);
	return f32_from_bits(f32_bits(y) ^ (q & 2) << 30);
}

static inline f64 vmath_f64_trig_near(f64 x, uint64_t quarter)
{
	f64 sum = fma(x, 0x1.45f306dc9c883p-1, F64_ROUND);
	f64 k = sum - F64_ROUND;
	f64 r = fma(k, -0x1.921fb54442d18p0, x);
	uint64_t q = f64_bits(sum) + quarter;
	f64 y;

	r = fma(k, -0x1.1a62633145c07p-54, r);
	r = fma(k, 0x1.f1976b7ed8fbcp-110, r);
	y = q & 1 ? vmath_f64_cos_octant(r) : vmath_f64_sin_octant(r);
	return f64_from_bits(f64_bits(y) ^ (q & 2) << 62);
}

/* The reduction loses only the sign of a zero. */
static inline f32 vmath_f32_sin_near(f32 x)
{
	return x == 0 ? x : vmath_f32_trig_near(x, 0);
}

static inline f64 vmath_f64_sin_near(f64 x)
{
	return x == 0 ? x : vmath_f64_trig_near(x, 0);
}

static inline f32 vmath_f32_cos_near(f32 x)
{
	return vmath_f32_trig_near(x, 1);
}

static inline f64 vmath_f64_cos_near(f64 x)
{
	return vmath_f64_trig_near(x, 1);
}

#endif
