/* SPDX-License-Identifier: MIT */
/*
 * random.cu - uniform and normal numbers from Philox.
 *
 * Element i of the tensor's row-major order comes from block scalar[1] + i / per_block.  A thread
 * makes one block at a time, and writes it at once if its elements lie together.
 */
#include "kernels/map.cuh"
#include "kernels/random_core.h"
#include "kernels/row.cuh"

/* The Kind of an operation is random_NAME<T>: one for each row of ops.def. */
template <class T> struct random_uniform;
template <> struct random_uniform<float> {
	static __device__ void make(const uint32_t *word, float *ret_x)
	{
		random_uniform_f32(word, ret_x);
	}
};
template <> struct random_uniform<double> {
	static __device__ void make(const uint32_t *word, double *ret_x)
	{
		random_uniform_f64(word, ret_x);
	}
};

template <class T> struct random_normal;
template <> struct random_normal<float> {
	static __device__ void make(const uint32_t *word, float *ret_x)
	{
		random_normal_f32(word, ret_x);
	}
};
template <> struct random_normal<double> {
	static __device__ void make(const uint32_t *word, double *ret_x)
	{
		random_normal_f64(word, ret_x);
	}
};

template <class T, class Kind, bool whole>
__global__ void __launch_bounds__(MAP_THREADS)
	random_kernel(walk w, uint64_t key, uint64_t first_block)
{
	constexpr int N = RANDOM_BYTES / sizeof(T);
	const uint64_t end = w.first + w.count;
	const uint64_t last = (end + N - 1) / N;
	T *const out = (T *)w.operand[0].data;

	for (uint64_t block = w.first / N + (uint64_t)blockIdx.x * MAP_THREADS + threadIdx.x;
	     block < last; block += (uint64_t)gridDim.x * MAP_THREADS) {
		uint32_t word[RANDOM_WORDS];
		map_pack<T, N> made;

		random_block(key, first_block + block, word);
		Kind::make(word, made.v);
		if (whole && (block + 1) * N <= end) {
			((map_pack<T, N> *)out)[random_place(&w, block, sizeof(T))] = made;
			continue;
		}
#pragma unroll
		for (int j = 0; j < N; j++) {
			const uint64_t i = block * N + j;
			int64_t at = (int64_t)(i - w.first);

			if (i < w.first || i >= end)
				continue;
			if (!whole)
				map_offsets<1>(w, (uint32_t)at, &at);
			out[at] = made.v[j];
		}
	}
}

template <class T, class Kind> struct random_nodes {
	static kernel_node whole, strided;
};
template <class T, class Kind>
kernel_node random_nodes<T, Kind>::whole((const void *)random_kernel<T, Kind, true>);
template <class T, class Kind>
kernel_node random_nodes<T, Kind>::strided((const void *)random_kernel<T, Kind, false>);

template <class T, class Kind>
static cudaError_t launch(const walk *w, const quoit_device_call *call, cudaStream_t stream)
{
	const unsigned blocks = map_blocks(w->count / (RANDOM_BYTES / sizeof(T)) + 2);

	kernel_name(&random_nodes<T, Kind>::whole);
	kernel_name(&random_nodes<T, Kind>::strided);
	if (random_is_whole(w, sizeof(T)))
		random_kernel<T, Kind, true>
			<<<blocks, MAP_THREADS, 0, stream>>>(*w, call->scalar[0], call->scalar[1]);
	else
		random_kernel<T, Kind, false>
			<<<blocks, MAP_THREADS, 0, stream>>>(*w, call->scalar[0], call->scalar[1]);
	return cudaGetLastError();
}

/* Launch the Kind of an operation that has this type; it does not compile before Kind is above. */
template <class T, uint8_t dtype>
static cudaError_t random_as(const walk *w, const quoit_device_call *call, cudaStream_t stream)
{
	switch (call->opcode) {
#define QUOIT_ROW_RANDOM(nr, name, types)                                                          \
	ROW_CASE(nr, types, (launch<T, random_##name<T>>(w, call, stream)))
#include <quoit/family_ops.def>
	default:
		break;
	}
	return cudaErrorNotSupported; /* never reached */
}

cudaError_t kernel_random(const walk *w, const quoit_device_call *call, cudaStream_t stream)
{
	if (call->tensor[0].dtype == QUOIT_F32)
		return random_as<float, QUOIT_F32>(w, call, stream);
	return random_as<double, QUOIT_F64>(w, call, stream);
}
