/* SPDX-License-Identifier: MIT */
/*
 * kernels.cuh - the part of nvcc's language that C++ lacks, for a kernel's file; include it before
 * all else.
 */
#ifndef EMULATOR_KERNELS_CUH
#define EMULATOR_KERNELS_CUH

#include <cstring>
#include <math.h>
#include <new>
#include <stdint.h>
#include <string.h>
#include <tuple>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <vector_types.h>

#include <quoit/direct.h>

#include "emulator.h"

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __noinline__
#undef __launch_bounds__
#undef __grid_constant__
#define __CUDACC__ /* only for our headers: the toolkit's are included already */
#define __global__
#define __device__
#define __host__
#define __shared__ static thread_local /* a host thread runs one block at a time */
#define __launch_bounds__(threads)
#define __grid_constant__
#define __noinline__

/* The position of a thread, set before the thread goes on. */
extern "C" {
extern __thread uint3 threadIdx, blockIdx;
extern __thread dim3 blockDim, gridDim;
}

static inline void __syncthreads(void)
{
	emulator_barrier();
}

static inline void emulator_whole_warp(unsigned mask)
{
	if (mask != 0xffffffffu)
		emulator_refuse("an exchange of less than a warp");
}

static inline uint64_t __shfl_down_sync(unsigned mask, uint64_t value, unsigned distance)
{
	const unsigned lane = emulator_lane();

	emulator_whole_warp(mask);
	return emulator_shuffle(value, lane + distance < EMULATOR_WARP ? lane + distance : lane);
}

static inline uint64_t __shfl_sync(unsigned mask, uint64_t value, unsigned from)
{
	emulator_whole_warp(mask);
	return emulator_shuffle(value, from % EMULATOR_WARP);
}

static inline unsigned __ballot_sync(unsigned mask, int value)
{
	emulator_whole_warp(mask);
	return emulator_ballot(value != 0);
}

static inline void __syncwarp(void)
{
	(void)emulator_shuffle(0, 0);
}

static inline int atomicCAS(int *at, int expected, int desired)
{
	__atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	return expected;
}

static inline void __threadfence_system(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* ---- launch: k<<<grid, block, shared bytes, stream>>>(args) is emulate({grid, ...}, k, args) ----
 */

struct emulator_config {
	dim3 grid, block;
	size_t shared_bytes;
	cudaStream_t stream;
};

template <class... P> struct emulator_call {
	void (*kernel)(P...);
	std::tuple<P...> args;

	static void thread(void *call)
	{
		const emulator_call *const c = (const emulator_call *)call;

		std::apply(c->kernel, c->args);
	}
};

/*
 * A resident kernel is recognised by its arguments, which have the word that says that it leaves.
 */
template <class... P> struct emulator_left {
	static const uint32_t *word(const P &...)
	{
		return nullptr;
	}
};
template <> struct emulator_left<const quoit_direct_requests *, quoit_direct_words *> {
	static const uint32_t *word(const quoit_direct_requests *, quoit_direct_words *words)
	{
		return &words->left;
	}
};

template <class... P> static void emulate(const emulator_config &c, void (*kernel)(P...), P... args)
{
	const emulator_call<P...> call = {kernel, std::tuple<P...>(args...)};
	const emulator_grid grid = {c.grid,         c.block,
				    c.shared_bytes, emulator_call<P...>::thread,
				    nullptr,        emulator_left<P...>::word(args...)};

	(void)emulator_launch(c.stream, (const void *)kernel, &grid, &call, sizeof(call));
}

/* Converts arguments if necessary; a kernel that is a template takes them unchanged. */
template <class... P, class... A>
static void emulate(const emulator_config &c, void (*kernel)(P...), A... args)
{
	emulate<P...>(c, kernel, static_cast<P>(args)...);
}

#endif
