/* SPDX-License-Identifier: MIT */
/* function.cuh - functions of one number, and relu's gradient. */
#ifndef QUOIT_CUDA_FUNCTION_CUH
#define QUOIT_CUDA_FUNCTION_CUH

#include "kernels/element.h"
#include "kernels/map.cuh"
#include "kernels/row.cuh"

/* The F of an operation is function_NAME<T>: one for each row of ops.def, which says its types. */
#define FUNCTION(name, f32, f64)                                                                   \
	template <class T> struct function_##name;                                                 \
	template <> struct function_##name<float> : map_unary<float> {                             \
		__device__ float operator()(float x) const                                         \
		{                                                                                  \
			return f32(x);                                                             \
		}                                                                                  \
	};                                                                                         \
	template <> struct function_##name<double> : map_unary<double> {                           \
		__device__ double operator()(double x) const                                       \
		{                                                                                  \
			return f64(x);                                                             \
		}                                                                                  \
	};

/* After FUNCTION: the F for integers; expr makes the result from x. Unsigned integers wrap. */
#define FUNCTION_INTEGER(name, expr)                                                               \
	template <> struct function_##name<int32_t> : map_unary<int32_t> {                         \
		using U = uint32_t;                                                                \
		__device__ int32_t operator()(int32_t x) const                                     \
		{                                                                                  \
			return (int32_t)(expr);                                                    \
		}                                                                                  \
	};                                                                                         \
	template <> struct function_##name<int64_t> : map_unary<int64_t> {                         \
		using U = uint64_t;                                                                \
		__device__ int64_t operator()(int64_t x) const                                     \
		{                                                                                  \
			return (int64_t)(expr);                                                    \
		}                                                                                  \
	};

FUNCTION(relu, element_relu_f32, element_relu_f64)
FUNCTION(exp, expf, exp)
FUNCTION(log, logf, log)
FUNCTION(sqrt, sqrtf, sqrt)
FUNCTION(tanh, tanhf, tanh)
FUNCTION(sin, sinf, sin)
FUNCTION(cos, cosf, cos)
FUNCTION(sigmoid, element_sigmoid_f32, element_sigmoid_f64)
FUNCTION(abs, fabsf, fabs)
FUNCTION_INTEGER(abs, x < 0 ? 0 - (U)x : (U)x)
FUNCTION(floor, floorf, floor)

template <class T> struct function_relu_grad : map_binary<T> {
	__device__ T operator()(T x, T dy) const
	{
		return x > 0 ? dy : (T)0;
	}
};

/* Call go with the F of an operation that has this type; it does not compile before F is above. */
#pragma nv_exec_check_disable
template <class T, uint8_t dtype, class Go>
static __host__ __device__ auto function_as(uint8_t opcode, Go go)
{
	switch (opcode) {
#define QUOIT_ROW_FUNCTION(nr, name, types) ROW_CASE(nr, types, go(function_##name<T>()))
#define QUOIT_ROW_GRADIENT                  QUOIT_ROW_FUNCTION
#include <quoit/family_ops.def>
	default:
		break;
	}
	/* Never reached. The compiler needs a result, and abs has all types. */
	return go(function_abs<T>());
}

/* Call go with the F of the call's operation and type. */
#pragma nv_exec_check_disable
template <class Go>
static __host__ __device__ auto function_choose(const quoit_device_call &call, Go go)
{
	switch (call.tensor[0].dtype) {
	case QUOIT_F32:
		return function_as<float, QUOIT_F32>(call.opcode, go);
	case QUOIT_F64:
		return function_as<double, QUOIT_F64>(call.opcode, go);
	case QUOIT_I32:
		return function_as<int32_t, QUOIT_I32>(call.opcode, go);
	default:
		return function_as<int64_t, QUOIT_I64>(call.opcode, go);
	}
}

#endif
