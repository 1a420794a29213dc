/* SPDX-License-Identifier: MIT */
/*
 * walk.h - how a kernel goes through tensors of equal dims and any strides.
 *
 * Dims of 1 are dropped, and neighbouring dims through which all operands step evenly become one.
 * So dense memory is one dim with a stride of 1, for which kernels have a fast way.  Walks are
 * passed to kernels by value.  The functions are pure, for the host and for a kernel that makes
 * walks itself (direct_walk.cuh).
 */
#ifndef QUOIT_CUDA_WALK_H
#define QUOIT_CUDA_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <quoit/device.h>

#ifdef __CUDACC__
#define WALK static inline __host__ __device__
#else
#define WALK static inline
#endif

#define WALK_OPERANDS 4

struct walk_operand {
	uint64_t data; /* address of the first element; 0: every element is `bits` */
	uint64_t bits; /* in the low bytes */
	int64_t stride[QUOIT_MAX_DIMS]; /* in elements */
};

struct walk {
	uint64_t count; /* elements */
	uint64_t first; /* place of the first one in the whole walk, before a cut */
	uint64_t dim[QUOIT_MAX_DIMS];
	uint32_t dims;     /* at least 1 */
	uint32_t operands; /* outputs first */
	struct walk_operand operand[WALK_OPERANDS];
};

enum walk_order {
	WALK_ROW_MAJOR, /* elements in the row-major order of the first operand's dims */
	WALK_ANY_ORDER, /* in the order in which the first operand lies in memory */
};

/* The widest load and store of a thread, in bytes. */
#define WALK_WIDEST 16

#define WALK_MOST (UINT64_C(1) << 31)

/* Bytes of an element of a type; 0: unknown type. */
WALK uint32_t walk_dtype_size(uint8_t dtype)
{
	switch (dtype) {
	case QUOIT_BF16:
	case QUOIT_F16:
		return 2;
	case QUOIT_F32:
	case QUOIT_I32:
		return 4;
	case QUOIT_F64:
	case QUOIT_I64:
		return 8;
	default:
		return 0;
	}
}

/* How many elements a tensor has. */
WALK uint64_t walk_count(const struct quoit_device_tensor *t)
{
	return (uint64_t)t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3];
}

/* An operand that repeats one element, and has no memory. */
WALK struct quoit_device_tensor walk_constant(const struct quoit_device_tensor *like)
{
	struct quoit_device_tensor constant = *like;

	constant.data = 0;
	for (uint32_t d = 0; d < QUOIT_MAX_DIMS; d++)
		constant.stride[d] = 0;
	return constant;
}

WALK void walk_collect(struct walk *walk, const struct quoit_device_tensor *const t[])
{
	for (uint32_t d = 0; d < QUOIT_MAX_DIMS; d++) {
		if (t[0]->dim[d] == 1)
			continue;
		walk->dim[walk->dims] = t[0]->dim[d];
		for (uint32_t i = 0; i < walk->operands; i++)
			walk->operand[i].stride[walk->dims] = t[i]->stride[d];
		walk->dims++;
	}
}

WALK void walk_swap_dims(struct walk *walk, uint32_t a, uint32_t b)
{
	uint64_t dim = walk->dim[a];

	walk->dim[a] = walk->dim[b];
	walk->dim[b] = dim;
	for (uint32_t i = 0; i < walk->operands; i++) {
		int64_t *stride = walk->operand[i].stride;
		int64_t old = stride[a];

		stride[a] = stride[b];
		stride[b] = old;
	}
}

/* Move dims with larger strides of the first operand to the front. */
WALK void walk_sort(struct walk *walk)
{
	const int64_t *stride = walk->operand[0].stride;

	for (uint32_t i = 1; i < walk->dims; i++) {
		for (uint32_t d = i; d > 0 && llabs(stride[d - 1]) < llabs(stride[d]); d--)
			walk_swap_dims(walk, d - 1, d);
	}
}

WALK bool walk_can_merge(const struct walk *walk, uint32_t d)
{
	for (uint32_t i = 0; i < walk->operands; i++) {
		const int64_t *stride = walk->operand[i].stride;

		if (stride[d] != stride[d + 1] * (int64_t)walk->dim[d + 1])
			return false;
	}
	return true;
}

WALK void walk_drop_dim(struct walk *walk, uint32_t d)
{
	walk->dims--;
	for (; d < walk->dims; d++) {
		walk->dim[d] = walk->dim[d + 1];
		for (uint32_t i = 0; i < walk->operands; i++)
			walk->operand[i].stride[d] = walk->operand[i].stride[d + 1];
	}
}

