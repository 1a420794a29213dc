/* SPDX-License-Identifier: MIT */
/* system.cuh - cuda/kernels/system.cuh for a host */
#ifndef QUOIT_CUDA_SYSTEM_CUH
#define QUOIT_CUDA_SYSTEM_CUH

#include <sched.h>
#include <stdint.h>
#include <time.h>

enum system_order {
	SYSTEM_RELAXED = __ATOMIC_RELAXED,
	SYSTEM_ACQUIRE = __ATOMIC_ACQUIRE,
	SYSTEM_RELEASE = __ATOMIC_RELEASE,
	SYSTEM_SEQ_CST = __ATOMIC_SEQ_CST
};

template <class T> static inline T system_load(const T *p, system_order order)
{
	return __atomic_load_n(p, order);
}

static inline void system_store(uint32_t *p, uint32_t x, system_order order)
{
	__atomic_store_n(p, x, order);
}

/* A thread that reads the clock waits for something, which may need the processor: so it yields. */
static inline uint64_t system_now(void)
{
	struct timespec now;

	sched_yield();
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif
