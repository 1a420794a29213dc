/* SPDX-License-Identifier: MIT */
/*
 * own.cc - the kernels that tests bring as PTX, of tests/e2e/own.cu and of tests/gpu/test_streams.c
 */
#include "kernels.cuh"
#include "../e2e/own.cu"

/* Arguments in one piece, each at the next offset with its alignment. */
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
	/* Braces evaluate them one after the other. */
	const std::tuple<P...> all{piece.next<P>()...};

	std::apply(kernel, all);
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
