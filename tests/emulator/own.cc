/* SPDX-License-Identifier: MIT */
/* own.cc - kernels that tests bring as PTX: those of tests/e2e/own.cu and of
 * tests/gpu/test_streams.c */
#include "kernels.cuh"
#include "kernels/system.cuh"

/* Arguments in one piece, each at the next place that its alignment allows. */
struct pieces {
	const char *at;
	size_t used;

	template <class T> T next()
	{
		T value;

		used = (used + alignof(T) - 1) & ~(alignof(T) - 1);
		memcpy(&value, at + used, sizeof(value));
		used += sizeof(value);
		return value;
	}
};

template <class... P> static constexpr size_t bytes_of(void (*)(P...))
{
	size_t used = 0;

	((used = ((used + alignof(P) - 1) & ~(alignof(P) - 1)) + sizeof(P)), ...);
	return used;
}

template <class... P> static void call(void (*kernel)(P...), void *args)
{
	pieces piece = {(const char *)args, 0};
	/* In braces they are taken one after the other. */
	const std::tuple<P...> all{piece.next<P>()...};

	std::apply(kernel, all);
}

static void stencil5(float *out, const float *in, unsigned rows, unsigned cols)
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

static void saxpy(unsigned n, float a, const float *x, float *y)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		y[i] = a * x[i] + y[i];
}

static void spin(unsigned long long ns)
{
	const uint64_t begin = system_now();

	while (system_now() - begin < ns)
		;
}

static void scale(float *y, const float *x, float a, unsigned n)
{
	const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		y[i] = x[i] * a;
}

static void store(uint64_t *where)
{
	*(volatile uint64_t *)where = (uint64_t)where;
}

#define KERNEL(name)                                                                               \
	{                                                                                          \
#name, bytes_of(name), [](void *args) { call(name, args); }                        \
	}

const emulator_kernel emulator_kernels[] = {KERNEL(stencil5), KERNEL(saxpy), KERNEL(spin),
					    KERNEL(scale),    KERNEL(store), {nullptr, 0, nullptr}};
