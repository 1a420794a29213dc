/* SPDX-License-Identifier: MIT */
/* gemm_thin.h - products with a vector; private to gemm.c */
#ifndef QUOITD_OPS_GEMM_THIN_H
#define QUOITD_OPS_GEMM_THIN_H

#include <string.h>

#include "gemm.h"

#define thin_make OP_NAME(thin_make)
#define thin_run  OP_NAME(thin_run)
#define thin_dot  OP_NAME(thin_dot)

/* Elements of C at a time: their sums stay in the L1 cache. */
#define THIN_WIDTH 1024

/* C, with `outputs` elements, is a matrix times a vector of `depth`.  Steps are in elements. */
struct thin {
	uint8_t dtype;
	uint64_t outputs, depth;
	const void *matrix;
	int64_t across; /* of the matrix to the next element of C, */
	int64_t down;   /* and of the vector; one of the two is 1 */
	const void *vector;
	int64_t vector_step;
	void *c;
	int64_t c_step;
	double alpha, beta;
};

/* False: it is not such a product, or other code is faster for its matrix's strides. */
bool thin_make(const struct gemm *gemm, struct thin *ret);

/* Compute elements begin..end - 1 of C; their bits do not depend on the range. */
void thin_run(const struct thin *t, uint64_t begin, uint64_t end);

/* For a product with one element and down == 1: the sum over begin..end - 1 of its depth. */
double thin_dot(const struct thin *t, uint64_t begin, uint64_t end);

#endif
