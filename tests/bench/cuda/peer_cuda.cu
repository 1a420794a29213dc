/* SPDX-License-Identifier: MIT */
/*
 * peer_cuda.cu - quoit-peer-cuda: call CUDA and cuBLAS directly, without Quoit
 *
 * Usage: quoit-peer-cuda WORK SIZE COUNT.  Prints {"ns": N} on one line, the time of one of COUNT;
 * a tenth as many warm up.  Exit status 77: there is no device, or no cuBLAS.
 */
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STATUS_NOT_HERE 77

static void check(cudaError_t result, const char *what)
{
	if (result == cudaSuccess)
		return;
	fprintf(stderr, "quoit-peer-cuda: %s: %s\n", what, cudaGetErrorString(result));
	exit(1);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static cudaStream_t stream;

/* ---- an addition on 1 x 2 numbers ---- */

static __global__ void add_one(float *y, const float *x)
{
	if (threadIdx.x < 2)
		y[threadIdx.x] = x[threadIdx.x] + 1;
}

static float *memory; /* x, followed by y */

static void launch(void)
{
	add_one<<<1, 32, 0, stream>>>(memory + 2, memory);
	check(cudaGetLastError(), "launch");
}

/* A runtime that has found a device has loaded the driver's library. */
static CUresult (*write_value)(CUstream, CUdeviceptr, cuuint32_t, unsigned int);
static uint32_t *word;
static CUdeviceptr word_there;
static uint32_t number;

static void prepare_word(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	void *there;

	*(void **)&write_value = driver ? dlsym(driver, "cuStreamWriteValue32_v2") : NULL;
	if (!write_value)
		exit(STATUS_NOT_HERE);
	check(cudaHostAlloc((void **)&word, sizeof(*word), cudaHostAllocMapped), "host memory");
	check(cudaHostGetDevicePointer(&there, word, 0), "host memory");
	word_there = (CUdeviceptr)(uintptr_t)there;
	*word = 0;
}

/* Launch, and wait for a word that the stream writes behind each launch. */
static void add(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		launch();
		if (write_value((CUstream)stream, word_there, ++number, 0) != CUDA_SUCCESS)
			exit(STATUS_NOT_HERE);
		while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != number)
			;
	}
}

/* Launch and synchronise each time. */
static void sync_each(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		launch();
		check(cudaStreamSynchronize(stream), "synchronise");
	}
}

/* Launch all of them in one stream. */
static void chain(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		launch();
	check(cudaStreamSynchronize(stream), "synchronise");
}

/* ---- products ---- */

static cublasStatus_t (*gemm_ex)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
				 int, const void *, const void *, cudaDataType, int, const void *,
				 cudaDataType, int, const void *, void *, cudaDataType, int,
				 cublasComputeType_t, cublasGemmAlgo_t);
static cublasHandle_t handle;
static void *a_matrix, *c_matrix;
static cudaDataType type;
static int side;

static void *open_blas(void)
{
	static const char *const names[] = {"libcublas.so.13", "libcublas.so.12",
					    "/usr/local/cuda/lib64/libcublas.so.13",
					    "/usr/local/cuda/lib64/libcublas.so.12"};
	void *library = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !library; i++)
		library = dlopen(names[i], RTLD_NOW);
	if (!library) {
		fprintf(stderr, "quoit-peer-cuda: no cuBLAS\n");
		exit(STATUS_NOT_HERE);
	}
	return library;
}

/* From 0 to 1, and never 0. */
static float uniform(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return (float)((*state >> 8) + 1) * 0x1p-24f;
}

/*
 * Normal numbers like those of `quoit bench`: a device's speed depends on the values that it
 * multiplies.
 */
static float normal(uint32_t *state)
{
	const float radius = sqrtf(-2 * logf(uniform(state)));

	return radius * cosf(6.2831853f * uniform(state));
}

static void prepare_matrices(size_t bytes)
{
	char *host = (char *)malloc(bytes);
	uint32_t state = 12345;

	if (!host)
		exit(1);
	for (size_t i = 0; i < (size_t)side * side; i++) {
		const float x = normal(&state);

		if (type == CUDA_R_32F)
			((float *)host)[i] = x;
		else
			((__nv_bfloat16 *)host)[i] = __float2bfloat16(x);
	}
	check(cudaMalloc(&a_matrix, bytes), "memory");
	check(cudaMalloc(&c_matrix, bytes), "memory");
	check(cudaMemcpy(a_matrix, host, bytes, cudaMemcpyHostToDevice), "copy");
	free(host);
}

