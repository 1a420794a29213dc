/* SPDX-License-Identifier: MIT */
/* function.cu - functions of one floating-point number, and relu's gradient. */
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

template <class T> struct relu_grad : map_binary<T> {
	__device__ T operator()(T x, T dy) const
	{
		return x > 0 ? dy : (T)0;
	}
};

template <class T> static cudaError_t launch(const walk *w, uint8_t opcode, cudaStream_t stream)
{
	switch (opcode) {
	case QUOIT_OP_RELU:
		return map_launch(w, relu<T>(), stream);
	case QUOIT_OP_RELU_GRAD:
		return map_launch(w, relu_grad<T>(), stream);
	case QUOIT_OP_EXP:
		return map_launch(w, exponential<T>(), stream);
	case QUOIT_OP_LOG:
		return map_launch(w, logarithm<T>(), stream);
	case QUOIT_OP_SQRT:
		return map_launch(w, root<T>(), stream);
	case QUOIT_OP_TANH:
		return map_launch(w, tangent<T>(), stream);
	case QUOIT_OP_SIN:
		return map_launch(w, sine<T>(), stream);
	case QUOIT_OP_COS:
		return map_launch(w, cosine<T>(), stream);
	default:
		return map_launch(w, sigmoid<T>(), stream);
	}
}

cudaError_t kernel_function(const walk *w, const quoit_device_call *call, cudaStream_t stream)
{
	if (call->tensor[0].dtype == QUOIT_F32)
		return launch<float>(w, call->opcode, stream);
	return launch<double>(w, call->opcode, stream);
}
