/* SPDX-License-Identifier: MIT */
/* direct_ring.cuh - ring.h on a device: loads and stores of host memory, ordered system-wide. */
#ifndef QUOIT_CUDA_DIRECT_RING_CUH
#define QUOIT_CUDA_DIRECT_RING_CUH

#include "kernels/system.cuh"

#define QUOIT_RING_FUNCTION           static __device__ __forceinline__
#define QUOIT_RING_RELAXED            SYSTEM_RELAXED
#define QUOIT_RING_ACQUIRE            SYSTEM_ACQUIRE
#define QUOIT_RING_RELEASE            SYSTEM_RELEASE
#define QUOIT_RING_SEQ_CST            SYSTEM_SEQ_CST
#define QUOIT_RING_LOAD(p, order)     system_load((p), (order))
#define QUOIT_RING_STORE(p, v, order) system_store((p), (v), (order))

#include <quoit/ring.h>

#endif
