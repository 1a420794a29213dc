/* SPDX-License-Identifier: MIT */
/*
 * pinned.h - who has which bytes of a session's pinned region.
 *
 * Whole pages, one piece a buffer, always the lowest place where it fits.  What is known
 * about the region lies outside it: a bit a page, and at a piece's first page its owner.
 * Pages keep what was in them; whoever takes a piece clears it or writes it all.
 *
 * Free bytes may lie scattered.  pinned_tidy() then moves all pieces to the front, which
 * only somebody may call who keeps everybody else off the region and these tables.
 */
#ifndef QUOITD_PINNED_H
#define QUOITD_PINNED_H

#include <stdbool.h>
#include <stdint.h>

#include "sizeclass.h"

struct buffer;

struct pinned {
	uint64_t bytes; /* in all */
	uint64_t used;  /* by pieces */
	uint64_t *map;  /* bit n: page n belongs to a piece */
	uint32_t *owner;
	uint64_t from, to, moved; /* pages: where tidying stands */
};

/* What a buffer of `size` takes. */
static inline uint64_t pinned_piece_bytes(uint64_t size)
{
	return (size + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

/* Lengths of the two tables for a region of `bytes`, a whole number of pages. */
static inline uint64_t pinned_map_words(uint64_t bytes)
{
	return (bytes / PAGE_BYTES + 63) / 64;
}

static inline uint64_t pinned_owners(uint64_t bytes)
{
	return bytes / PAGE_BYTES;
}

/* The tables are the caller's, zero, and live as long as p. */
void pinned_init(struct pinned *p, uint64_t bytes, uint64_t *map, uint32_t *owner);

/* Bytes without a piece, in one place or not. */
static inline uint64_t pinned_free(const struct pinned *p)
{
	return p->bytes - p->used;
}

/* A piece of `size` > 0 for buffer number `owner`; false: it fits in no one place. */
bool pinned_take(struct pinned *p, uint64_t size, uint32_t owner, uint64_t *ret_offset);

/* The piece of a buffer of `size` at `offset` comes back. */
void pinned_give(struct pinned *p, uint64_t offset, uint64_t size);

/* Begin to tidy: nothing has moved yet. */
void pinned_tidy_begin(struct pinned *p);

/*
 * Go on for about `most` bytes: pieces move to the front of the region at `base`, and
 * buffers[owner].offset with them.  True: all free bytes are in one place now.
 */
bool pinned_tidy(struct pinned *p, uint8_t *base, struct buffer *buffers, uint64_t most);

#endif
