/* SPDX-License-Identifier: MIT */
/* arithmetic.cu - arithmetic on two numbers, into a stream. */
#include "kernels/arithmetic.cuh"

cudaError_t kernel_arithmetic(const walk *w, const quoit_device_call *call, cudaStream_t stream)
{
	return arithmetic_choose(*call, map_into_stream{w, stream});
}
