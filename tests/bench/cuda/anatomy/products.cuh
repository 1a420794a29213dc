/* SPDX-License-Identifier: MIT */
/*
 * products.cuh - measure bfloat16 products of cuBLAS with different numbers, and beside a resident
 * kernel
 */
#ifndef ANATOMY_PRODUCTS_CUH
#define ANATOMY_PRODUCTS_CUH

#include "anatomy/blas.cuh"
#include "anatomy/ring.cuh"

static void products(void)
{
	open_blas();
	if (!blas)
		return;
	cublasHandle_t h;
	create(&h);
	set_stream(h, s);
	const int n = 4096;
	const float one = 1, zero = 0;
	std::vector<__nv_bfloat16> host((size_t)n * n);
	__nv_bfloat16 *a, *c;
	CK(cudaMalloc(&a, 2ull * n * n));
	CK(cudaMalloc(&c, 2ull * n * n));
	cudaDeviceProp p;
	cudaGetDeviceProperties(&p, 0);
	auto go = [&](const char *k, int m) {
		auto f = [&](int q) {
			for (int i = 0; i < q; i++)
				gemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, CUDA_R_16BF, n,
				     a, CUDA_R_16BF, n, &zero, c, CUDA_R_16BF, n,
				     CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
		};
		f(m / 10 + 1);
		cudaStreamSynchronize(s);
		double t = now_us();
		f(m);
		cudaStreamSynchronize(s);
		t = (now_us() - t) / m;
		char x[128];
		snprintf(x, sizeof x, "bf16 4096: %s", k);
		say(x, t, "us");
	};
	for (int normal = 0; normal < 2; normal++) {
		uint32_t st = 1;
		auto u = [&] {
			st = st * 1664525u + 1013904223u;
			return ((st >> 8) + 1) * 0x1p-24f;
		};
		for (auto &x : host)
			x = __float2bfloat16(normal ? sqrtf(-2 * logf(u())) * cosf(6.2831853f * u())
						    : u() * 4 - 2);
		CK(cudaMemcpy(a, host.data(), 2ull * n * n, cudaMemcpyHostToDevice));
		for (int i = 0; i < 2; i++)
			go(normal ? "normal data" : "uniform -2..2 data", 300);
	}
	ring *r;
	CK(cudaHostAlloc((void **)&r, sizeof *r, cudaHostAllocMapped));
	memset(r, 0, sizeof *r);
	stay<<<1, 256, 0, high>>>(r, PLAIN, mem, 20000000000ull);
	usleep(10000);
	go("beside a resident kernel", 300);
	sm_target(h, p.multiProcessorCount - 1);
	go("beside it, SM count target one less", 300);
	sm_target(h, p.multiProcessorCount - 2);
	go("beside it, SM count target two less", 300);
	__atomic_store_n(&r->tail, 0xffffffffu, __ATOMIC_SEQ_CST);
	CK(cudaDeviceSynchronize());
	sm_target(h, 0);
	go("alone again", 300);
}

#endif
