/* SPDX-License-Identifier: MIT */
/* common.cuh - shared by all sections: time, JSON lines, streams, one word of host memory */
#ifndef ANATOMY_COMMON_CUH
#define ANATOMY_COMMON_CUH

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <cublas_v2.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <vector>

static double now_us(void)
{
	timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}
#define CK(x)                                                                                      \
	do {                                                                                       \
		cudaError_t e_ = (x);                                                              \
		if (e_ != cudaSuccess) {                                                           \
			printf("{\"error\": \"%s\", \"what\": \"%s\", \"line\": %d}\n",            \
			       cudaGetErrorString(e_), #x, __LINE__);                              \
			fflush(stdout);                                                            \
		}                                                                                  \
	} while (0)
static void say(const char *k, double v, const char *unit)
{
	printf("{\"what\": \"%s\", \"value\": %.4g, \"unit\": \"%s\"}\n", k, v, unit);
	fflush(stdout);
}
static void spread(const char *k, std::vector<double> v, const char *unit)
{
	std::sort(v.begin(), v.end());
	printf("{\"what\": \"%s\", \"median\": %.4g, \"p10\": %.4g, \"p99\": %.4g, \"max\": %.4g, \"unit\": \"%s\"}\n",
	       k, v[v.size() / 2], v[v.size() / 10], v[v.size() * 99 / 100], v.back(), unit);
	fflush(stdout);
}
static cudaStream_t s, s2, high;
static CUresult (*write_value)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
static float *mem;
static uint32_t *word, *word_there;

static __device__ __forceinline__ uint64_t timer(void)
{
	uint64_t t;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
	return t;
}

template <class F> static void each(const char *k, int n, F f)
{
	std::vector<double> v;
	for (int i = 0; i < n / 10 + 1; i++)
		f();
	for (int i = 0; i < n; i++) {
		double a = now_us();
		f();
		v.push_back(now_us() - a);
	}
	spread(k, v, "us");
}
template <class F> static void total(const char *k, int n, F f)
{
	f(n / 10 + 1);
	CK(cudaStreamSynchronize(s));
	double a = now_us();
	f(n);
	double b = now_us();
	CK(cudaStreamSynchronize(s));
	double c = now_us();
	char t[128];
	snprintf(t, sizeof t, "%s: cpu each", k);
	say(t, (b - a) / n, "us");
	snprintf(t, sizeof t, "%s: all each", k);
	say(t, (c - a) / n, "us");
}

#endif
