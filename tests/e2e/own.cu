/* SPDX-License-Identifier: MIT */
/*
 * own.cu - the soft device's built-in kernels, for tests on a real device; they do all of the work,
 * for any grid
 */
#include "kernels/system.cuh"

extern "C" __global__ void stencil5(float *out, const float *in, unsigned rows, unsigned cols)
{
	const unsigned down = gridDim.y * blockDim.y;
	const unsigned across = gridDim.x * blockDim.x;

	for (size_t i = blockIdx.y * blockDim.y + threadIdx.y; i < rows; i += down) {
		for (size_t j = blockIdx.x * blockDim.x + threadIdx.x; j < cols; j += across) {
			const float *at = in + i * cols + j;
			float *to = out + i * cols + j;

			if (!i || !j || i == rows - 1 || j == cols - 1)
				*to = *at;
			else
				*to = 0.2f *
				      (*at + at[-(ptrdiff_t)cols] + at[cols] + at[-1] + at[1]);
		}
	}
}

extern "C" __global__ void saxpy(unsigned n, float a, const float *x, float *y)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		y[i] = a * x[i] + y[i];
}

extern "C" __global__ void spin(unsigned long long ns)
{
	const uint64_t begin = system_now();

	while (system_now() - begin < ns)
		;
}
