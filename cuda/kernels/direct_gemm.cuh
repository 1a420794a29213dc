/* SPDX-License-Identifier: MIT */
/* direct_gemm.cuh - products that one block runs */
#ifndef QUOIT_CUDA_DIRECT_GEMM_CUH
#define QUOIT_CUDA_DIRECT_GEMM_CUH

#include "kernels/direct_job.cuh"

#define SIDE QUOIT_DIRECT_SIDE
#define EACH (SIDE / GEMM_STEP) /* rows, and columns, of a thread */
static_assert(GEMM_STEP * GEMM_STEP == DIRECT_THREADS, "a thread has EACH x EACH elements of C");

/* A slice of A, with so many columns, and of B, with as many rows; one more keeps banks apart. */
template <class T> struct direct_slices {
	static constexpr uint32_t deep = 256 / sizeof(T);
	T a[SIDE][deep + 1];
	T b[deep][SIDE + 1];
};

/*
 * Compute all of C at once, slice by slice.  An element sums its products in the order of gemm.cu,
 * in whole steps of them.
 */
template <class T>
inline __device__ __noinline__ void direct_gemm_as(const gemm_plan &g, direct_slices<T> &slices)
{
	constexpr uint32_t slice = direct_slices<T>::deep;
	const T *const a = (const T *)g.a;
	const T *const b = (const T *)g.b;
	const uint32_t x = threadIdx.x % GEMM_STEP;
	const uint32_t y = threadIdx.x / GEMM_STEP;
	const uint32_t depth = (g.k + GEMM_STEP - 1) / GEMM_STEP * GEMM_STEP;
	T sum[EACH][EACH] = {};

	for (uint32_t k = 0; k < depth; k += slice) {
		const uint32_t steps = depth - k < slice ? depth - k : slice;

		__syncthreads();
		for (uint32_t i = threadIdx.x; i < SIDE * slice; i += DIRECT_THREADS) {
			const uint32_t row = i / slice;
			const uint32_t at = i % slice;
			const uint32_t down = i / SIDE;
			const uint32_t column = i % SIDE;

			slices.a[row][at] = row < g.m && k + at < g.k
						    ? a[(int64_t)row * g.a_stride[2] +
							(int64_t)(k + at) * g.a_stride[3]]
						    : (T)0;
			slices.b[down][column] = column < g.n && k + down < g.k
							 ? b[(int64_t)(k + down) * g.b_stride[2] +
							     (int64_t)column * g.b_stride[3]]
							 : (T)0;
		}
		__syncthreads();
		for (uint32_t s = 0; s < steps; s++) {
#pragma unroll
			for (uint32_t i = 0; i < EACH; i++)
#pragma unroll
				for (uint32_t j = 0; j < EACH; j++)
					sum[i][j] = fma(slices.a[y + GEMM_STEP * i][s],
							slices.b[s][x + GEMM_STEP * j], sum[i][j]);
		}
	}
#pragma unroll
	for (uint32_t i = 0; i < EACH; i++) {
#pragma unroll
		for (uint32_t j = 0; j < EACH; j++) {
			const uint32_t row = y + GEMM_STEP * i;
			const uint32_t column = x + GEMM_STEP * j;
			T *const c = (T *)g.c + (int64_t)row * g.c_stride[2] +
				     (int64_t)column * g.c_stride[3];

			if (row >= g.m || column >= g.n)
				continue;
			sum[i][j] *= (T)g.alpha;
			if (g.beta != 0)
				sum[i][j] += (T)g.beta * *c;
			*c = sum[i][j];
		}
	}
}

inline __device__ void direct_gemm(direct_job &job)
{
	__shared__ union {
		direct_slices<float> single;
		direct_slices<double> twice;
	} slices;

	if (job.gemm.dtype == QUOIT_F32)
		direct_gemm_as<float>(job.gemm, slices.single);
	else
		direct_gemm_as<double>(job.gemm, slices.twice);
}

#endif
