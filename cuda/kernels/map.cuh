/* SPDX-License-Identifier: MIT */
/*
 * map.cuh - make element i of the output from elements i of up to three inputs.
 *
 * F is the operation: a class with the types Out, A, B, C of output and inputs, the number of
 * `inputs`, and an operator () that takes so many. If all operands are dense, a thread reads and
 * writes 16 bytes at a time, otherwise one element.
 */
#ifndef QUOIT_CUDA_MAP_CUH
#define QUOIT_CUDA_MAP_CUH

#include "kernels/kernels.h"
#include "kernels/listed.cuh"

#define MAP_THREADS 256
#define MAP_BLOCKS  4096 /* at most; with more elements, a thread makes several */

template <class T> struct map_unary {
	using Out = T;
	using A = T;
	using B = T;
	using C = T;
	static constexpr int inputs = 1;
};

template <class T> struct map_binary : map_unary<T> {
	static constexpr int inputs = 2;
};

template <class T, int N> struct alignas(sizeof(T) * N) map_pack {
	T v[N];
};

/* How many elements of the largest type fit into 16 bytes. */
template <class F> __host__ __device__ constexpr int map_width()
{
	size_t most = sizeof(typename F::Out);

	most = sizeof(typename F::A) > most ? sizeof(typename F::A) : most;
	if (F::inputs > 1)
		most = sizeof(typename F::B) > most ? sizeof(typename F::B) : most;
	if (F::inputs > 2)
		most = sizeof(typename F::C) > most ? sizeof(typename F::C) : most;
	return (int)(16 / most);
}

template <class F>
__device__ __forceinline__ typename F::Out map_one(const F &f, typename F::A a, typename F::B b,
						   typename F::C c)
{
	if constexpr (F::inputs == 1)
		return f(a);
	else if constexpr (F::inputs == 2)
		return f(a, b);
	else
		return f(a, b, c);
}

template <class T> __device__ __forceinline__ T map_load(const walk_operand &operand, int64_t at)
{
	T x;

	if (operand.data)
		return ((const T *)operand.data)[at];
	memcpy(&x, &operand.bits, sizeof(x));
	return x;
}

/* ---- dense ---- */

template <class T, int N>
__device__ __forceinline__ map_pack<T, N> map_load_pack(const walk_operand &operand, uint64_t i)
{
	map_pack<T, N> pack;

	if (operand.data && operand.stride[0])
		return ((const map_pack<T, N> *)operand.data)[i];
	pack.v[0] = map_load<T>(operand, 0);
#pragma unroll
	for (int j = 1; j < N; j++)
		pack.v[j] = pack.v[0];
	return pack;
}

template <class F> __global__ void __launch_bounds__(MAP_THREADS) map_dense(walk w, F f)
{
	constexpr int N = map_width<F>();
	using Out = typename F::Out;
	using A = typename F::A;
	using B = typename F::B;
	using C = typename F::C;
	const uint64_t packs = w.count / N;
	const uint64_t me = (uint64_t)blockIdx.x * MAP_THREADS + threadIdx.x;

	for (uint64_t i = me; i < packs; i += (uint64_t)gridDim.x * MAP_THREADS) {
		map_pack<A, N> a = map_load_pack<A, N>(w.operand[1], i);
		map_pack<B, N> b = {};
		map_pack<C, N> c = {};
		map_pack<Out, N> out;

		if constexpr (F::inputs > 1)
			b = map_load_pack<B, N>(w.operand[2], i);
		if constexpr (F::inputs > 2)
			c = map_load_pack<C, N>(w.operand[3], i);
#pragma unroll
		for (int j = 0; j < N; j++)
			out.v[j] = map_one(f, a.v[j], b.v[j], c.v[j]);
		((map_pack<Out, N> *)w.operand[0].data)[i] = out;
	}
	if (me < w.count % N) {
		const int64_t i = (int64_t)(packs * N + me);
		B b = {};
		C c = {};

		if constexpr (F::inputs > 1)
			b = map_load<B>(w.operand[2], i * w.operand[2].stride[0]);
		if constexpr (F::inputs > 2)
			c = map_load<C>(w.operand[3], i * w.operand[3].stride[0]);
		((Out *)w.operand[0].data)[i] =
			map_one(f, map_load<A>(w.operand[1], i * w.operand[1].stride[0]), b, c);
	}
}

