/* SPDX-License-Identifier: MIT */
/* blas.cuh - load cuBLAS as Quoit loads it */
#ifndef ANATOMY_BLAS_CUH
#define ANATOMY_BLAS_CUH

#include "anatomy/common.cuh"

static void *blas;
static cublasStatus_t (*create)(cublasHandle_t *), (*set_stream)(cublasHandle_t, cudaStream_t),
	(*sm_target)(cublasHandle_t, int);
static cublasStatus_t (*gemm)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
			      const void *, const void *, cudaDataType, int, const void *,
			      cudaDataType, int, const void *, void *, cudaDataType, int,
			      cublasComputeType_t, cublasGemmAlgo_t);
static void open_blas(void)
{
	if (blas)
		return;
	double a = now_us();
	blas = dlopen("libcublas.so.13", RTLD_NOW);
	if (!blas)
		blas = dlopen("libcublas.so.12", RTLD_NOW);
	say("dlopen cuBLAS", now_us() - a, "us");
	if (!blas) {
		printf("{\"error\": \"no cuBLAS: %s\"}\n", dlerror());
		fflush(stdout);
		return;
	}
	*(void **)&create = dlsym(blas, "cublasCreate_v2");
	*(void **)&set_stream = dlsym(blas, "cublasSetStream_v2");
	*(void **)&gemm = dlsym(blas, "cublasGemmEx");
	*(void **)&sm_target = dlsym(blas, "cublasSetSmCountTarget");
}

#endif
