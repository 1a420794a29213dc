/* SPDX-License-Identifier: MIT */
/* arithmetic.cu - what two numbers make: add, sub, mul, div, min, max, axpby. */
#include "kernels/element.h"
#include "kernels/map.cuh"

/* Integers wrap, which in C++ only unsigned ones do: the type to compute in. */
template <class T> struct wrap {
	using type = T;
};
template <> struct wrap<int32_t> {
	using type = uint32_t;
};
template <> struct wrap<int64_t> {
	using type = uint64_t;
};

#define ARITHMETIC(name, expr)                                                                     \
	template <class T> struct name : map_binary<T> {                                           \
		using W = typename wrap<T>::type;                                                  \
		__device__ T operator()(T x, T y) const                                            \
		{                                                                                  \
			return (T)(expr);                                                          \
		}                                                                                  \
	};

#define OVERLOAD(name)                                                                             \
	static __device__ __forceinline__ float name(float x, float y)                             \
	{                                                                                          \
		return element_##name##_f32(x, y);                                                 \
	}                                                                                          \
	static __device__ __forceinline__ double name(double x, double y)                          \
	{                                                                                          \
		return element_##name##_f64(x, y);                                                 \
	}

namespace pick
{
OVERLOAD(min)
OVERLOAD(max)

template <class T> __device__ __forceinline__ T min(T x, T y)
{
	return x < y ? x : y;
}

template <class T> __device__ __forceinline__ T max(T x, T y)
{
	return x > y ? x : y;
}

static __device__ __forceinline__ float div(float x, float y)
{
	return x / y;
}

static __device__ __forceinline__ double div(double x, double y)
{
	return x / y;
}

static __device__ __forceinline__ int32_t div(int32_t x, int32_t y)
{
	return element_div_i32(x, y);
}

static __device__ __forceinline__ int64_t div(int64_t x, int64_t y)
{
	return element_div_i64(x, y);
}
} // namespace pick

ARITHMETIC(add, (W)x + (W)y)
ARITHMETIC(sub, (W)x - (W)y)
ARITHMETIC(mul, (W)x *(W)y)
ARITHMETIC(quotient, pick::div(x, y))
ARITHMETIC(smaller, pick::min(x, y))
ARITHMETIC(larger, pick::max(x, y))

template <class T> struct axpby : map_binary<T> {
	using W = typename wrap<T>::type;
	W a, b;
	__device__ T operator()(T x, T y) const
	{
		return (T)(a * (W)x + b * (W)y);
	}
};

/* A scalar is the bits of a double for floating-point types, else of an integer. */
template <class T> static T scalar_as(uint64_t bits)
{
	return (T)bits;
}
template <> float scalar_as<float>(uint64_t bits)
{
	return (float)element_f64(bits);
}
template <> double scalar_as<double>(uint64_t bits)
{
	return element_f64(bits);
}

template <class T>
static cudaError_t launch(const walk *w, const quoit_device_call *call, cudaStream_t stream)
{
	axpby<T> both;

	switch (call->opcode) {
	case QUOIT_OP_ADD:
		return map_launch(w, add<T>(), stream);
	case QUOIT_OP_SUB:
		return map_launch(w, sub<T>(), stream);
	case QUOIT_OP_MUL:
		return map_launch(w, mul<T>(), stream);
	case QUOIT_OP_DIV:
		return map_launch(w, quotient<T>(), stream);
	case QUOIT_OP_MIN:
		return map_launch(w, smaller<T>(), stream);
	case QUOIT_OP_MAX:
		return map_launch(w, larger<T>(), stream);
	default:
		both.a = scalar_as<typename wrap<T>::type>(call->scalar[0]);
		both.b = scalar_as<typename wrap<T>::type>(call->scalar[1]);
		return map_launch(w, both, stream);
	}
}

cudaError_t kernel_arithmetic(const walk *w, const quoit_device_call *call, cudaStream_t stream)
{
	switch (call->tensor[0].dtype) {
	case QUOIT_F32:
		return launch<float>(w, call, stream);
	case QUOIT_F64:
		return launch<double>(w, call, stream);
	case QUOIT_I32:
		return launch<int32_t>(w, call, stream);
	default:
		return launch<int64_t>(w, call, stream);
	}
}
