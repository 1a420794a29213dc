/* SPDX-License-Identifier: MIT */
/* choose.cu - compare two numbers, or choose between two by a condition, into a stream. */
#include "kernels/choose.cuh"

cudaError_t kernel_compare(const walk *w, const quoit_device_call *call, cudaStream_t stream)
{
	return compare_choose(*call, map_into_stream{w, stream});
}

cudaError_t kernel_select(const walk *w, const quoit_device_call *call, cudaStream_t stream)
{
	return select_choose(*call, map_into_stream{w, stream});
}
