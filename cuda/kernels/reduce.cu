/* SPDX-License-Identifier: MIT */
/* reduce.cu - put reductions into a stream. */
#include "kernels/reduce_ops.cuh"

struct reduce_into_stream {
	const reduce_plan *plan;
	cudaStream_t stream;

	template <class R> cudaError_t operator()(R) const
	{
		return reduce_launch<R>(plan, stream);
	}
};

cudaError_t kernel_reduce(const reduce_plan *plan, cudaStream_t stream)
{
	return reduce_choose(*plan, reduce_into_stream{plan, stream});
}
