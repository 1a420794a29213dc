/* SPDX-License-Identifier: MIT */
/* direct_reduce.cuh - reductions that one block runs */
#ifndef QUOIT_CUDA_DIRECT_REDUCE_CUH
#define QUOIT_CUDA_DIRECT_REDUCE_CUH

#include "kernels/direct_job.cuh"
#include "kernels/reduce_ops.cuh"

template <class R> inline __device__ __noinline__ void direct_reduce_as(const reduce_plan &p)
{
	if (p.lanes == 1)
		reduce_units<R, 1>(p, 0, 1);
	else if (p.lanes == REDUCE_WARP)
		reduce_units<R, REDUCE_WARP>(p, 0, 1);
	else
		reduce_units<R, REDUCE_THREADS>(p, 0, 1);
	if (p.parts > 1) {
		__syncthreads();
		reduce_outputs<R>(p, 0, 1);
	}
}

struct direct_reduce_go {
	const reduce_plan &p;

	template <class R> __device__ void operator()(R) const
	{
		direct_reduce_as<R>(p);
	}
};

static __device__ void direct_prepare_reduce(direct_job &job)
{
	if (threadIdx.x > 0)
		return;
	(void)reduce_describe(&job.call, &job.reduce);
	job.reduce.partial = (uint64_t)job.partial;
}

#endif
