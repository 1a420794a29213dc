/* SPDX-License-Identifier: MIT */
/* gemm.cu - matrix products for any strides, without cuBLAS or if it cannot express them. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/gemm_plan.h"
#include "kernels/listed.cuh"

#define TILE GEMM_STEP /* edge; a block makes TILE x TILE elements of C */

/* Multiply factors of type T into a C of type Out, with sums of type Wide. */
template <class T, class Out, class Wide>
__global__ void __launch_bounds__(TILE *TILE) gemm_kernel(gemm_plan g, uint64_t blocks)
{
	__shared__ Wide a_tile[TILE][TILE + 1];
	__shared__ Wide b_tile[TILE][TILE + 1];
	const uint64_t across = ((uint64_t)g.n + TILE - 1) / TILE;
	const uint64_t down = ((uint64_t)g.m + TILE - 1) / TILE;
	const uint32_t x = threadIdx.x;
	const uint32_t y = threadIdx.y;

	for (uint64_t u = blockIdx.x; u < blocks; u += gridDim.x) {
		const uint64_t batch = u / across / down;
		const int64_t outer = (int64_t)(batch / g.batch[1]);
		const int64_t inner = (int64_t)(batch % g.batch[1]);
		const uint64_t row = u / across % down * TILE + y;
		const uint64_t column = u % across * TILE + x;
		const T *a = (const T *)g.a + outer * g.a_stride[0] + inner * g.a_stride[1];
		const T *b = (const T *)g.b + outer * g.b_stride[0] + inner * g.b_stride[1];
		Out *c = (Out *)g.c + outer * g.c_stride[0] + inner * g.c_stride[1] +
			 (int64_t)row * g.c_stride[2] + (int64_t)column * g.c_stride[3];
		Wide sum = 0;

		for (uint64_t k = 0; k < g.k; k += TILE) {
			const int64_t a_k = (int64_t)(k + x);
			const int64_t b_k = (int64_t)(k + y);

			a_tile[y][x] = row < g.m && k + x < g.k
					       ? (Wide)a[(int64_t)row * g.a_stride[2] +
							 a_k * g.a_stride[3]]
					       : (Wide)0;
			b_tile[y][x] = column < g.n && k + y < g.k
					       ? (Wide)b[b_k * g.b_stride[2] +
							 (int64_t)column * g.b_stride[3]]
					       : (Wide)0;
			__syncthreads();
#pragma unroll
			for (int i = 0; i < TILE; i++)
				sum = fma(a_tile[y][i], b_tile[i][x], sum);
			__syncthreads();
		}
		if (row >= g.m || column >= g.n)
			continue;
		sum *= (Wide)g.alpha;
		if (g.beta != 0)
			sum += (Wide)g.beta * (Wide)*c;
		*c = (Out)sum;
	}
}

template <class T, class Out, class Wide> struct gemm_nodes {
	static kernel_node node;
};
template <class T, class Out, class Wide>
kernel_node gemm_nodes<T, Out, Wide>::node((const void *)gemm_kernel<T, Out, Wide>);

template <class T, class Out, class Wide>
static cudaError_t launch(const gemm_plan *g, cudaStream_t stream)
{
	const uint64_t across = ((uint64_t)g->n + TILE - 1) / TILE;
	const uint64_t down = ((uint64_t)g->m + TILE - 1) / TILE;
	const uint64_t blocks = across * down * g->batch[0] * g->batch[1];
	const uint64_t most = 1u << 30;

	kernel_name(&gemm_nodes<T, Out, Wide>::node);
	gemm_kernel<T, Out, Wide>
		<<<(unsigned)(blocks < most ? blocks : most), dim3(TILE, TILE), 0, stream>>>(
			*g, blocks);
	return cudaGetLastError();
}

/* Factors of 16 bits are summed in f32, and rounded to their type unless C is f32. */
template <class T> static cudaError_t launch_half(const gemm_plan *g, cudaStream_t stream)
{
	return g->c_dtype == QUOIT_F32 ? launch<T, float, float>(g, stream)
				       : launch<T, T, float>(g, stream);
}

cudaError_t kernel_gemm(const gemm_plan *gemm, cudaStream_t stream)
{
	switch (gemm->dtype) {
	case QUOIT_F32:
		return launch<float, float, float>(gemm, stream);
	case QUOIT_F64:
		return launch<double, double, double>(gemm, stream);
	case QUOIT_BF16:
		return launch_half<__nv_bfloat16>(gemm, stream);
	default:
		return launch_half<__half>(gemm, stream);
	}
}
