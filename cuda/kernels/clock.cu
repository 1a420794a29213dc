/* SPDX-License-Identifier: MIT */
/* clock.cu - read the device's clock, and find its step. */
#include "kernels/kernels.h"
#include "kernels/listed.cuh"
#include "kernels/system.cuh"

/* How many steps are measured. Some seem longer, because a reading came late: take the least. */
#define CLOCK_STEPS 64

static __global__ void stamp_kernel(uint64_t *word)
{
	*word = system_now();
	__threadfence_system();
}

static kernel_node stamp_node((const void *)stamp_kernel);

/* If the clock steps faster than it can be read, this finds the time that a reading takes. */
static __global__ void step_kernel(uint64_t *word)
{
	uint64_t least = UINT64_MAX;
	uint64_t last = system_now();

	for (int i = 0; i < CLOCK_STEPS; i++) {
		uint64_t now = system_now();

		while (now == last)
			now = system_now();
		least = now - last < least ? now - last : least;
		last = now;
	}
	*word = least;
	__threadfence_system();
}

static kernel_node step_node((const void *)step_kernel);

cudaError_t kernel_clock_step(uint64_t *step, cudaStream_t stream)
{
	kernel_name(&step_node);
	step_kernel<<<1, 1, 0, stream>>>(step);
	return cudaGetLastError();
}

cudaError_t kernel_stamp(uint64_t *word, cudaStream_t stream)
{
	kernel_name(&stamp_node);
	stamp_kernel<<<1, 1, 0, stream>>>(word);
	return cudaGetLastError();
}
