/* SPDX-License-Identifier: MIT */
/*
 * direct_ring.cuh - ring.h on a device: words of host memory, in the order of the whole system.
 *
 * Each access is the instruction that PTX's memory model gives for its order; sequentially
 * consistent ones have a fence before them, so that a store is seen before a load that follows.
 */
#ifndef QUOIT_CUDA_DIRECT_RING_CUH
#define QUOIT_CUDA_DIRECT_RING_CUH

#include <stdint.h>

enum direct_order { DIRECT_RELAXED, DIRECT_ACQUIRE, DIRECT_RELEASE, DIRECT_SEQ_CST };

static __device__ __forceinline__ uint32_t direct_load(const uint32_t *p, direct_order order)
{
	uint32_t x;

	if (order == DIRECT_SEQ_CST)
		asm volatile("fence.sc.sys;" : : : "memory");
	if (order == DIRECT_RELAXED)
		asm volatile("ld.relaxed.sys.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
	else
		asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
	return x;
}

static __device__ __forceinline__ uint64_t direct_load(const uint64_t *p, direct_order)
{
	uint64_t x;

	asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(x) : "l"(p) : "memory");
	return x;
}

static __device__ __forceinline__ void direct_store(uint32_t *p, uint32_t x, direct_order order)
{
	if (order == DIRECT_SEQ_CST)
		asm volatile("fence.sc.sys;" : : : "memory");
	if (order == DIRECT_RELEASE)
		asm volatile("st.release.sys.u32 [%0], %1;" : : "l"(p), "r"(x) : "memory");
	else
		asm volatile("st.relaxed.sys.u32 [%0], %1;" : : "l"(p), "r"(x) : "memory");
}

#define QUOIT_RING_FUNCTION           static __device__ __forceinline__
#define QUOIT_RING_RELAXED            DIRECT_RELAXED
#define QUOIT_RING_ACQUIRE            DIRECT_ACQUIRE
#define QUOIT_RING_RELEASE            DIRECT_RELEASE
#define QUOIT_RING_SEQ_CST            DIRECT_SEQ_CST
#define QUOIT_RING_LOAD(p, order)     direct_load((p), (order))
#define QUOIT_RING_STORE(p, v, order) direct_store((p), (v), (order))

#include <quoit/ring.h>

#endif
