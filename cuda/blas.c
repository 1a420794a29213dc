/* SPDX-License-Identifier: MIT */
/* blas.c - load cuBLAS, if it is there, and call it. */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#include <quoit/device.h>

#include "blas.h"
#include "errors.h"

bool blas_open(struct blas *ret_blas)
{
	/* Looked for by the loader, and in the toolkit's folder, which ldconfig may not know. */
	static const char *const names[] = {"libcublas.so.13", "libcublas.so.12",
					    "/usr/local/cuda/lib64/libcublas.so.13",
					    "/usr/local/cuda/lib64/libcublas.so.12"};
	struct blas blas = {NULL};

	*ret_blas = blas;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !blas.library; i++)
		blas.library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!blas.library)
		return false;
	*(void **)&blas.create = dlsym(blas.library, "cublasCreate_v2");
	*(void **)&blas.destroy = dlsym(blas.library, "cublasDestroy_v2");
	*(void **)&blas.set_stream = dlsym(blas.library, "cublasSetStream_v2");
	*(void **)&blas.set_mode = dlsym(blas.library, "cublasSetMathMode");
	*(void **)&blas.multiply_one = dlsym(blas.library, "cublasGemmEx");
	*(void **)&blas.multiply = dlsym(blas.library, "cublasGemmStridedBatchedEx");
	if (!blas.create || !blas.destroy || !blas.set_stream || !blas.set_mode ||
	    !blas.multiply_one || !blas.multiply) {
		dlclose(blas.library);
		return false;
	}
	*ret_blas = blas;
	return true;
}

void blas_close(struct blas *blas)
{
	if (blas->library)
		dlclose(blas->library);
	*blas = (struct blas){NULL};
}

/*
 * The library's handle is a pointer already; ours is the same pointer under its own type.  Partial
 * sums of 16-bit types are added in f32, too, so results are rounded once.
 */
struct blas_handle *blas_handle_new(const struct blas *blas, cudaStream_t stream)
{
	cublasHandle_t handle;

	if (blas->create(&handle) != CUBLAS_STATUS_SUCCESS)
		return NULL;
	if (blas->set_stream(handle, stream) != CUBLAS_STATUS_SUCCESS ||
	    blas->set_mode(handle, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION) !=
		    CUBLAS_STATUS_SUCCESS) {
		(void)blas->destroy(handle);
		return NULL;
	}
	return (struct blas_handle *)handle;
}

void blas_handle_free(const struct blas *blas, struct blas_handle *handle)
{
	if (handle)
		(void)blas->destroy((cublasHandle_t)handle);
}

static cudaDataType blas_type(uint8_t dtype)
{
	switch (dtype) {
	case QUOIT_F32:
		return CUDA_R_32F;
	case QUOIT_F64:
		return CUDA_R_64F;
	case QUOIT_BF16:
		return CUDA_R_16BF;
	default:
		return CUDA_R_16F;
	}
}

/*
 * What a bad status means.  The library has its own runtime, whose errors ours does not see:
 * querying the stream tells whether the context is broken.
 */
static int blas_code(cublasStatus_t status, cudaStream_t stream, bool reads_c)
{
	const int err = errors_code(cudaStreamQuery(stream));

	if (errors_is_sticky(err))
		return err;
	switch (status) {
	case CUBLAS_STATUS_ALLOC_FAILED:
	case CUBLAS_STATUS_INVALID_VALUE:
	case CUBLAS_STATUS_ARCH_MISMATCH:
	case CUBLAS_STATUS_NOT_SUPPORTED:
		return -ENOTSUP; /* the product has not begun */
	default:
		return reads_c ? -EIO : -ENOTSUP;
	}
}

/* Sums are made in f32; in f64 for f64. */
int blas_multiply(const struct blas *blas, struct blas_handle *handle, cudaStream_t stream,
		  const struct blas_product *product)
{
	const struct blas_product *p = product;
	const cudaDataType type = blas_type(p->dtype);
	const cudaDataType c_type = blas_type(p->c_dtype);
	const bool wide = p->dtype == QUOIT_F64;
	const float alpha = (float)p->alpha;
	const float beta = (float)p->beta;
	const cublasComputeType_t compute = wide      ? CUBLAS_COMPUTE_64F
					    : p->tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
						      : CUBLAS_COMPUTE_32F;
	const void *factor = wide ? (const void *)&p->alpha : &alpha;
	const void *added = wide ? (const void *)&p->beta : &beta;
	cublasStatus_t status;

	/* For batches the library may choose other kernels, even for one batch. */
	if (p->batches == 1)
		status = blas->multiply_one((cublasHandle_t)handle, p->a_is, p->b_is, p->m, p->n,
					    p->k, factor, (const void *)p->a, type, p->lda,
					    (const void *)p->b, type, p->ldb, added, (void *)p->c,
					    c_type, p->ldc, compute, CUBLAS_GEMM_DEFAULT);
	else
		status = blas->multiply((cublasHandle_t)handle, p->a_is, p->b_is, p->m, p->n, p->k,
					factor, (const void *)p->a, type, p->lda, p->a_step,
					(const void *)p->b, type, p->ldb, p->b_step, added,
					(void *)p->c, c_type, p->ldc, p->c_step, p->batches,
					compute, CUBLAS_GEMM_DEFAULT);
	return status == CUBLAS_STATUS_SUCCESS ? 0 : blas_code(status, stream, p->beta != 0);
}
