/* SPDX-License-Identifier: MIT */
/* gemm.h - one matrix product, and the code that can compute it; private to daemon/ops */
#ifndef QUOITD_OPS_GEMM_H
#define QUOITD_OPS_GEMM_H

#include "kernel.h"

#define gemm_builtin  OP_NAME(gemm_builtin)
#define gemm_half     OP_NAME(gemm_half)
#define gemm_bf16_add OP_NAME(gemm_bf16_add)

/* A matrix with any strides, in elements: element (i, j) is at i * row + j * column. */
struct gemm_matrix {
	void *data;
	int64_t row;
	int64_t column;
};

/* C (m x n) = alpha A (m x k) B (k x n) + beta C; C is not read if beta is 0. */
struct gemm {
	uint8_t dtype;   /* of A and B */
	uint8_t c_dtype; /* as A and B; QUOIT_F32 is possible if they are halves */
	uint64_t m, n, k;
	double alpha, beta;
	struct gemm_matrix a, b, c;
};

/*
 * The built-in code for float32 and float64: any strides, 1.2 MiB of stack.  An element of C has
 * the same bits whatever rows and columns are computed with it.
 */
void gemm_builtin(const struct gemm *gemm);

/*
 * For bfloat16 and float16: any strides, up to 1.2 MiB of stack, the same bits as above.  Sums are
 * made in float32 and rounded once.
 */
void gemm_half(const struct gemm *gemm);

/*
 * The block that gemm_half computes at a time, in elements: what it needs of A and B stays in the
 * core's cache.  Whole multiples of HEIGHT and WIDTH, the tile of gemm_bf16_add.
 */
#define GEMM_BLOCK_HEIGHT  12
#define GEMM_BLOCK_WIDTH   32
#define GEMM_BLOCK_ROWS    144
#define GEMM_BLOCK_COLUMNS 256
#define GEMM_BLOCK_DEPTH   256

static inline uint64_t gemm_block_size(uint64_t left, uint64_t most)
{
	return left < most ? left : most;
}

static inline uint64_t gemm_block_round(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/*
 * sum += A B for one block of bfloat16, with k at least 1.  sum is row-major with `lead` columns,
 * and has room for whole multiples of HEIGHT and WIDTH; what is written beyond the block is
 * undefined.  False: this CPU or instruction set cannot do it, and nothing is done.
 */
bool gemm_bf16_add(const struct gemm *block, f32 *sum, uint64_t lead);

#endif
