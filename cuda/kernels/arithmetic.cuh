/* SPDX-License-Identifier: MIT */
/* arithmetic.cuh - operations on two numbers, element by element. */
#ifndef QUOIT_CUDA_ARITHMETIC_CUH
#define QUOIT_CUDA_ARITHMETIC_CUH

#include "kernels/element.h"
#include "kernels/map.cuh"
#include "kernels/row.cuh"

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

/* The F of an operation is arithmetic_NAME<T>: one for each row of ops.def. */
#define ARITHMETIC(name, expr)                                                                     \
	template <class T> struct arithmetic_##name : map_binary<T> {                              \
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
ARITHMETIC(div, pick::div(x, y))
ARITHMETIC(min, pick::min(x, y))
ARITHMETIC(max, pick::max(x, y))
ARITHMETIC(pow, pick::power(x, y))

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

/* As arithmetic_NAME, with the scalars of the call. */
template <class T> struct blend_axpby : map_binary<T> {
	using W = typename wrap<T>::type;
	W a, b;
	explicit __host__ __device__ blend_axpby(const quoit_device_call &call)
	    : a(scalar_as<W>(call.scalar[0])), b(scalar_as<W>(call.scalar[1]))
	{
	}
	__device__ T operator()(T x, T y) const
	{
		return (T)(a * (W)x + b * (W)y);
	}
};

/* Call go with the F of an operation that has this type; it does not compile before F is above. */
#pragma nv_exec_check_disable
template <class T, uint8_t dtype, class Go>
static __host__ __device__ auto arithmetic_as(const quoit_device_call &call, Go go)
{
	switch (call.opcode) {
#define QUOIT_ROW_ARITHMETIC(nr, name, types) ROW_CASE(nr, types, go(arithmetic_##name<T>()))
#define QUOIT_ROW_BLEND(nr, name, types)      ROW_CASE(nr, types, go(blend_##name<T>(call)))
#include <quoit/family_ops.def>
	default:
		break;
	}
	/* Never reached. The compiler needs a result, and add has all types. */
	return go(arithmetic_add<T>());
}

/* Call go with the F of the call's operation and type. */
#pragma nv_exec_check_disable
template <class Go>
static __host__ __device__ auto arithmetic_choose(const quoit_device_call &call, Go go)
{
	switch (call.tensor[0].dtype) {
	case QUOIT_F32:
		return arithmetic_as<float, QUOIT_F32>(call, go);
	case QUOIT_F64:
		return arithmetic_as<double, QUOIT_F64>(call, go);
	case QUOIT_I32:
		return arithmetic_as<int32_t, QUOIT_I32>(call, go);
	default:
		return arithmetic_as<int64_t, QUOIT_I64>(call, go);
	}
}

#endif
