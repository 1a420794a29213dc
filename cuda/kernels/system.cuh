/* SPDX-License-Identifier: MIT */
/*
 * system.cuh - access to words that device and host share, and to the device's clock.
 *
 * C++ has neither, so this is PTX. Each access is the instruction that PTX's memory model has for
 * its order. A sequentially consistent one has a fence before it, so that the host sees an earlier
 * store before the device loads.
 */
#ifndef QUOIT_CUDA_SYSTEM_CUH
#define QUOIT_CUDA_SYSTEM_CUH

#include <stdint.h>

enum system_order { SYSTEM_RELAXED, SYSTEM_ACQUIRE, SYSTEM_RELEASE, SYSTEM_SEQ_CST };

static __device__ __forceinline__ uint32_t system_load(const uint32_t *p, system_order order)
{
	uint32_t x;

	if (order == SYSTEM_SEQ_CST)
		asm volatile("fence.sc.sys;" : : : "memory");
	if (order == SYSTEM_RELAXED)
		asm volatile("ld.relaxed.sys.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
	else
		asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
	return x;
}

static __device__ __forceinline__ uint64_t system_load(const uint64_t *p, system_order order)
{
	uint64_t x;

	if (order == SYSTEM_SEQ_CST)
		asm volatile("fence.sc.sys;" : : : "memory");
	if (order == SYSTEM_RELAXED)
		asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(x) : "l"(p) : "memory");
	else
		asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(x) : "l"(p) : "memory");
	return x;
}

static __device__ __forceinline__ void system_store(uint32_t *p, uint32_t x, system_order order)
{
	if (order == SYSTEM_SEQ_CST)
		asm volatile("fence.sc.sys;" : : : "memory");
	if (order == SYSTEM_RELEASE)
		asm volatile("st.release.sys.u32 [%0], %1;" : : "l"(p), "r"(x) : "memory");
	else
		asm volatile("st.relaxed.sys.u32 [%0], %1;" : : "l"(p), "r"(x) : "memory");
}

/* The device's clock, in ns. */
static __device__ __forceinline__ uint64_t system_now(void)
{
	uint64_t ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

#endif
