/* SPDX-License-Identifier: MIT */
/*
 * blas.c - emulate the part of cuBLAS that folder cuda/ calls, by OpenBLAS; a library of its own.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <cublas_v2.h>

#include "emulator.h"

/* ---- a BLAS of the host ---- */

typedef void single_product(int order, int a_is, int b_is, int m, int n, int k, float alpha,
			    const float *a, int lda, const float *b, int ldb, float beta, float *c,
			    int ldc);
typedef void wide_product(int order, int a_is, int b_is, int m, int n, int k, double alpha,
			  const double *a, int lda, const double *b, int ldb, double beta,
			  double *c, int ldc);

#define BY_COLUMNS 102
#define AS_IT_IS   111
#define TURNED     112

static single_product *multiply_single;
static wide_product *multiply_wide;

static bool find_host_blas(void)
{
	void *library = multiply_wide ? NULL : dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);

	if (library) {
		*(void **)&multiply_single = dlsym(library, "cblas_sgemm");
		*(void **)&multiply_wide = dlsym(library, "cblas_dgemm");
	}
	return multiply_single && multiply_wide;
}

/* ---- handles ---- */

struct cublasContext {
	cudaStream_t stream;
};

cublasStatus_t cublasCreate_v2(cublasHandle_t *ret)
{
	struct cublasContext *c = calloc(1, sizeof *c);

	if (!c || !find_host_blas() || emulator_park("cublasCreate") != cudaSuccess) {
		free(c);
		return CUBLAS_STATUS_ALLOC_FAILED;
	}
	*ret = c;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t c)
{
	(void)emulator_settle("cublasDestroy");
	free(c);
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t c, cudaStream_t stream)
{
	c->stream = stream;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t c, cublasMath_t mode)
{
	(void)c;
	return mode == CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION
		       ? CUBLAS_STATUS_SUCCESS
		       : CUBLAS_STATUS_INVALID_VALUE;
}

/* ---- 16 bits ---- */

__extension__ typedef _Float16 half_float;

static size_t size_of(cudaDataType type)
{
	return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2;
}

static float widen(const char *at, cudaDataType type)
{
	uint16_t brain;
	uint32_t bits;
	half_float half;
	float x;

	if (type == CUDA_R_16F) {
		memcpy(&half, at, sizeof half);
		return (float)half;
	}
	memcpy(&brain, at, sizeof brain);
	bits = (uint32_t)brain << 16;
	memcpy(&x, &bits, sizeof x);
	return x;
}

/* Round to nearest, ties to even. */
static void narrow(char *at, cudaDataType type, float x)
{
	const half_float half = (half_float)x;
	uint16_t brain = 0x7fff;
	uint32_t bits;

	if (type == CUDA_R_16F) {
		memcpy(at, &half, sizeof half);
		return;
	}
	memcpy(&bits, &x, sizeof bits);
	if (x == x)
		brain = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
	memcpy(at, &brain, sizeof brain);
}

/* ---- matrices ---- */

struct matrix {
	char *data;
	cudaDataType type;
	int rows, columns;    /* as stored: by columns */
	long long lead, step; /* elements: between columns, and between batches */
	bool turned;
};

struct product {
	struct matrix a, b, c;
	int m, n, k, batches;
	double alpha, beta;
	bool tf32; /* round factors to 10 bits of fraction */
};

static char *batch_of(const struct matrix *m, int batch)
{
	return m->data + batch * m->step * (long long)size_of(m->type);
}

static bool is_there(const struct matrix *m, int batches)
{
	const long long last = m->rows - 1 + (m->columns - 1) * m->lead + (batches - 1) * m->step;

	return m->lead >= m->rows && m->step >= 0 &&
	       emulator_reaches(EMULATOR_ON_DEVICE, m->data, (size_t)(last + 1) * size_of(m->type));
}

/* A dense copy in f32; the caller frees it. */
static float *as_single(const struct matrix *m, const char *data)
{
	float *x = malloc((size_t)m->rows * (size_t)m->columns * sizeof *x);

	if (!x)
		emulator_refuse("no memory for a product");
	for (int j = 0; j < m->columns; j++)
		for (int i = 0; i < m->rows; i++) {
			const char *at = data + (i + j * m->lead) * (long long)size_of(m->type);
			float *to = &x[(size_t)j * (size_t)m->rows + (size_t)i];

			if (m->type == CUDA_R_32F)
				memcpy(to, at, sizeof *to);
			else
				*to = widen(at, m->type);
		}
	return x;
}

/* Round to 10 bits of fraction, to nearest. */
static void round_to_tf32(float *x, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t bits;

		memcpy(&bits, &x[i], sizeof bits);
		if ((bits & 0x7f800000) != 0x7f800000)
			bits = (bits + 0x1000) & ~0x1fffu;
		memcpy(&x[i], &bits, sizeof bits);
	}
}

