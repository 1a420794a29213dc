/* SPDX-License-Identifier: MIT */
/*
 * shape.h - dims, strides and types: what a view covers, and which tensors fit an
 * operation.  Pure, like validate.h, whose second half this is.
 */
#ifndef QUOITD_SHAPE_H
#define QUOITD_SHAPE_H

#include "optable.h"
#include "validate.h"

/* Bytes of an element; 0: a type that the host does not have. */
uint32_t shape_dtype_size(uint8_t dtype);

/*
 * Fill in a view from the shape words of a CREATE or VIEW: `offset` is its first
 * element's place in a buffer of `size` bytes (UINT64_MAX: the buffer is made to
 * measure).  packed: four zero strides mean dense rows.  0, or fault->code.
 */
int shape_make(struct view *ret, uint8_t dtype, const struct quoit_sqe *sqe, uint64_t offset,
	       uint64_t size, int packed, struct fault *fault);

/* Check types, dims, arg and scalars by the operation's rule; fills elements and cost. */
int shape_check(const struct session *s, const struct quoit_sqe *sqe, const struct op_row *row,
		struct plan *plan, struct fault *fault);

#endif
