/* SPDX-License-Identifier: MIT */
/* cast.cu - conversion between types, each in one rounding. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/half.h"
#include "kernels/map.cuh"

/* The two types of 16 bits, distinct from each other and from integers. */
struct f16 {
	uint16_t bits;
};
struct bf16 {
	uint16_t bits;
};

template <class To> struct to;

/* Types with a plain conversion. */
#define TO_FLOAT(type)                                                                             \
	template <> struct to<type> {                                                              \
		template <class From> static __device__ type of(From x)                            \
		{                                                                                  \
			return (type)x;                                                            \
		}                                                                                  \
		static __device__ type of(f16 x)                                                   \
		{                                                                                  \
			return __half2float(__ushort_as_half(x.bits));                             \
		}                                                                                  \
		static __device__ type of(bf16 x)                                                  \
		{                                                                                  \
			return element_f32((uint32_t)x.bits << 16);                                \
		}                                                                                  \
	};

TO_FLOAT(float)
TO_FLOAT(double)

#define TO_INTEGER(type, name, other, from_other)                                                  \
	template <> struct to<type> {                                                              \
		static __device__ type of(type x)                                                  \
		{                                                                                  \
			return x;                                                                  \
		}                                                                                  \
		static __device__ type of(other x)                                                 \
		{                                                                                  \
			return from_other(x);                                                      \
		}                                                                                  \
		static __device__ type of(float x)                                                 \
		{                                                                                  \
			return element_##name##_from_f32(x);                                       \
		}                                                                                  \
		static __device__ type of(double x)                                                \
		{                                                                                  \
			return element_##name##_from_f64(x);                                       \
		}                                                                                  \
		static __device__ type of(f16 x)                                                   \
		{                                                                                  \
			return element_##name##_from_f32(to<float>::of(x));                        \
		}                                                                                  \
		static __device__ type of(bf16 x)                                                  \
		{                                                                                  \
			return element_##name##_from_f32(to<float>::of(x));                        \
		}                                                                                  \
	};

TO_INTEGER(int32_t, i32, int64_t, element_i32_from_i64)
TO_INTEGER(int64_t, i64, int32_t, (int64_t))

template <> struct to<f16> {
	static __device__ f16 of(f16 x)
	{
		return x;
	}
	static __device__ f16 of(float x)
	{
		return {__half_as_ushort(__float2half_rn(x))};
	}
	static __device__ f16 of(double x)
	{
		return {half_f16_from_f64(x)};
	}
	static __device__ f16 of(int32_t x)
	{
		return {half_f16_from_f64(x)};
	}
	static __device__ f16 of(int64_t x)
	{
		return {half_f16_from_f64(half_from_i64_exactly(x))};
	}
	static __device__ f16 of(bf16 x)
	{
		return of(to<float>::of(x));
	}
};

template <> struct to<bf16> {
	static __device__ bf16 of(bf16 x)
	{
		return x;
	}
	static __device__ bf16 of(float x)
	{
		return {__bfloat16_as_ushort(__float2bfloat16_rn(x))};
	}
	static __device__ bf16 of(double x)
	{
		return {half_bf16_from_f64(x)};
	}
	static __device__ bf16 of(int32_t x)
	{
		return {half_bf16_from_f64(x)};
	}
	static __device__ bf16 of(int64_t x)
	{
		return {half_bf16_from_f64(half_from_i64_exactly(x))};
	}
	static __device__ bf16 of(f16 x)
	{
		return of(to<float>::of(x));
	}
};

template <class To, class From> struct cast {
	using Out = To;
	using A = From;
	using B = From;
	using C = From;
	static constexpr int inputs = 1;
	__device__ To operator()(From x) const
	{
		return to<To>::of(x);
	}
};

template <class From> static cudaError_t launch(const walk *w, uint8_t dtype, cudaStream_t stream)
{
	switch (dtype) {
	case QUOIT_F32:
		return map_launch(w, cast<float, From>(), stream);
	case QUOIT_F64:
		return map_launch(w, cast<double, From>(), stream);
	case QUOIT_I32:
		return map_launch(w, cast<int32_t, From>(), stream);
	case QUOIT_I64:
		return map_launch(w, cast<int64_t, From>(), stream);
	case QUOIT_BF16:
		return map_launch(w, cast<bf16, From>(), stream);
	default:
		return map_launch(w, cast<f16, From>(), stream);
	}
}

cudaError_t kernel_cast(const walk *w, const quoit_device_call *call, cudaStream_t stream)
{
	const uint8_t dtype = call->tensor[0].dtype;

	switch (call->tensor[1].dtype) {
	case QUOIT_F32:
		return launch<float>(w, dtype, stream);
	case QUOIT_F64:
		return launch<double>(w, dtype, stream);
	case QUOIT_I32:
		return launch<int32_t>(w, dtype, stream);
	case QUOIT_I64:
		return launch<int64_t>(w, dtype, stream);
	case QUOIT_BF16:
		return launch<bf16>(w, dtype, stream);
	default:
		return launch<f16>(w, dtype, stream);
	}
}