/* Multiply by way of dense matrices of f32. */
static void multiply_narrow(const struct product *p, int batch)
{
	char *data = batch_of(&p->c, batch);
	float *a = as_single(&p->a, batch_of(&p->a, batch));
	float *b = as_single(&p->b, batch_of(&p->b, batch));
	float *c = as_single(&p->c, data);

	if (p->tf32) {
		round_to_tf32(a, (size_t)p->m * (size_t)p->k);
		round_to_tf32(b, (size_t)p->k * (size_t)p->n);
	}
	multiply_single(BY_COLUMNS, p->a.turned ? TURNED : AS_IT_IS,
			p->b.turned ? TURNED : AS_IT_IS, p->m, p->n, p->k, (float)p->alpha, a,
			p->a.rows, b, p->b.rows, (float)p->beta, c, p->m);
	for (int j = 0; j < p->n; j++)
		for (int i = 0; i < p->m; i++) {
			const float x = c[(size_t)j * (size_t)p->m + (size_t)i];
			char *at = data + (i + j * p->c.lead) * (long long)size_of(p->c.type);

			if (p->c.type == CUDA_R_32F)
				memcpy(at, &x, sizeof x);
			else
				narrow(at, p->c.type, x);
		}
	free(a);
	free(b);
	free(c);
}

static void multiply_batch(const struct product *p, int batch)
{
	const int a_is = p->a.turned ? TURNED : AS_IT_IS, b_is = p->b.turned ? TURNED : AS_IT_IS;
	void *a = batch_of(&p->a, batch), *b = batch_of(&p->b, batch), *c = batch_of(&p->c, batch);

	if (p->a.type == CUDA_R_64F)
		multiply_wide(BY_COLUMNS, a_is, b_is, p->m, p->n, p->k, p->alpha, a, (int)p->a.lead,
			      b, (int)p->b.lead, p->beta, c, (int)p->c.lead);
	else if (p->a.type == CUDA_R_32F && !p->tf32)
		multiply_single(BY_COLUMNS, a_is, b_is, p->m, p->n, p->k, (float)p->alpha, a,
				(int)p->a.lead, b, (int)p->b.lead, (float)p->beta, c,
				(int)p->c.lead);
	else
		multiply_narrow(p, batch);
}

static void multiply_task(void *argument)
{
	struct product *p = argument;

	for (int i = 0; i < p->batches && !emulator_broken(); i++)
		multiply_batch(p, i);
	free(p);
}

/* Follows cuBLAS's manual: by columns; leading dimensions are not less than the rows as stored. */
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t a_is,
					  cublasOperation_t b_is, int m, int n, int k,
					  const void *alpha, const void *a, cudaDataType a_type,
					  int lda, long long a_step, const void *b,
					  cudaDataType b_type, int ldb, long long b_step,
					  const void *beta, void *c, cudaDataType c_type, int ldc,
					  long long c_step, int batches,
					  cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
	const bool wide = compute == CUBLAS_COMPUTE_64F;
	const bool a_turned = a_is != CUBLAS_OP_N, b_turned = b_is != CUBLAS_OP_N;
	const struct product what = {
		.a = {(char *)(uintptr_t)a, a_type, a_turned ? k : m, a_turned ? m : k, lda, a_step,
		      a_turned},
		.b = {(char *)(uintptr_t)b, b_type, b_turned ? n : k, b_turned ? k : n, ldb, b_step,
		      b_turned},
		.c = {c, c_type, m, n, ldc, c_step, false},
		.m = m,
		.n = n,
		.k = k,
		.batches = batches,
		.alpha = wide ? *(const double *)alpha : (double)*(const float *)alpha,
		.beta = wide ? *(const double *)beta : (double)*(const float *)beta,
		.tf32 = compute == CUBLAS_COMPUTE_32F_FAST_TF32 && a_type == CUDA_R_32F,
	};
	struct product *p;
	cudaError_t err;

	(void)algorithm;
	err = emulator_begin();
	if (err)
		return err == cudaErrorMemoryAllocation ? CUBLAS_STATUS_ALLOC_FAILED
							: CUBLAS_STATUS_EXECUTION_FAILED;
	if (m < 1 || n < 1 || k < 1 || batches < 1)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (a_type != b_type || wide != (a_type == CUDA_R_64F))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	if (!is_there(&what.a, batches) || !is_there(&what.b, batches) ||
	    !is_there(&what.c, batches))
		emulator_refuse("a product of matrices that are not there");
	p = malloc(sizeof *p);
	if (p)
		*p = what;
	return emulator_put(handle->stream, multiply_task, p) ? CUBLAS_STATUS_EXECUTION_FAILED
							      : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t a_is, cublasOperation_t b_is,
			    int m, int n, int k, const void *alpha, const void *a,
			    cudaDataType a_type, int lda, const void *b, cudaDataType b_type,
			    int ldb, const void *beta, void *c, cudaDataType c_type, int ldc,
			    cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
	return cublasGemmStridedBatchedEx(handle, a_is, b_is, m, n, k, alpha, a, a_type, lda, 0, b,
					  b_type, ldb, 0, beta, c, c_type, ldc, 0, 1, compute,
					  algorithm);
}
