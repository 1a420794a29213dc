/* SPDX-License-Identifier: MIT */
/* blas.h - cuBLAS, if it is there: loaded when a device is opened, never linked. */
#ifndef QUOIT_CUDA_BLAS_H
#define QUOIT_CUDA_BLAS_H

#include <stdbool.h>
#include <stdint.h>

#include <cublas_v2.h>

struct blas_handle; /* one per stream: products of two streams share no workspace */

struct blas {
	void *library; /* NULL: there is none */
	cublasStatus_t (*create)(cublasHandle_t *);
	cublasStatus_t (*destroy)(cublasHandle_t);
	cublasStatus_t (*set_stream)(cublasHandle_t, cudaStream_t);
	cublasStatus_t (*set_mode)(cublasHandle_t, cublasMath_t);
	cublasStatus_t (*multiply_one)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int,
				       int, int, const void *, const void *, cudaDataType, int,
				       const void *, cudaDataType, int, const void *, void *,
				       cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);
	cublasStatus_t (*multiply)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
				   int, const void *, const void *, cudaDataType, int, long long,
				   const void *, cudaDataType, int, long long, const void *, void *,
				   cudaDataType, int, long long, int, cublasComputeType_t,
				   cublasGemmAlgo_t);
};

/* One product, or several at even distances, in the column-major terms of cuBLAS. */
struct blas_product {
	cublasOperation_t a_is, b_is;
	int m, n, k;
	int lda, ldb, ldc;
	uint64_t a, b, c;
	long long a_step, b_step, c_step;
	int batches;
	double alpha, beta;
	uint8_t dtype;   /* of A and B */
	uint8_t c_dtype; /* the same, or QUOIT_F32 if A and B have 16 bits */
	bool tf32;
};

/* Load cuBLAS; false: it is not available, and *ret_blas is empty. */
bool blas_open(struct blas *ret_blas);
void blas_close(struct blas *blas);

/* NULL: the library refuses, mostly for want of memory.  Takes milliseconds. */
struct blas_handle *blas_handle_new(const struct blas *blas, cudaStream_t stream);
void blas_handle_free(const struct blas *blas, struct blas_handle *handle);

/*
 * Put the product into the handle's stream.  0; -ENOTSUP: not by this library: C is unchanged, or
 * its old contents do not count; -EIO: it has failed, and C may hold anything; another error as in
 * errors.h.
 */
int blas_multiply(const struct blas *blas, struct blas_handle *handle, cudaStream_t stream,
		  const struct blas_product *product);

#endif
