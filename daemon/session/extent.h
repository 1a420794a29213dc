/* SPDX-License-Identifier: MIT */
/*
 * extent.h - the bytes that a view has of its buffer, gaps left out: do two views share one?
 *
 * Column panels of one matrix interleave: their hulls overlap although they share no byte.  The
 * answer is exact where the steps of both views, sorted, each divide the next larger one: slices,
 * panels, blocks, every second row of one matrix.  For all others (rows of 6 elements and rows of 4
 * on the same bytes) the hulls decide.
 */
#ifndef QUOITD_EXTENT_H
#define QUOITD_EXTENT_H

#include "ops/ops.h"
#include "tables.h"

/* Runs of `run` bytes, repeated at ever larger steps; [lo, hi) is the hull. */
struct extent {
	uint64_t lo, hi;
	uint64_t run;
	unsigned levels;
	struct {
		int64_t step; /* bytes; longer than one piece of the levels below */
		int64_t count;
	} level[QUOIT_MAX_DIMS];
};

/* Of its elements, gaps left out. */
static inline uint64_t view_bytes(const struct view *v)
{
	return v->elements * op_dtype_size(v->dtype);
}

/* All bytes of [lo, hi). */
static inline struct extent extent_whole(uint64_t lo, uint64_t hi)
{
	return (struct extent){.lo = lo, .hi = hi, .run = hi - lo};
}

/* The bytes that the view has of its buffer. */
struct extent extent_of(const struct view *v);

/* Might they share a byte?  False is certain. */
bool extent_overlap(const struct extent *a, const struct extent *b);

/* Have they the very same bytes?  Compares only the steps, so false may be wrong. */
bool extent_same(const struct extent *a, const struct extent *b);

/* As extent_overlap, for two views on one buffer. */
bool extent_views_overlap(const struct view *a, const struct view *b);

#endif
