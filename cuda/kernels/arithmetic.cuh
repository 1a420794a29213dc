/* SPDX-License-Identifier: MIT */
/* arithmetic.cuh - operations on two numbers, element by element. */
#ifndef QUOIT_CUDA_ARITHMETIC_CUH
#define QUOIT_CUDA_ARITHMETIC_CUH

#include "kernels/element.h"
#include "kernels/map.cuh"

/* The type to compute in. Integers must wrap, and in C++ only unsigned ones do. */
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

static __device__ __forceinline__ float power(float x, float y)
{
	return powf(x, y);
}

static __device__ __forceinline__ double power(double x, double y)
{
	return pow(x, y);
}

template <class T> __device__ __forceinline__ T power(T x, T y)
{
	return (T)element_pow_i64(x, y);
}
} // namespace pick

ARITHMETIC(add, (W)x + (W)y)
ARITHMETIC(sub, (W)x - (W)y)
ARITHMETIC(mul, (W)x *(W)y)
ARITHMETIC(quotient, pick::div(x, y))
ARITHMETIC(smaller, pick::min(x, y))
ARITHMETIC(larger, pick::max(x, y))
ARITHMETIC(power, pick::power(x, y))

template <class T> struct axpby : map_binary<T> {
	using W = typename wrap<T>::type;
	W a, b;
	__device__ T operator()(T x, T y) const
	{
		return (T)(a * (W)x + b * (W)y);
	}
};

/* A job's scalar is the bits of a double for floating-point types, of an integer for others. */
template <class T> static __host__ __device__ T scalar_as(uint64_t bits)
{
	return (T)bits;
}
template <> inline __host__ __device__ float scalar_as<float>(uint64_t bits)
{
	return (float)element_f64(bits);
}
template <> inline __host__ __device__ double scalar_as<double>(uint64_t bits)
{
	return element_f64(bits);
}

#pragma nv_exec_check_disable
template <class T, class Go>
static __host__ __device__ auto arithmetic_as(const quoit_device_call &call, Go go)
{
	axpby<T> both;

	switch (call.opcode) {
	case QUOIT_OP_ADD:
		return go(add<T>());
	case QUOIT_OP_SUB:
		return go(sub<T>());
	case QUOIT_OP_MUL:
		return go(mul<T>());
	case QUOIT_OP_DIV:
		return go(quotient<T>());
	case QUOIT_OP_MIN:
		return go(smaller<T>());
	case QUOIT_OP_MAX:
		return go(larger<T>());
	case QUOIT_OP_POW:
		return go(power<T>());
	default:
		both.a = scalar_as<typename wrap<T>::type>(call.scalar[0]);
		both.b = scalar_as<typename wrap<T>::type>(call.scalar[1]);
		return go(both);
	}
}

/* Call go with the F of the call's operation and type. */
#pragma nv_exec_check_disable
template <class Go>
static __host__ __device__ auto arithmetic_choose(const quoit_device_call &call, Go go)
{
	switch (call.tensor[0].dtype) {
	case QUOIT_F32:
		return arithmetic_as<float>(call, go);
	case QUOIT_F64:
		return arithmetic_as<double>(call, go);
	case QUOIT_I32:
		return arithmetic_as<int32_t>(call, go);
	default:
		return arithmetic_as<int64_t>(call, go);
	}
}

#endif
