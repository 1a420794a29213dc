/* SPDX-License-Identifier: MIT */
/* clock.cu - the device's clock. */
#include "kernels/kernels.h"

static __global__ void stamp_kernel(uint64_t *word)
{
	uint64_t now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	*word = now;
	__threadfence_system();
}

cudaError_t kernel_stamp(uint64_t *word, cudaStream_t stream)
{
	stamp_kernel<<<1, 1, 0, stream>>>(word);
	return cudaGetLastError();
}
