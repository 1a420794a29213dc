/* SPDX-License-Identifier: MIT */
/*
 * walk.h - how a kernel goes through tensors of equal dims and any strides.
 *
 * Dims of 1 are dropped, and neighbours that all operands step through evenly become one: what
 * lies dense in memory is one dim with a stride of 1, and kernels have a fast way for that.
 * Pure functions; passed to kernels by value.
 */
#ifndef QUOIT_CUDA_WALK_H
#define QUOIT_CUDA_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/device.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WALK_OPERANDS 4

struct walk_operand {
	uint64_t data; /* address of the first element; 0: every element is `bits` */
	uint64_t bits; /* in the low bytes */
	int64_t stride[QUOIT_MAX_DIMS]; /* in elements */
};

struct walk {
	uint64_t count; /* elements */
	uint64_t first; /* place of the first one among those of the whole walk, before a cut */
	uint64_t dim[QUOIT_MAX_DIMS];
	uint32_t dims;     /* at least 1 */
	uint32_t operands; /* outputs first */
	struct walk_operand operand[WALK_OPERANDS];
};

enum walk_order {
	WALK_ROW_MAJOR, /* elements in the row-major order of the first operand's dims */
	WALK_ANY_ORDER, /* in the order in which the first operand lies in memory */
};

/* All operands have the dims of the first.  A walk over nothing has count 0. */
void walk_make(struct walk *ret_walk, const struct quoit_device_tensor *const t[],
	       uint32_t operands, enum walk_order order);

/* An operand that repeats one element: it has no memory. */
struct quoit_device_tensor walk_constant(const struct quoit_device_tensor *like);

/* One dim, along which the first operand lies dense, and every other too or repeats an element. */
bool walk_is_dense(const struct walk *walk);

/*
 * Kernels count elements in 32 bits.  True: *walk was too long, and is now its
 * first part; *ret_rest is what comes after it.  size[]: bytes of the operands' elements.
 */
#define WALK_MOST (UINT64_C(1) << 31)
bool walk_cut(struct walk *walk, struct walk *ret_rest, const uint32_t size[WALK_OPERANDS]);

/*
 * Where the first `moved` operands, of elements of `size` bytes, only move: take up to 16 bytes
 * for one element, as far as rows and addresses allow; the others must repeat along a row.
 * Returns the new size.
 */
uint32_t walk_widen(struct walk *walk, uint32_t moved, uint32_t size);

/* Bytes of an element of a type; 0: no such type. */
uint32_t walk_dtype_size(uint8_t dtype);

/* How many elements a tensor has. */
uint64_t walk_count(const struct quoit_device_tensor *t);

#ifdef __cplusplus
}
#endif

#endif
