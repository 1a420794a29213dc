/* SPDX-License-Identifier: MIT */
/*
 * parts.h - cuts a reduction over a whole tensor into parts.
 *
 * The parts depend on the number of elements only, never on tiles or cores, and are combined in
 * order.  So the result has the same bits however many cores worked on it.
 */
#ifndef QUOITD_OPS_PARTS_H
#define QUOITD_OPS_PARTS_H

#include "walk.h"

/* The least length of a part. */
#define PART_LEAST 4096

static inline uint64_t part_length(uint64_t count)
{
	uint64_t length = (count + OP_PARTS - 1) / OP_PARTS;

	return length < PART_LEAST ? PART_LEAST : length;
}

static inline uint32_t part_count(uint64_t count)
{
	return (uint32_t)((count + part_length(count) - 1) / part_length(count));
}

/* The first part of a tile: tiles take whole parts. */
static inline uint32_t part_first(uint64_t count, uint32_t tile, uint32_t tiles)
{
	return (uint32_t)((uint64_t)part_count(count) * tile / tiles);
}

static inline uint32_t part_tiles(const struct op_tensor *t, uint32_t cores)
{
	uint32_t tiles = op_tiles(op_count(t) * op_dtype_size(t->dtype), cores);
	uint32_t parts = part_count(op_count(t));

	return tiles < parts ? tiles : parts > 0 ? parts : 1;
}

/* Run fn over the elements of part `part`. */
static inline void part_run(const struct walk *walk, uint32_t part, walk_fn *fn, void *context)
{
	uint64_t begin = part * part_length(walk->count);
	uint64_t end = begin + part_length(walk->count);

	walk_run(walk, begin, end < walk->count ? end : walk->count, fn, context);
}

#endif
