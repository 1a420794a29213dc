/* SPDX-License-Identifier: MIT */
/*
 * reduce.cuh - the tree of every reduction: parts, lanes, and how their results are merged.
 *
 * R is the operation, a class with:
 *   Acc                    the type of an accumulator, at most 16 bytes
 *   start()                returns the accumulator of no elements
 *   read(plan, base, i)    returns the value of element i
 *   take(acc, value, i)    takes that value into acc
 *   merge(acc, other)      takes another accumulator into acc
 *   store(plan, at, acc)   writes the result to element `at` of the output
 * The plan's numbers alone determine the tree, so they determine the bits of a result too.
 */
#ifndef QUOIT_CUDA_REDUCE_CUH
#define QUOIT_CUDA_REDUCE_CUH

#include "kernels/kernels.h"
#include "kernels/listed.cuh"

#define REDUCE_THREADS 256
#define REDUCE_WARP    32
#define REDUCE_BLOCKS  65536
#define REDUCE_CHAINS  4 /* accumulators of a thread: their loads and sums overlap */

/*
 * The offset of element i of a walk in operand o, in elements. The walk may have 2^32 elements or
 * more. Not static: nvcc puts the build folder into the name of a static function that it does not
 * inline, and the object would then depend on that folder.
 */
inline __device__ __noinline__ int64_t reduce_offset_strided(const walk &w, int o, uint64_t i)
{
	int64_t at = 0;

	for (int d = (int)w.dims - 1; d > 0; d--) {
		at += (int64_t)(i % w.dim[d]) * w.operand[o].stride[d];
		i /= w.dim[d];
	}
	return at + (int64_t)i * w.operand[o].stride[0];
}

static __device__ __forceinline__ int64_t reduce_offset(const walk &w, int o, uint64_t i)
{
	return w.dims == 1 ? (int64_t)i * w.operand[o].stride[0] : reduce_offset_strided(w, o, i);
}

/* Reduce the elements first, first + step, ... below end. */
template <class R>
__device__ __forceinline__ typename R::Acc reduce_run(const reduce_plan &p, int64_t base,
						      uint64_t first, uint64_t end, uint64_t step)
{
	typename R::Acc chain[REDUCE_CHAINS];
	uint64_t i = first;

#pragma unroll
	for (int c = 0; c < REDUCE_CHAINS; c++)
		chain[c] = R::start();
	for (; i + (REDUCE_CHAINS - 1) * step < end; i += REDUCE_CHAINS * step) {
#pragma unroll
		for (int c = 0; c < REDUCE_CHAINS; c++)
			R::take(chain[c], R::read(p, base, i + c * step), i + c * step);
	}
	for (; i < end; i += step)
		R::take(chain[0], R::read(p, base, i), i);
#pragma unroll
	for (int c = 1; c < REDUCE_CHAINS; c++)
		R::merge(chain[0], chain[c]);
	return chain[0];
}

/* Returns the accumulator of the lane whose number is `distance` higher. */
template <class Acc> __device__ __forceinline__ Acc reduce_above(const Acc &acc, int distance)
{
	constexpr int words = sizeof(Acc) / sizeof(uint64_t);
	uint64_t word[words];
	Acc above;

	memcpy(word, &acc, sizeof(acc));
#pragma unroll
	for (int i = 0; i < words; i++)
		word[i] = __shfl_down_sync(0xffffffffu, word[i], distance);
	memcpy(&above, word, sizeof(above));
	return above;
}

/* Merge the accumulators of a warp into lane 0's. */
template <class R> __device__ __forceinline__ void reduce_warp(typename R::Acc &acc)
{
#pragma unroll
	for (int distance = REDUCE_WARP / 2; distance > 0; distance /= 2) {
		const typename R::Acc above = reduce_above(acc, distance);

		R::merge(acc, above);
	}
}

/* Merge the accumulators of a block into thread 0's. */
template <class R> __device__ __forceinline__ void reduce_block(typename R::Acc &acc)
{
	__shared__ typename R::Acc of_warp[REDUCE_THREADS / REDUCE_WARP];

	reduce_warp<R>(acc);
	if (threadIdx.x % REDUCE_WARP == 0)
		of_warp[threadIdx.x / REDUCE_WARP] = acc;
	__syncthreads();
	if (threadIdx.x == 0) {
		for (int w = 1; w < REDUCE_THREADS / REDUCE_WARP; w++)
			R::merge(acc, of_warp[w]);
	}
	__syncthreads();
}

template <class R>
__device__ __forceinline__ void reduce_store(const reduce_plan &p, uint64_t output, uint64_t part,
					     const typename R::Acc &acc)
{
	if (p.parts > 1)
		((typename R::Acc *)p.partial)[output * p.parts + part] = acc;
	else
		R::store(p, reduce_offset(p.outer, 1, output), acc);
}

