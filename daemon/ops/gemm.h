/* SPDX-License-Identifier: MIT */
/*
 * gemm.h - one matrix product and what can compute it; private to daemon/ops.
 */
#ifndef QUOITD_OPS_GEMM_H
#define QUOITD_OPS_GEMM_H

#include "ops/kernel.h"

#define gemm_builtin OP_NAME(gemm_builtin)

/* A matrix with any strides, in elements: element (i, j) is at i * row + j * column. */
struct gemm_matrix {
	void *data;
	int64_t row;
	int64_t column;
};

/* C (m x n) = alpha A (m x k) B (k x n) + beta C; C is not read if beta is 0. */
struct gemm {
	uint8_t dtype; /* QUOIT_F32 or QUOIT_F64 */
	uint64_t m, n, k;
	double alpha, beta;
	struct gemm_matrix a, b, c;
};

/*
 * Our own: any strides, 40 KiB of stack.  An element of C has the same bits whatever
 * rows and columns are computed with it.
 */
void gemm_builtin(const struct gemm *gemm);

#endif
