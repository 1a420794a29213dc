/* SPDX-License-Identifier: MIT */
/* direct_walk.cuh - requests that one block runs element by element */
#ifndef QUOIT_CUDA_DIRECT_WALK_CUH
#define QUOIT_CUDA_DIRECT_WALK_CUH

#include "kernels/direct_job.cuh"
#include "kernels/map.cuh"
#include "kernels/scalar.h"

/*
 * The tensors of a walk's operands: a hexadecimal digit each, the lowest for the output, is a
 * tensor's number in the call.  DIRECT_SCALAR: every element is `bits`.  (An array indexed by lanes
 * would lie in local memory.)
 */
struct direct_operands {
	uint32_t tensors;
	uint32_t count;
	uint64_t bits;
};
#define DIRECT_SCALAR 0xfu

/* Are the bits of all dims of operand o set in the ballot, those of lanes 4 o to 4 o + 3? */
static __device__ bool direct_all_dims(uint32_t ballot, uint32_t o)
{
	return (ballot >> (QUOIT_MAX_DIMS * o) & 15u) == 15u;
}
static_assert(QUOIT_MAX_DIMS == 4, "the mask of a ballot");

/*
 * Make a walk over the output.  If each operand is dense, or one element, it has one dim, which
 * spares each thread three divisions; else all four.  The first warp calls it: lanes 4 o to 4 o + 3
 * have the dims of operand o.
 */
static __device__ void direct_walk(direct_job &job, const direct_operands &in)
{
	const uint32_t d = threadIdx.x % QUOIT_MAX_DIMS;
	const uint32_t o = threadIdx.x / QUOIT_MAX_DIMS;
	const uint32_t *const dim = job.call.tensor[0].dim;
	const uint32_t at = o < in.count ? in.tensors >> 4 * o & 0xfu : DIRECT_SCALAR;
	const quoit_device_tensor *const t = at == DIRECT_SCALAR ? nullptr : &job.call.tensor[at];
	const int64_t stride = t ? t->stride[d] : 0;
	int64_t behind = 1; /* elements of a step along this dim, if it is dense */
	uint32_t dense, one;
	bool flat = true;

	for (uint32_t i = d + 1; i < QUOIT_MAX_DIMS; i++)
		behind *= dim[i];
	dense = __ballot_sync(0xffffffffu, dim[d] <= 1 || stride == behind);
	one = __ballot_sync(0xffffffffu, dim[d] <= 1 || stride == 0);
	for (uint32_t i = 0; i < in.count; i++)
		flat = flat && (direct_all_dims(dense, i) || direct_all_dims(one, i));
	if (o >= in.count)
		return;
	job.walk.operand[o].stride[d] = flat && d == 0 ? !direct_all_dims(one, o) : stride;
	if (d == 0) {
		job.walk.operand[o].data = t ? t->data : 0;
		job.walk.operand[o].bits = in.bits;
	}
	if (o > 0)
		return;
	job.walk.dim[d] = flat && d == 0 ? behind * dim[0] : dim[d];
	if (d == 0) {
		job.walk.count = behind * dim[0];
		job.walk.first = 0;
		job.walk.dims = flat ? 1 : QUOIT_MAX_DIMS;
	}
}

/* One call per thread; not inlined, so that the kernel itself uses few registers. */
template <class F> inline __device__ __noinline__ void direct_each(const walk &w, F f)
{
	map_each(w, f, threadIdx.x, DIRECT_THREADS);
}

struct direct_go {
	const walk &w;

	template <class F> __device__ void operator()(F f) const
	{
		direct_each(w, f);
	}
};

/* The second input may be the scalar; with QUOIT_EW_REVERSE the first one is. */
static __device__ void direct_prepare_arithmetic(direct_job &job)
{
	const quoit_device_call &call = job.call;
	const bool scalar = call.arg & QUOIT_EW_SCALAR;
	const bool reverse = scalar && call.arg & QUOIT_EW_REVERSE;

	direct_walk(job, {reverse  ? 0x1f0u
			  : scalar ? 0xf10u
				   : 0x210u,
			  3, scalar_bits(call.scalar[0], call.tensor[0].dtype)});
}

static __device__ void direct_prepare_compare(direct_job &job)
{
	const quoit_device_call &call = job.call;

	direct_walk(job, {call.arg & QUOIT_CMP_SCALAR ? 0xf10u : 0x210u, 3,
			  scalar_bits(call.scalar[0], call.tensor[1].dtype)});
}

/* The operands are the call's first tensors, as they are. */
static __device__ void direct_prepare_plain(direct_job &job, uint32_t operands)
{
	direct_walk(job, {0x3210u, operands, 0});
}

static __device__ void direct_prepare_move(direct_job &job)
{
	const quoit_device_call &call = job.call;

	direct_walk(job, {call.opcode == QUOIT_OP_FILL ? 0xf0u : 0x10u, 2,
			  scalar_bits(call.scalar[0], call.tensor[0].dtype)});
}

static __device__ void direct_move(direct_job &job)
{
	if (walk_dtype_size(job.call.tensor[0].dtype) == 4)
		direct_each(job.walk, same<uint32_t>());
	else
		direct_each(job.walk, same<uint64_t>());
}

#endif