static void prepare_gemm(int size, cudaDataType dtype)
{
	cublasStatus_t (*create)(cublasHandle_t *);
	cublasStatus_t (*set_stream)(cublasHandle_t, cudaStream_t);
	void *library = open_blas();

	side = size;
	type = dtype;
	*(void **)&create = dlsym(library, "cublasCreate_v2");
	*(void **)&set_stream = dlsym(library, "cublasSetStream_v2");
	*(void **)&gemm_ex = dlsym(library, "cublasGemmEx");
	if (!create || !set_stream || !gemm_ex || create(&handle) != CUBLAS_STATUS_SUCCESS ||
	    set_stream(handle, stream) != CUBLAS_STATUS_SUCCESS)
		exit(STATUS_NOT_HERE);
	prepare_matrices((size_t)size * size * (dtype == CUDA_R_32F ? 4 : 2));
}

static void gemm(uint64_t count)
{
	const float one = 1, zero = 0;

	for (uint64_t i = 0; i < count; i++)
		if (gemm_ex(handle, CUBLAS_OP_N, CUBLAS_OP_N, side, side, side, &one, a_matrix,
			    type, side, a_matrix, type, side, &zero, c_matrix, type, side,
			    CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) != CUBLAS_STATUS_SUCCESS)
			exit(1);
	check(cudaStreamSynchronize(stream), "synchronise");
}

/* ---- copies from and to memory of cudaHostAlloc ---- */

static void *host_bytes, *device_bytes;
static size_t copy_bytes;

static void prepare_copy(size_t bytes)
{
	copy_bytes = bytes;
	check(cudaHostAlloc(&host_bytes, bytes, cudaHostAllocDefault), "host memory");
	memset(host_bytes, 1, bytes);
	check(cudaMalloc(&device_bytes, bytes), "memory");
}

static void copy_in(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		check(cudaMemcpyAsync(device_bytes, host_bytes, copy_bytes, cudaMemcpyHostToDevice,
				      stream),
		      "copy");
	check(cudaStreamSynchronize(stream), "synchronise");
}

static void copy_out(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		check(cudaMemcpyAsync(host_bytes, device_bytes, copy_bytes, cudaMemcpyDeviceToHost,
				      stream),
		      "copy");
	check(cudaStreamSynchronize(stream), "synchronise");
}

/* ---- main ---- */

/* Prepare a work before it is timed; returns its function; NULL: there is no such work. */
static void (*prepare(const char *work, uint64_t size))(uint64_t)
{
	if (!strcmp(work, "add"))
		prepare_word();
	if (!strcmp(work, "gemm") || !strcmp(work, "gemm_bf16"))
		prepare_gemm((int)size, strcmp(work, "gemm") ? CUDA_R_16BF : CUDA_R_32F);
	if (!strcmp(work, "in") || !strcmp(work, "out"))
		prepare_copy(size);
	return !strcmp(work, "add")        ? add
	       : !strcmp(work, "sync")     ? sync_each
	       : !strcmp(work, "chain")    ? chain
	       : !strncmp(work, "gemm", 4) ? gemm
	       : !strcmp(work, "in")       ? copy_in
	       : !strcmp(work, "out")      ? copy_out
					   : NULL;
}

int main(int argc, char **argv)
{
	const uint64_t count = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
	void (*run)(uint64_t);
	double begin;
	int devices = 0;

	if (!count) {
		const bool help = argc == 2 && !strcmp(argv[1], "--help");

		fprintf(help ? stdout : stderr,
			"usage: quoit-peer-cuda "
			"add|sync|chain|gemm|gemm_bf16|in|out SIZE COUNT\n");
		return help ? 0 : 2;
	}
	if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) {
		fprintf(stderr, "quoit-peer-cuda: no device\n");
		return STATUS_NOT_HERE;
	}
	check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
	check(cudaMalloc((void **)&memory, 4 * sizeof(*memory)), "memory");
	check(cudaMemset(memory, 0, 4 * sizeof(*memory)), "memory");
	check(cudaDeviceSynchronize(), "memory");
	run = prepare(argv[1], strtoull(argv[2], NULL, 10));
	if (!run)
		return 2;
	run(count / 10 + 1);
	begin = now_ns();
	run(count);
	printf("{\"ns\": %.3f}\n", (now_ns() - begin) / (double)count);
	return 0;
}
