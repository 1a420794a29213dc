/* SPDX-License-Identifier: MIT */
/* choose.cuh - compare two numbers, choose one of two by a condition, or copy one unchanged. */
#ifndef QUOIT_CUDA_CHOOSE_CUH
#define QUOIT_CUDA_CHOOSE_CUH

#include "kernels/map.cuh"

/* How two numbers compare. A predicate is the set of those for which it holds, as a mask. */
enum relation { LESS = 1, EQUAL = 2, MORE = 4, UNORDERED = 8 };

template <class T> struct compare : map_binary<T> {
	using Out = int32_t;
	int mask;
	__device__ int32_t operator()(T x, T y) const
	{
		const int is = x < y ? LESS : x == y ? EQUAL : x > y ? MORE : UNORDERED;

		return (mask & is) != 0;
	}
};

static __host__ __device__ int compare_mask(uint8_t predicate)
{
	switch (predicate) {
	case QUOIT_CMP_EQ:
		return EQUAL;
	case QUOIT_CMP_NE:
		return LESS | MORE | UNORDERED;
	case QUOIT_CMP_LT:
		return LESS;
	case QUOIT_CMP_LE:
		return LESS | EQUAL;
	case QUOIT_CMP_GT:
		return MORE;
	default:
		return MORE | EQUAL;
	}
}

#pragma nv_exec_check_disable
template <class T, class Go> static __host__ __device__ auto compare_as(uint8_t arg, Go go)
{
	compare<T> f;

	f.mask = compare_mask(arg & QUOIT_CMP_MASK);
	return go(f);
}

/* Call go with the F of the call's predicate and type. */
#pragma nv_exec_check_disable
template <class Go>
static __host__ __device__ auto compare_choose(const quoit_device_call &call, Go go)
{
	switch (call.tensor[1].dtype) {
	case QUOIT_F32:
		return compare_as<float>(call.arg, go);
	case QUOIT_F64:
		return compare_as<double>(call.arg, go);
	case QUOIT_I32:
		return compare_as<int32_t>(call.arg, go);
	default:
		return compare_as<int64_t>(call.arg, go);
	}
}

template <class T> struct either {
	using Out = T;
	using A = int32_t;
	using B = T;
	using C = T;
	static constexpr int inputs = 3;
	__device__ T operator()(int32_t condition, T x, T y) const
	{
		return condition ? x : y;
	}
};

/* Call go with the F for elements of the call's size. */
#pragma nv_exec_check_disable
template <class Go>
static __host__ __device__ auto select_choose(const quoit_device_call &call, Go go)
{
	switch (walk_dtype_size(call.tensor[0].dtype)) {
	case 2:
		return go(either<uint16_t>());
	case 4:
		return go(either<uint32_t>());
	default:
		return go(either<uint64_t>());
	}
}

template <class T> struct same : map_unary<T> {
	__device__ T operator()(T x) const
	{
		return x;
	}
};

#endif
