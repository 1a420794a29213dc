/* SPDX-License-Identifier: MIT */
/*
 * random_core.h - Philox 4x32-10 and the numbers made of its words, bit for bit as on the CPU.
 *
 * Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
 *
 * Normals come in pairs by the Box-Muller transform.  Only correctly rounded operations and
 * explicit fma are used: compile without contraction (-fmad=false, -ffp-contract=off).  The
 * polynomials are those of daemon/ops/vmath.h, which says where they come from.  For the compilers
 * of device and host alike, as element.h.
 */
#ifndef QUOIT_CUDA_RANDOM_CORE_H
#define QUOIT_CUDA_RANDOM_CORE_H

#include "kernels/element.h"
#include "kernels/walk.h"

#define RANDOM_BYTES  16 /* the numbers of a block */
#define RANDOM_WORDS  4  /* of a block: four f32 or two f64 */
#define RANDOM_ROUNDS 10

/* ---- where the numbers of a block go ---- */

/*
 * Do whole blocks lie together, so that each is written at once?  A part of a cut walk may be dense
 * and yet begin in the middle of one.  size: bytes of an element.
 */
ELEMENT bool random_is_whole(const struct walk *w, uint32_t size)
{
	return walk_is_dense(w) && w->operand[0].data % RANDOM_BYTES == 0 &&
	       w->first % (RANDOM_BYTES / size) == 0;
}

/* Where a whole block lies, in blocks from the walk's first element. */
ELEMENT uint64_t random_place(const struct walk *w, uint64_t block, uint32_t size)
{
	return block - w->first / (RANDOM_BYTES / size);
}

/* ---- words ---- */

/* Make block number `block` of a key. */
ELEMENT void random_block(uint64_t key, uint64_t block, uint32_t ret_word[RANDOM_WORDS])
{
	uint32_t k0 = (uint32_t)key;
	uint32_t k1 = (uint32_t)(key >> 32);
	uint32_t c0 = (uint32_t)block;
	uint32_t c1 = (uint32_t)(block >> 32);
	uint32_t c2 = 0;
	uint32_t c3 = 0;

	for (int round = 0; round < RANDOM_ROUNDS; round++) {
		uint64_t p0 = (uint64_t)0xd2511f53u * c0;
		uint64_t p1 = (uint64_t)0xcd9e8d57u * c2;

		c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
		c1 = (uint32_t)p1;
		c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
		c3 = (uint32_t)p0;
		k0 += 0x9e3779b9u;
		k1 += 0xbb67ae85u;
	}
	ret_word[0] = c0;
	ret_word[1] = c1;
	ret_word[2] = c2;
	ret_word[3] = c3;
}

/* ---- functions for Box-Muller, each only on the interval that it needs ---- */

