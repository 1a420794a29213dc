/* SPDX-License-Identifier: MIT */
/*
 * philox.h - Philox 4x32-10: random bits as a function of a key and a counter.
 *
 * Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.  Block b of
 * key k is the cipher of counter {b, b >> 32, 0, 0} under {k, k >> 32}.  Any block can be made by
 * itself, so tiles need no state and any cut gives the same bits.
 *
 * The vector version keeps each 32-bit word in a lane of 64 bits, which the 32 x 32 -> 64 bit
 * multiplication takes.  It never reads the upper halves, which are undefined.  Compilers do not
 * find this form by themselves.
 */
#ifndef QUOITD_OPS_PHILOX_H
#define QUOITD_OPS_PHILOX_H

#include <stddef.h>
#include <stdint.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define PHILOX_WORDS  4 /* 32-bit words in a block */
#define PHILOX_ROUNDS 10
#define PHILOX_M0     0xd2511f53u
#define PHILOX_M1     0xcd9e8d57u
#define PHILOX_W0     0x9e3779b9u
#define PHILOX_W1     0xbb67ae85u

static inline void philox_block(uint32_t counter[PHILOX_WORDS], uint32_t k0, uint32_t k1)
{
	for (int round = 0; round < PHILOX_ROUNDS; round++) {
		uint64_t p0 = (uint64_t)PHILOX_M0 * counter[0];
		uint64_t p1 = (uint64_t)PHILOX_M1 * counter[2];

		counter[0] = (uint32_t)(p1 >> 32) ^ counter[1] ^ k0;
		counter[1] = (uint32_t)p1;
		counter[2] = (uint32_t)(p0 >> 32) ^ counter[3] ^ k1;
		counter[3] = (uint32_t)p0;
		k0 += PHILOX_W0;
		k1 += PHILOX_W1;
	}
}

#if defined(__AVX512F__) && defined(__AVX512DQ__)

#define PHILOX_GROUP 16   /* blocks at once */
#define PHILOX_XOR3  0x96 /* the truth table of a ^ b ^ c */

struct philox_state {
	__m512i c0, c1, c2, c3; /* eight blocks */
};

static inline struct philox_state philox_round(struct philox_state s, __m512i k0, __m512i k1)
{
	__m512i p0 = _mm512_mul_epu32(s.c0, _mm512_set1_epi64(PHILOX_M0));
	__m512i p1 = _mm512_mul_epu32(s.c2, _mm512_set1_epi64(PHILOX_M1));

	return (struct philox_state){
		_mm512_ternarylogic_epi64(_mm512_srli_epi64(p1, 32), s.c1, k0, PHILOX_XOR3), p1,
		_mm512_ternarylogic_epi64(_mm512_srli_epi64(p0, 32), s.c3, k1, PHILOX_XOR3), p0};
}

static inline struct philox_state philox_start(uint64_t block)
{
	__m512i lanes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
	__m512i low = _mm512_add_epi64(_mm512_set1_epi64((long long)block), lanes);

	return (struct philox_state){low, _mm512_srli_epi64(low, 32), _mm512_setzero_si512(),
				     _mm512_setzero_si512()};
}

/* Store eight blocks, word by word, in the order of their numbers. */
static inline void philox_store(uint32_t *out, struct philox_state s)
{
	const __mmask16 odd = 0xaaaa;
	__m512i a = _mm512_mask_blend_epi32(odd, s.c0, _mm512_slli_epi64(s.c1, 32));
	__m512i b = _mm512_mask_blend_epi32(odd, s.c2, _mm512_slli_epi64(s.c3, 32));
	__m512i first = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
	__m512i second = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);

	_mm512_storeu_si512(out, _mm512_permutex2var_epi64(a, first, b));
	_mm512_storeu_si512(out + 16, _mm512_permutex2var_epi64(a, second, b));
}

static inline __m512i philox_key(uint32_t k)
{
	return _mm512_set1_epi64(k);
}

#define PHILOX_LANES 8

#elif defined(__AVX2__)

#define PHILOX_GROUP 8

struct philox_state {
	__m256i c0, c1, c2, c3; /* four blocks */
};

static inline struct philox_state philox_round(struct philox_state s, __m256i k0, __m256i k1)
{
	__m256i p0 = _mm256_mul_epu32(s.c0, _mm256_set1_epi64x(PHILOX_M0));
	__m256i p1 = _mm256_mul_epu32(s.c2, _mm256_set1_epi64x(PHILOX_M1));

	return (struct philox_state){
		_mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p1, 32), s.c1), k0), p1,
		_mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p0, 32), s.c3), k1), p0};
}

static inline struct philox_state philox_start(uint64_t block)
{
	__m256i lanes = _mm256_set_epi64x(3, 2, 1, 0);
	__m256i low = _mm256_add_epi64(_mm256_set1_epi64x((long long)block), lanes);

	return (struct philox_state){low, _mm256_srli_epi64(low, 32), _mm256_setzero_si256(),
				     _mm256_setzero_si256()};
}

static inline void philox_store(uint32_t *out, struct philox_state s)
{
	__m256i a = _mm256_blend_epi32(s.c0, _mm256_slli_epi64(s.c1, 32), 0xaa);
	__m256i b = _mm256_blend_epi32(s.c2, _mm256_slli_epi64(s.c3, 32), 0xaa);
	__m256i even = _mm256_unpacklo_epi64(a, b); /* blocks 0 and 2 */
	__m256i odd = _mm256_unpackhi_epi64(a, b);  /* blocks 1 and 3 */

	_mm256_storeu_si256((__m256i *)out, _mm256_permute2x128_si256(even, odd, 0x20));
	_mm256_storeu_si256((__m256i *)(out + 8), _mm256_permute2x128_si256(even, odd, 0x31));
}

static inline __m256i philox_key(uint32_t k)
{
	return _mm256_set1_epi64x(k);
}

#define PHILOX_LANES 4

#else

#define PHILOX_GROUP 1

#endif

/* Make PHILOX_GROUP blocks from `block` on, in two chains so that multiplications overlap. */
static inline void philox_group(uint32_t *out, uint64_t key, uint64_t block)
{
	uint32_t k0 = (uint32_t)key;
	uint32_t k1 = (uint32_t)(key >> 32);

#ifdef PHILOX_LANES
	struct philox_state a = philox_start(block);
	struct philox_state b = philox_start(block + PHILOX_LANES);

	for (int round = 0; round < PHILOX_ROUNDS; round++) {
		a = philox_round(a, philox_key(k0), philox_key(k1));
		b = philox_round(b, philox_key(k0), philox_key(k1));
		k0 += PHILOX_W0;
		k1 += PHILOX_W1;
	}
	philox_store(out, a);
	philox_store(out + PHILOX_LANES * PHILOX_WORDS, b);
#else
	out[0] = (uint32_t)block;
	out[1] = (uint32_t)(block >> 32);
	out[2] = 0;
	out[3] = 0;
	philox_block(out, k0, k1);
#endif
}

/* Make the words of `blocks` blocks, a multiple of PHILOX_GROUP, from `block` on. */
static inline void philox_fill(uint32_t *out, uint64_t key, uint64_t block, size_t blocks)
{
	for (size_t i = 0; i < blocks; i += PHILOX_GROUP)
		philox_group(out + i * PHILOX_WORDS, key, block + i);
}

#endif
