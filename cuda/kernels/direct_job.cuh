/* SPDX-License-Identifier: MIT */
/* direct_job.cuh - a request in the shared memory of its block, and the plan by which it runs */
#ifndef QUOIT_CUDA_DIRECT_JOB_CUH
#define QUOIT_CUDA_DIRECT_JOB_CUH

#include <quoit/direct.h>

#include "kernels/gemm_plan.h"
#include "kernels/reduce_ops.cuh"
#include "kernels/reduce_plan.h"
#include "kernels/walk.h"

#define DIRECT_THREADS 256
static_assert(DIRECT_THREADS == REDUCE_THREADS, "a block of reduce.cuh");

/* The most partial results of a reduction: each is of REDUCE_COLUMN_LEAST elements or more. */
#define PARTIALS (QUOIT_DIRECT_ELEMENTS / REDUCE_COLUMN_LEAST)

/* A request in a block's shared memory. */
struct direct_job {
	quoit_device_call call;
	union {
		struct walk walk;
		struct reduce_plan reduce;
		struct gemm_plan gemm;
	};
	uint64_t partial[PARTIALS * KERNEL_PARTIAL / sizeof(uint64_t)];
};

#endif
