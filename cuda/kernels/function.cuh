/* SPDX-License-Identifier: MIT */
/* function.cuh - functions of one number, and relu's gradient. */
#ifndef QUOIT_CUDA_FUNCTION_CUH
#define QUOIT_CUDA_FUNCTION_CUH

#include "kernels/element.h"
#include "kernels/map.cuh"

#define FUNCTION(name, f32, f64)                                                                   \
	template <class T> struct name;                                                            \
	template <> struct name<float> : map_unary<float> {                                        \
		__device__ float operator()(float x) const                                         \
		{                                                                                  \
			return f32(x);                                                             \
		}                                                                                  \
	};                                                                                         \
	template <> struct name<double> : map_unary<double> {                                      \
		__device__ double operator()(double x) const                                       \
		{                                                                                  \
			return f64(x);                                                             \
		}                                                                                  \
	};

FUNCTION(relu, element_relu_f32, element_relu_f64)
FUNCTION(exponential, expf, exp)
FUNCTION(logarithm, logf, log)
FUNCTION(root, sqrtf, sqrt)
FUNCTION(tangent, tanhf, tanh)
FUNCTION(sine, sinf, sin)
FUNCTION(cosine, cosf, cos)
FUNCTION(sigmoid, element_sigmoid_f32, element_sigmoid_f64)
FUNCTION(absolute, fabsf, fabs)
FUNCTION(lower, floorf, floor)

template <class T> struct relu_grad : map_binary<T> {
	__device__ T operator()(T x, T dy) const
	{
		return x > 0 ? dy : (T)0;
	}
};

/* The absolute value of an integer. The smallest integer has none, and stays as it is. */
template <class T, class Unsigned> struct magnitude : map_unary<T> {
	__device__ T operator()(T x) const
	{
		return (T)(x < 0 ? 0 - (Unsigned)x : (Unsigned)x);
	}
};

#pragma nv_exec_check_disable
template <class T, class Go> static __host__ __device__ auto function_as(uint8_t opcode, Go go)
{
	switch (opcode) {
	case QUOIT_OP_RELU:
		return go(relu<T>());
	case QUOIT_OP_RELU_GRAD:
		return go(relu_grad<T>());
	case QUOIT_OP_EXP:
		return go(exponential<T>());
	case QUOIT_OP_LOG:
		return go(logarithm<T>());
	case QUOIT_OP_SQRT:
		return go(root<T>());
	case QUOIT_OP_TANH:
		return go(tangent<T>());
	case QUOIT_OP_SIN:
		return go(sine<T>());
	case QUOIT_OP_COS:
		return go(cosine<T>());
	case QUOIT_OP_ABS:
		return go(absolute<T>());
	case QUOIT_OP_FLOOR:
		return go(lower<T>());
	default:
		return go(sigmoid<T>());
	}
}

/* Call go with the F of the call's operation and type. */
#pragma nv_exec_check_disable
template <class Go>
static __host__ __device__ auto function_choose(const quoit_device_call &call, Go go)
{
	switch (call.tensor[0].dtype) {
	case QUOIT_F32:
		return function_as<float>(call.opcode, go);
	case QUOIT_F64:
		return function_as<double>(call.opcode, go);
	case QUOIT_I32: /* of the functions, only ABS takes integers */
		return go(magnitude<int32_t, uint32_t>());
	default:
		return go(magnitude<int64_t, uint64_t>());
	}
}

#endif
