/* SPDX-License-Identifier: MIT */
/*
 * extent.h - the bytes of a buffer that a view has, gaps left out: do two views share one?
 *
 * Column panels of one matrix lie between each other, and their hulls overlap although no byte is
 * of both.  The answer is exact where the steps of both views together form a chain in which each
 * divides the next larger one: slices, panels, blocks, every second row of one matrix.  For all
 * others (rows of 6 elements and of 4 on the same bytes) the hulls decide.
 */
#ifndef QUOITD_EXTENT_H
#define QUOITD_EXTENT_H

#include "session/tables.h"

/* Runs of bytes, repeated by steps that get larger; [lo, hi) is the hull. */
struct extent {
	uint64_t lo, hi;
	uint64_t run;
	unsigned levels;
	struct {
		int64_t step; /* bytes, more than what is below it spans in one piece */
		int64_t count;
	} level[QUOIT_MAX_DIMS];
};

/* All of [lo, hi). */
static inline struct extent extent_whole(uint64_t lo, uint64_t hi)
{
	return (struct extent){.lo = lo, .hi = hi, .run = hi - lo};
}

struct extent extent_of(const struct view *v);

/* False: they surely share no byte. */
bool extent_overlap(const struct extent *a, const struct extent *b);

/* Do they have the very same bytes, as far as can be told without looking at more than steps? */
bool extent_same(const struct extent *a, const struct extent *b);

/* Of views on one buffer, by extents where one of them has gaps. */
bool extent_views_overlap(const struct view *a, const struct view *b);

#endif