/* ln of a normal positive number. */
ELEMENT float random_log_f32(float x)
{
	uint32_t u = element_f32_bits(x) - 0x3f3504f3u;
	float f = element_f32((u & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
	float e = (float)((int32_t)((u + 0x40000000u) >> 23) - 0x80);
	float p = -0x1.41f07cp-4f;
	float y;

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

ELEMENT double random_log_f64(double x)
{
	uint64_t u = element_f64_bits(x) - 0x3fe6a09e667f3bcdu;
	double f = element_f64((u & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1.0;
	double e = (double)((int32_t)((u + 0x4000000000000000u) >> 52) - 0x400);
	double s = f / (2.0 + f);
	double z = s * s;
	double half = 0.5 * f * f;
	double p = 0x1.2f51a15d2b9a7p-3;

	p = fma(p, z, 0x1.399d18ee75c67p-3);
	p = fma(p, z, 0x1.746648758677dp-3);
	p = fma(p, z, 0x1.c71c52bbd8953p-3);
	p = fma(p, z, 0x1.2492493fb0374p-2);
	p = fma(p, z, 0x1.99999999847bfp-2);
	p = fma(p, z, 0x1.555555555557cp-1);
	p = fma(s, fma(z, p, half), e * 0x1.a39ef35793c76p-33) - half;
	return fma(e, 0x1.62e42feep-1, f + p);
}

/* sin and cos of |r| <= pi/4. */
ELEMENT float random_sin_f32(float r)
{
	float z = r * r;

	return fmaf(r * z, fmaf(fmaf(-0x1.990550p-13f, z, 0x1.1106b6p-7f), z, -0x1.555546p-3f), r);
}

ELEMENT float random_cos_f32(float r)
{
	float z = r * r;
	float p = fmaf(fmaf(0x1.9a6df0p-16f, z, -0x1.6c0e74p-10f), z, 0x1.55554ep-5f);

	return fmaf(z * z, p, fmaf(z, -0.5f, 1.0f));
}

ELEMENT double random_sin_f64(double r)
{
	double z = r * r;
	double p = 0x1.5d868879b729dp-33;

	p = fma(p, z, -0x1.ae5e4943f8442p-26);
	p = fma(p, z, 0x1.71de356bb3b85p-19);
	p = fma(p, z, -0x1.a01a019c2cbb5p-13);
	p = fma(p, z, 0x1.111111110fb34p-7);
	p = fma(p, z, -0x1.555555555554cp-3);
	return fma(r * z, p, r);
}

ELEMENT double random_cos_f64(double r)
{
	double z = r * r;
	double p = -0x1.8ff8f0915785fp-37;

	p = fma(p, z, 0x1.1eea87d17b913p-29);
	p = fma(p, z, -0x1.27e4f902298d4p-22);
	p = fma(p, z, 0x1.a01a019e22edbp-16);
	p = fma(p, z, -0x1.6c16c16c16126p-10);
	p = fma(p, z, 0x1.5555555555553p-5);
	return fma(z * z, p, fma(z, -0.5, 1.0));
}

/* ---- the numbers of one block ---- */

/* 24 bits in [0, 1). */
ELEMENT void random_uniform_f32(const uint32_t word[RANDOM_WORDS], float ret_x[4])
{
	for (int i = 0; i < 4; i++)
		ret_x[i] = (float)(int32_t)(word[i] >> 8) * 0x1p-24f;
}

/* 53 bits in [0, 1): 27 of the first word, 26 of the second. */
ELEMENT void random_uniform_f64(const uint32_t word[RANDOM_WORDS], double ret_x[2])
{
	for (int i = 0; i < 2; i++) {
		double high = (double)(int32_t)(word[2 * i] >> 5);
		double low = (double)(int32_t)(word[2 * i + 1] >> 6);

		ret_x[i] = fma(high, 0x1p-27, low * 0x1p-53);
	}
}

/*
 * The first word gives u in (0, 1], the second the angle.  Its low 30 bits are t in [-pi/4, pi/4);
 * of its highest two, one turns by pi/2 (sine and cosine change places), one by pi (both change
 * sign).
 */
ELEMENT void random_normal_f32(const uint32_t word[RANDOM_WORDS], float ret_x[4])
{
	for (int i = 0; i < 4; i += 2) {
		uint32_t b = word[i + 1];
		float u = fmaf((float)(int32_t)(word[i] >> 1), 0x1p-31f, 0x1p-32f);
		float radius = sqrtf(-2.0f * random_log_f32(u));
		float t = (float)(int32_t)(b << 2) * (0x1.921fb6p0f * 0x1p-32f);
		float s = random_sin_f32(t);
		float c = random_cos_f32(t);

		radius = element_f32(element_f32_bits(radius) ^ (b & 0x80000000u));
		ret_x[i] = radius * (b & 0x40000000u ? s : c);
		ret_x[i + 1] = radius * (b & 0x40000000u ? c : s);
	}
}

/* As above, with 52 bits of u and 61 of the angle. */
ELEMENT void random_normal_f64(const uint32_t word[RANDOM_WORDS], double ret_x[2])
{
	const double turn = 0x1.921fb54442d18p0 * 0x1p-32; /* pi/2 */
	uint64_t a = (uint64_t)word[0] << 32 | word[1];
	uint32_t b = word[2];
	double u = element_f64(a >> 12 | 0x3ff0000000000000u) - (1.0 - 0x1p-53);
	double radius = sqrt(-2.0 * random_log_f64(u));
	double fine = (double)(int32_t)(word[3] >> 1);
	double t = fma(fine, 0x1p-31 * 4, (double)(int32_t)(b << 2)) * turn;
	double s = random_sin_f64(t);
	double c = random_cos_f64(t);

	radius = element_f64(element_f64_bits(radius) ^ (uint64_t)(b & 0x80000000u) << 32);
	ret_x[0] = radius * (b & 0x40000000u ? s : c);
	ret_x[1] = radius * (b & 0x40000000u ? c : s);
}

#endif