/* ---- any strides ---- */

/* For each operand, the offset of element i of a walk, in elements. */
template <int N>
__device__ __forceinline__ void map_offsets(const walk &w, uint32_t i, int64_t *ret)
{
#pragma unroll
	for (int o = 0; o < N; o++)
		ret[o] = 0;
#pragma unroll
	for (int d = QUOIT_MAX_DIMS - 1; d >= 0; d--) {
		if (d < (int)w.dims) {
			const uint32_t dim = (uint32_t)w.dim[d];
			const uint32_t rest = d ? i / dim : 0;
			const uint32_t at = i - rest * dim;

#pragma unroll
			for (int o = 0; o < N; o++)
				ret[o] += (int64_t)at * w.operand[o].stride[d];
			i = rest;
		}
	}
}

/* Make the elements first, first + step, ... of a walk. */
template <class F>
__device__ __forceinline__ void map_each(const walk &w, F f, uint32_t first, uint32_t step)
{
	const uint32_t count = (uint32_t)w.count;

	for (uint32_t i = first; i < count; i += step) {
		int64_t at[1 + F::inputs];
		typename F::B b = {};
		typename F::C c = {};

		map_offsets<1 + F::inputs>(w, i, at);
		if constexpr (F::inputs > 1)
			b = map_load<typename F::B>(w.operand[2], at[2]);
		if constexpr (F::inputs > 2)
			c = map_load<typename F::C>(w.operand[3], at[3]);
		((typename F::Out *)w.operand[0].data)[at[0]] =
			map_one(f, map_load<typename F::A>(w.operand[1], at[1]), b, c);
	}
}

template <class F> __global__ void __launch_bounds__(MAP_THREADS) map_strided(walk w, F f)
{
	map_each(w, f, blockIdx.x * MAP_THREADS + threadIdx.x, gridDim.x * MAP_THREADS);
}

/* ---- launch ---- */

static inline unsigned map_blocks(uint64_t threads)
{
	const uint64_t blocks = (threads + MAP_THREADS - 1) / MAP_THREADS;

	return blocks < 1 ? 1 : blocks < MAP_BLOCKS ? (unsigned)blocks : MAP_BLOCKS;
}

template <class F> bool map_is_aligned(const walk *w)
{
	const size_t size[] = {sizeof(typename F::Out), sizeof(typename F::A),
			       sizeof(typename F::B), sizeof(typename F::C)};

	for (int i = 0; i <= F::inputs; i++) {
		if (w->operand[i].stride[0] && w->operand[i].data % (size[i] * map_width<F>()))
			return false;
	}
	return true;
}

template <class F> struct map_nodes {
	static kernel_node dense, strided;
};
template <class F> kernel_node map_nodes<F>::dense((const void *)map_dense<F>);
template <class F> kernel_node map_nodes<F>::strided((const void *)map_strided<F>);

template <class F> cudaError_t map_launch(const walk *w, F f, cudaStream_t stream)
{
	const bool dense = walk_is_dense(w);

	kernel_name(&map_nodes<F>::dense);
	kernel_name(&map_nodes<F>::strided);
	if (dense && map_is_aligned<F>(w))
		map_dense<<<map_blocks(w->count / map_width<F>()), MAP_THREADS, 0, stream>>>(*w, f);
	else
		map_strided<<<map_blocks(w->count), MAP_THREADS, 0, stream>>>(*w, f);
	return cudaGetLastError();
}

/* The `go` for arithmetic_choose and its like: launch the F that they choose. */
struct map_into_stream {
	const walk *w;
	cudaStream_t stream;

	template <class F> cudaError_t operator()(F f) const
	{
		return map_launch(w, f, stream);
	}
};

#endif
