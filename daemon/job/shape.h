/* SPDX-License-Identifier: MIT */
/* shape.h - dims, strides and types: what a view covers */
#ifndef QUOITD_SHAPE_H
#define QUOITD_SHAPE_H

#include <string.h>

#include "base/fault.h"
#include "ops/ops.h"
#include "session/session.h"

/* Do two views have the same dims? */
static inline bool shape_same_dims(const struct view *a, const struct view *b)
{
	return !memcmp(a->dim, b->dim, sizeof a->dim);
}

/*
 * Fill in a view from the dims and strides of a CREATE or VIEW.  `offset`: the byte of its first
 * element in a buffer of `size` bytes (UINT64_MAX: the buffer is made to measure).  0, or
 * fault->code.
 */
int shape_make(struct view *ret, uint8_t dtype, const struct quoit_sqe *sqe, uint64_t offset,
	       uint64_t size, struct fault *fault);

/* The same for dense rows, `offset` bytes into a buffer of `size` bytes; offset <= size. */
int shape_make_packed_at(struct view *ret, uint8_t dtype, const uint32_t dim[QUOIT_MAX_DIMS],
			 uint64_t offset, uint64_t size, struct fault *fault);

/* The same for dense rows from the start of a buffer that is made to measure. */
int shape_make_packed(struct view *ret, uint8_t dtype, const uint32_t dim[QUOIT_MAX_DIMS],
		      struct fault *fault);

#endif
