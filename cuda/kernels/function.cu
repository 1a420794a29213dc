/* SPDX-License-Identifier: MIT */
/* function.cu - functions of one floating-point number, into a stream. */
#include "kernels/function.cuh"

cudaError_t kernel_function(const walk *w, const quoit_device_call *call, cudaStream_t stream)
{
	return function_choose(*call, map_into_stream{w, stream});
}
