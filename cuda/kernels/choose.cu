/* SPDX-License-Identifier: MIT */
/* choose.cu - compare two numbers, and choose between two by a condition. */
#include "kernels/map.cuh"

/* How two numbers lie to each other; a bit each in the predicate's mask. */
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

template <class T> static cudaError_t launch(const walk *w, uint8_t arg, cudaStream_t stream)
{
	static const int mask[QUOIT_CMP_NR] = {
		EQUAL, LESS | MORE | UNORDERED, /* EQ, NE */
		LESS,  LESS | EQUAL,            /* LT, LE */
		MORE,  MORE | EQUAL,            /* GT, GE */
	};
	compare<T> f;

	f.mask = mask[arg & QUOIT_CMP_MASK];
	return map_launch(w, f, stream);
}

cudaError_t kernel_compare(const walk *w, const quoit_device_call *call, cudaStream_t stream)
{
	switch (call->tensor[1].dtype) {
	case QUOIT_F32:
		return launch<float>(w, call->arg, stream);
	case QUOIT_F64:
		return launch<double>(w, call->arg, stream);
	case QUOIT_I32:
		return launch<int32_t>(w, call->arg, stream);
	default:
		return launch<int64_t>(w, call->arg, stream);
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

cudaError_t kernel_select(const walk *w, const quoit_device_call *call, cudaStream_t stream)
{
	switch (walk_dtype_size(call->tensor[0].dtype)) {
	case 2:
		return map_launch(w, either<uint16_t>(), stream);
	case 4:
		return map_launch(w, either<uint32_t>(), stream);
	default:
		return map_launch(w, either<uint64_t>(), stream);
	}
}
