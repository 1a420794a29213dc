/* SPDX-License-Identifier: MIT */
/*
 * reduce_ops.cuh - the operation of each reduction, for reduce.cuh.
 *
 * As on the CPU, floating-point sums and products are computed in double, those of integers modulo
 * 2^64.
 */
#ifndef QUOIT_CUDA_REDUCE_OPS_CUH
#define QUOIT_CUDA_REDUCE_OPS_CUH

#include <math.h>

#include "kernels/reduce.cuh"
#include "kernels/row.cuh"

/* ---- the value of an element ---- */

template <class T, class Wide> struct plain {
	using In = Wide;
	static __device__ __forceinline__ Wide read(const reduce_plan &p, int64_t base, uint64_t i)
	{
		return (Wide)((const T *)p.inner.operand[0]
				      .data)[base + reduce_offset(p.inner, 0, i)];
	}
};

template <class T> struct squared {
	using In = double;
	static __device__ __forceinline__ double read(const reduce_plan &p, int64_t base,
						      uint64_t i)
	{
		const double x = plain<T, double>::read(p, base, i);

		return x * x;
	}
};

/* The square of x - y. Also writes the gradient, if wanted; it may overwrite x or y. */
template <class T> struct loss {
	using In = double;
	static __device__ __forceinline__ double read(const reduce_plan &p, int64_t, uint64_t i)
	{
		const walk_operand &gradient = p.inner.operand[2];
		const T x = ((const T *)p.inner.operand[0].data)[reduce_offset(p.inner, 0, i)];
		const T y = ((const T *)p.inner.operand[1].data)[reduce_offset(p.inner, 1, i)];
		const double d = (double)x - (double)y;

		if (gradient.data)
			((T *)gradient.data)[reduce_offset(p.inner, 2, i)] = (T)p.twice * (x - y);
		return d * d;
	}
};

/* ---- sums ---- */

template <class T, class Wide, class Source> struct sum : Source {
	using Acc = Wide;
	static __device__ __forceinline__ Acc start()
	{
		return 0;
	}
	static __device__ __forceinline__ void take(Acc &acc, Wide x, uint64_t)
	{
		acc += x;
	}
	static __device__ __forceinline__ void merge(Acc &acc, const Acc &other)
	{
		acc += other;
	}
	static __device__ void store(const reduce_plan &p, int64_t at, Acc acc)
	{
		if constexpr ((Acc)0.5 != 0)
			acc = acc / p.divisor * p.factor;
		((T *)p.outer.operand[1].data)[at] = (T)acc;
	}
};

/* ---- products ---- */

template <class T, class Wide> struct product : sum<T, Wide, plain<T, Wide>> {
	static __device__ __forceinline__ Wide start()
	{
		return 1;
	}
	static __device__ __forceinline__ void take(Wide &acc, Wide x, uint64_t)
	{
		acc *= x;
	}
	static __device__ __forceinline__ void merge(Wide &acc, const Wide &other)
	{
		acc *= other;
	}
};

/* ---- the largest or smallest, and the place of the first one ---- */

template <class T> struct best {
	T value;
	int64_t place; /* -1: no element yet */
};

template <class T, bool least> struct extreme : plain<T, T> {
	using Acc = best<T>;
	static __device__ __forceinline__ Acc start()
	{
		return {0, -1};
	}
	/* A NaN beats any number. Of equal numbers, and of NaNs, the one in front wins. */
	static __device__ __forceinline__ void merge(Acc &acc, const Acc &other)
	{
		const bool nan = acc.value != acc.value;
		const bool other_nan = other.value != other.value;
		const bool equal = acc.value == other.value || (nan && other_nan);
		const bool better = least ? other.value < acc.value : other.value > acc.value;
		const bool beats = better || (other_nan && !nan);

		if (other.place >= 0 &&
		    (acc.place < 0 || beats || (equal && other.place < acc.place)))
			acc = other;
	}
	static __device__ __forceinline__ void take(Acc &acc, T x, uint64_t i)
	{
		merge(acc, Acc{x, (int64_t)i});
	}
	static __device__ void store(const reduce_plan &p, int64_t at, const Acc &acc)
	{
		if (p.place)
			((int64_t *)p.outer.operand[1].data)[at] = acc.place;
		else
			((T *)p.outer.operand[1].data)[at] = acc.value;
	}
};

/* ---- choose R ---- */

/* The type to compute in. */
template <class T> struct reduce_wide {
	using type = uint64_t;
};
template <> struct reduce_wide<float> {
	using type = double;
};
template <> struct reduce_wide<double> {
	using type = double;
};
template <class T> using wide = typename reduce_wide<T>::type;

/* The R of an operation is reduction_NAME<T>: one for each row of ops.def. */
template <class T> using reduction_sum = sum<T, wide<T>, plain<T, wide<T>>>;
template <class T> using reduction_mean = reduction_sum<T>;
template <class T> using reduction_sqnorm = sum<T, double, squared<T>>;
template <class T> using reduction_sqloss = sum<T, double, loss<T>>;
template <class T> using reduction_prod = product<T, wide<T>>;
template <class T> using reduction_amax = extreme<T, false>;
template <class T> using reduction_argmax = extreme<T, false>;
template <class T> using reduction_amin = extreme<T, true>;
template <class T> using reduction_argmin = extreme<T, true>;

/* Call go with the R of an operation that has this type; it does not compile before R is above. */
#pragma nv_exec_check_disable
template <class T, uint8_t dtype, class Go>
static __host__ __device__ auto reduce_as(const reduce_plan &p, Go go)
{
	switch (p.opcode) {
#define QUOIT_ROW_REDUCTION(nr, name, types) ROW_CASE(nr, types, go(reduction_##name<T>()))
#define QUOIT_ROW_EXTREME                    QUOIT_ROW_REDUCTION
#define QUOIT_ROW_PLACE                      QUOIT_ROW_REDUCTION
#define QUOIT_ROW_LOSS                       QUOIT_ROW_REDUCTION
#include <quoit/family_ops.def>
	default:
		break;
	}
	/* Never reached. The compiler needs a result, and sum has all types. */
	return go(reduction_sum<T>());
}

/* Call go with the R of the plan's operation and type. */
#pragma nv_exec_check_disable
template <class Go> static __host__ __device__ auto reduce_choose(const reduce_plan &p, Go go)
{
	switch (p.dtype) {
	case QUOIT_F32:
		return reduce_as<float, QUOIT_F32>(p, go);
	case QUOIT_F64:
		return reduce_as<double, QUOIT_F64>(p, go);
	case QUOIT_I32:
		return reduce_as<int32_t, QUOIT_I32>(p, go);
	default:
		return reduce_as<int64_t, QUOIT_I64>(p, go);
	}
}

#endif