/* Reduce the share of block number `block` of `blocks`: each part by `lanes` threads. */
template <class R, int lanes>
__device__ __forceinline__ void reduce_units(const reduce_plan &p, uint32_t block, uint32_t blocks)
{
	constexpr int per_block = REDUCE_THREADS / lanes;
	const uint64_t units = p.outer.count * p.parts;

	for (uint64_t u = (uint64_t)block * per_block + threadIdx.x / lanes; u < units;
	     u += (uint64_t)blocks * per_block) {
		const uint64_t output = lanes == 1 ? u % p.outer.count : u / p.parts;
		const uint64_t part = lanes == 1 ? u / p.outer.count : u % p.parts;
		const uint64_t begin = part * p.part_length;
		const uint64_t most = begin + p.part_length;
		const uint64_t end = most < p.inner.count ? most : p.inner.count;
		typename R::Acc acc = reduce_run<R>(p, reduce_offset(p.outer, 0, output),
						    begin + threadIdx.x % lanes, end, lanes);

		if (lanes == REDUCE_WARP)
			reduce_warp<R>(acc);
		if (lanes == REDUCE_THREADS)
			reduce_block<R>(acc);
		if (threadIdx.x % lanes == 0)
			reduce_store<R>(p, output, part, acc);
	}
}

template <class R, int lanes>
__global__ void __launch_bounds__(REDUCE_THREADS)
	reduce_kernel(const __grid_constant__ reduce_plan p)
{
	reduce_units<R, lanes>(p, blockIdx.x, gridDim.x);
}

/* Merge the parts of each output, one warp per output. */
template <class R>
__device__ __forceinline__ void reduce_outputs(const reduce_plan &p, uint32_t block,
					       uint32_t blocks)
{
	constexpr int per_block = REDUCE_THREADS / REDUCE_WARP;
	const uint32_t lane = threadIdx.x % REDUCE_WARP;

	for (uint64_t output = (uint64_t)block * per_block + threadIdx.x / REDUCE_WARP;
	     output < p.outer.count; output += (uint64_t)blocks * per_block) {
		const typename R::Acc *partial =
			(const typename R::Acc *)p.partial + output * p.parts;
		typename R::Acc acc = R::start();

		for (uint32_t part = lane; part < p.parts; part += REDUCE_WARP)
			R::merge(acc, partial[part]);
		reduce_warp<R>(acc);
		if (lane == 0)
			R::store(p, reduce_offset(p.outer, 1, output), acc);
	}
}

template <class R>
__global__ void __launch_bounds__(REDUCE_THREADS)
	reduce_finish_kernel(const __grid_constant__ reduce_plan p)
{
	reduce_outputs<R>(p, blockIdx.x, gridDim.x);
}

template <class R> struct reduce_nodes {
	static kernel_node thread, warp, block, finish;
};
template <class R> kernel_node reduce_nodes<R>::thread((const void *)reduce_kernel<R, 1>);
template <class R> kernel_node reduce_nodes<R>::warp((const void *)reduce_kernel<R, REDUCE_WARP>);
template <class R>
kernel_node reduce_nodes<R>::block((const void *)reduce_kernel<R, REDUCE_THREADS>);
template <class R> kernel_node reduce_nodes<R>::finish((const void *)reduce_finish_kernel<R>);

static inline unsigned reduce_blocks(uint64_t units, uint32_t per_block)
{
	const uint64_t blocks = (units + per_block - 1) / per_block;

	return blocks < REDUCE_BLOCKS ? (unsigned)blocks : REDUCE_BLOCKS;
}

template <class R> cudaError_t reduce_launch(const reduce_plan *p, cudaStream_t stream)
{
	const unsigned blocks = reduce_blocks(p->outer.count * p->parts, REDUCE_THREADS / p->lanes);
	cudaError_t err;

	kernel_name(&reduce_nodes<R>::thread);
	kernel_name(&reduce_nodes<R>::warp);
	kernel_name(&reduce_nodes<R>::block);
	kernel_name(&reduce_nodes<R>::finish);
	if (p->lanes == 1)
		reduce_kernel<R, 1><<<blocks, REDUCE_THREADS, 0, stream>>>(*p);
	else if (p->lanes == REDUCE_WARP)
		reduce_kernel<R, REDUCE_WARP><<<blocks, REDUCE_THREADS, 0, stream>>>(*p);
	else
		reduce_kernel<R, REDUCE_THREADS><<<blocks, REDUCE_THREADS, 0, stream>>>(*p);
	err = cudaGetLastError();
	if (err != cudaSuccess || p->parts <= 1)
		return err;
	reduce_finish_kernel<R><<<reduce_blocks(p->outer.count, REDUCE_THREADS / REDUCE_WARP),
				  REDUCE_THREADS, 0, stream>>>(*p);
	return cudaGetLastError();
}

#endif
