/* SPDX-License-Identifier: MIT */
/* vector.h - the widest vectors of an instruction set, and their multiply-add */
#ifndef QUOITD_OPS_VECTOR_H
#define QUOITD_OPS_VECTOR_H

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "kernel.h"

#if defined(__AVX512F__)
#define OP_VECTOR_BYTES     64
#define OP_FMA_f32(a, b, c) ((f32v)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define OP_FMA_f64(a, b, c) ((f64v)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#elif defined(__AVX2__)
#define OP_VECTOR_BYTES     32
#define OP_FMA_f32(a, b, c) ((f32v)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define OP_FMA_f64(a, b, c) ((f64v)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#else
#define OP_VECTOR_BYTES     16
#define OP_FMA_f32(a, b, c) ((a) * (b) + (c))
#define OP_FMA_f64(a, b, c) ((a) * (b) + (c))
#endif

typedef f32 f32v __attribute__((vector_size(OP_VECTOR_BYTES)));
typedef f64 f64v __attribute__((vector_size(OP_VECTOR_BYTES)));

/* The same vectors, for elements at any address. */
typedef f32 f32u __attribute__((vector_size(OP_VECTOR_BYTES), aligned(4), may_alias));
typedef f64 f64u __attribute__((vector_size(OP_VECTOR_BYTES), aligned(8), may_alias));

#endif