WALK void walk_merge(struct walk *walk)
{
	uint32_t d = 0;

	while (d + 1 < walk->dims) {
		if (!walk_can_merge(walk, d)) {
			d++;
			continue;
		}
		walk->dim[d + 1] *= walk->dim[d];
		walk_drop_dim(walk, d);
	}
}

/* Make a walk; all operands have the dims of the first.  A walk without elements has count 0. */
WALK void walk_make(struct walk *ret_walk, const struct quoit_device_tensor *const t[],
		    uint32_t operands, enum walk_order order)
{
	struct walk *walk = ret_walk;

	memset(walk, 0, sizeof(*walk));
	walk->count = walk_count(t[0]);
	walk->operands = operands;
	for (uint32_t i = 0; i < operands; i++)
		walk->operand[i].data = t[i]->data;
	walk_collect(walk, t);
	if (walk->dims == 0) {
		walk->dims = 1;
		walk->dim[0] = 1;
		for (uint32_t i = 0; i < operands; i++)
			walk->operand[i].stride[0] = i == 0 || t[i]->data;
	}
	if (order == WALK_ANY_ORDER)
		walk_sort(walk);
	walk_merge(walk);
}

/*
 * Is there one dim, along which the first operand is dense, and each other is dense or one element?
 */
WALK bool walk_is_dense(const struct walk *walk)
{
	for (uint32_t i = 0; i < walk->operands; i++) {
		const int64_t stride = walk->operand[i].stride[0];

		if (stride != 1 && (i == 0 || stride != 0))
			return false;
	}
	return walk->dims == 1;
}

/*
 * Kernels count elements in 32 bits.  True: *walk was too long, and is now its first part;
 * *ret_rest is the rest.  size[]: bytes of an element of each operand.
 */
WALK bool walk_cut(struct walk *walk, struct walk *ret_rest, const uint32_t size[WALK_OPERANDS])
{
	struct walk *rest = ret_rest;
	uint64_t keep = walk->dim[0] / 2;

	if (walk->count < WALK_MOST)
		return false;
	if (keep > WALK_WIDEST)
		keep -= keep % WALK_WIDEST; /* what was aligned stays so */
	*rest = *walk;
	walk->dim[0] = keep;
	rest->dim[0] -= keep;
	walk->count = walk->count / (keep + rest->dim[0]) * keep;
	rest->count -= walk->count;
	rest->first += walk->count;
	for (uint32_t i = 0; i < walk->operands; i++) {
		struct walk_operand *operand = &rest->operand[i];

		if (operand->data)
			operand->data += (uint64_t)((int64_t)keep * operand->stride[0]) * size[i];
	}
	if (walk->dims > 1 && walk->dim[0] == 1)
		walk_drop_dim(walk, 0);
	if (rest->dims > 1 && rest->dim[0] == 1)
		walk_drop_dim(rest, 0);
	return true;
}

WALK bool walk_can_widen(const struct walk *walk, uint32_t moved, uint32_t size, uint32_t wide)
{
	const uint32_t last = walk->dims - 1;
	uint64_t odd = walk->dim[last] * size;

	for (uint32_t i = 0; i < walk->operands; i++) {
		const struct walk_operand *operand = &walk->operand[i];

		if (operand->stride[last] != (i < moved))
			return false;
		if (i >= moved)
			continue;
		odd |= operand->data;
		for (uint32_t d = 0; d < last; d++)
			odd |= (uint64_t)operand->stride[d] * size;
	}
	return odd % wide == 0;
}

/*
 * If the first `moved` operands, of elements of `size` bytes, are only moved: take up to 16 bytes
 * as one element, as far as rows and addresses allow.  The other operands must repeat along a row.
 * Returns the new size.
 */
WALK uint32_t walk_widen(struct walk *walk, uint32_t moved, uint32_t size)
{
	const uint32_t last = walk->dims - 1;
	uint32_t wide = WALK_WIDEST;

	while (wide > size && !walk_can_widen(walk, moved, size, wide))
		wide /= 2;
	if (wide <= size)
		return size;
	walk->count /= wide / size;
	walk->dim[last] /= wide / size;
	for (uint32_t i = 0; i < moved; i++) {
		for (uint32_t d = 0; d < last; d++)
			walk->operand[i].stride[d] /= (int64_t)(wide / size);
	}
	return wide;
}

#endif
