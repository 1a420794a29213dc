/* SPDX-License-Identifier: MIT */
/* waits.cuh - find the calls that wait for a resident kernel, which stays for 300 ms */
#ifndef ANATOMY_WAITS_CUH
#define ANATOMY_WAITS_CUH

#include "anatomy/blas.cuh"
#include "anatomy/launch.cuh"

__global__ void linger(uint64_t ns)
{
	uint64_t b = timer();
	while (timer() - b < ns)
		;
}
__global__ void never_loaded(float *m)
{
	m[0] += 1;
}
__global__ void never_loaded_either(float *m)
{
	m[0] += 2;
}
__global__ void hungry(float *m, int n)
{
	float big[2000];
	for (int i = 0; i < n; i++)
		big[(i * 7) % 2000] = m[i & 1];
	m[0] = big[n % 2000];
}
template <class F> static void waits(const char *k, F f)
{
	CK(cudaDeviceSynchronize());
	linger<<<1, 32, 0, high>>>(300000000ull);
	double a = now_us();
	usleep(2000);
	double b = now_us();
	f();
	double c = now_us();
	printf("{\"beside a resident kernel\": \"%s\", \"us\": %.4g, \"waits\": %s}\n", k, c - b,
	       c - a > 250000 ? "true" : "false");
	fflush(stdout);
}

static void waiting(void)
{
	static void *host;
	static char *fd_mem;
	size_t big = 16u << 20;
	void *p = 0;
	cudaEvent_t e;
	cudaStream_t t;
	cudaMemPool_t pool;
	cudaFuncAttributes at;
	cublasHandle_t h = 0;
	cudaMemPoolProps pr = {};
	pr.allocType = cudaMemAllocationTypePinned;
	pr.location.type = cudaMemLocationTypeDevice;
	CK(cudaMemPoolCreate(&pool, &pr));
	uint64_t keep = ~0ull;
	cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
	int fd = memfd_create("x", 0);
	if (ftruncate(fd, 64 << 20))
		return;
	fd_mem = (char *)mmap(0, 64 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	memset(fd_mem, 1, 64 << 20);
	host = malloc(1 << 20);
	waits("nothing", [&] {});
	waits("launch of a loaded kernel", [&] { add_one<<<1, 32, 0, s>>>(mem + 2, mem); });
	waits("stream query", [&] { cudaStreamQuery(s); });
	waits("event create", [&] { cudaEventCreateWithFlags(&e, cudaEventDisableTiming); });
	waits("event destroy", [&] { cudaEventDestroy(e); });
	waits("stream create", [&] { cudaStreamCreateWithPriority(&t, cudaStreamNonBlocking, 0); });
	waits("first launch in a new stream", [&] { add_one<<<1, 32, 0, t>>>(mem + 2, mem); });
	waits("stream destroy", [&] { cudaStreamDestroy(t); });
	waits("cudaHostRegister 16 MiB", [&] {
		CK(cudaHostRegister(fd_mem, big,
				    cudaHostRegisterMapped | cudaHostRegisterPortable));
	});
	waits("copy in, registered",
	      [&] { cudaMemcpyAsync(mem, fd_mem, 4096, cudaMemcpyHostToDevice, s); });
	waits("copy in, 1 MiB pageable",
	      [&] { cudaMemcpyAsync(mem, host, 1 << 18, cudaMemcpyHostToDevice, s); });
	waits("cudaHostUnregister", [&] { CK(cudaHostUnregister(fd_mem)); });
	waits("cudaHostAlloc 1 MiB", [&] { CK(cudaHostAlloc(&p, 1 << 20, cudaHostAllocMapped)); });
	waits("cudaFreeHost", [&] { CK(cudaFreeHost(p)); });
	waits("pool: first 4 MiB (grows)", [&] {
		CK(cudaMallocFromPoolAsync(&p, 4 << 20, pool, s));
		cudaStreamSynchronize(s);
	});
	waits("pool: free, synchronise, trim", [&] {
		cudaFreeAsync(p, s);
		cudaStreamSynchronize(s);
		CK(cudaMemPoolTrimTo(pool, 0));
	});
	waits("cudaMalloc 64 MiB", [&] { CK(cudaMalloc(&p, 64 << 20)); });
	waits("cudaFree", [&] { CK(cudaFree(p)); });
	waits("cudaFuncGetAttributes of a kernel not loaded",
	      [&] { CK(cudaFuncGetAttributes(&at, never_loaded)); });
	waits("its first launch", [&] { never_loaded<<<1, 1, 0, s>>>(mem); });
	waits("first launch of a kernel not loaded",
	      [&] { never_loaded_either<<<1, 1, 0, s>>>(mem); });
	CK(cudaFuncGetAttributes(&at, hungry));
	say("stack of the hungry kernel", at.localSizeBytes, "bytes");
	waits("first launch of a loaded kernel with 8000 bytes of stack",
	      [&] { hungry<<<1, 1, 0, s>>>(mem, 3); });
	{
		void *g;
		if (cudaMalloc(&g, (size_t)6 << 30) == cudaSuccess) {
			size_t G = (size_t)1 << 30;
			waits("memset 100 bytes at an odd place",
			      [&] { cudaMemsetAsync((char *)g + 3, 0, 100, s); });
			waits("memset 1 GiB", [&] { cudaMemsetAsync(g, 0, G, s); });
			waits("memset 5 GiB", [&] { cudaMemsetAsync(g, 0, 5 * G, s); });
			waits("copy within, 1 GiB", [&] {
				cudaMemcpyAsync((char *)g + 2 * G, g, G, cudaMemcpyDeviceToDevice,
						s);
			});
			waits("copy within, odd place and length", [&] {
				cudaMemcpyAsync((char *)g + 2 * G + 1, g, 12345679,
						cudaMemcpyDeviceToDevice, s);
			});
			CK(cudaDeviceSynchronize());
			cudaFree(g);
		}
	}
	waits("cuMemGetInfo", [&] {
		size_t a, b;
		cudaMemGetInfo(&a, &b);
	});
	open_blas();
	if (!blas)
		return;
	waits("cublasCreate, the first", [&] {
		if (create(&h))
			puts("{\"error\": \"cublasCreate\"}");
	});
	for (int i = 0; i < 5; i++) {
		cublasHandle_t more;
		double a = now_us();
		create(&more);
		set_stream(more, s);
		say("another cublasCreate", now_us() - a, "us");
	}
	float *m;
	CK(cudaMalloc(&m, 3 * 4 * 1024 * 1024));
	const float one = 1, zero = 0;
	set_stream(h, s);
	waits("first product 1000 f32 of cuBLAS", [&] {
		gemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 1000, 1000, 1000, &one, m, CUDA_R_32F, 1000,
		     m + 1048576, CUDA_R_32F, 1000, &zero, m + 2097152, CUDA_R_32F, 1000,
		     CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
	});
	waits("second of the same shape", [&] {
		gemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 1000, 1000, 1000, &one, m, CUDA_R_32F, 1000,
		     m + 1048576, CUDA_R_32F, 1000, &zero, m + 2097152, CUDA_R_32F, 1000,
		     CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
	});
	waits("another shape", [&] {
		gemm(h, CUBLAS_OP_N, CUBLAS_OP_T, 200, 300, 400, &one, m, CUDA_R_32F, 1000,
		     m + 1048576, CUDA_R_32F, 1000, &zero, m + 2097152, CUDA_R_32F, 1000,
		     CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
	});
	CK(cudaDeviceSynchronize());
}

#endif
