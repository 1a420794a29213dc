/* SPDX-License-Identifier: MIT */
/*
 * pinned.h - which buffer has which bytes of a session's pinned or shared region.
 *
 * Each buffer has one piece of whole pages, at the lowest place where it fits.  The tables lie
 * outside the region: a bit per page, and at a piece's first page its owner.  Pages keep their
 * contents, so a job that takes a piece clears it or writes all of it.
 *
 * Free bytes may be scattered.  pinned_tidy() then moves the pieces to the front, but for those
 * whose owner says that they must stay; its caller keeps all other threads off the region and these
 * tables.
 */
#ifndef QUOITD_PINNED_H
#define QUOITD_PINNED_H

#include <stdbool.h>
#include <stdint.h>

#include "sizeclass.h"

struct pinned {
	uint64_t bytes; /* in all */
	uint64_t used;  /* by pieces */
	uint64_t *map;  /* bit n: page n belongs to a piece */
	uint32_t *owner;
	uint64_t hopeless; /* no run of free pages is as long as this; 0: not known */
	/*
	 * Pages, while it is tidied: how far that has come; the place of the piece at `from` if it
	 * is `placed`, and how much of it has moved there.
	 */
	uint64_t from, to, moved;
	bool placed;
	uint64_t full;     /* all pages before this one are taken, by pieces where they are to be */
	uint64_t edge;     /* from this page to `from` all are free; the one before it is not */
	uint64_t too_long; /* no run of free pages before `edge` is as long as this */
};

/* Bytes of the piece for a buffer of `size` bytes. */
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

/* The caller owns the tables; they are zero and live as long as p. */
void pinned_init(struct pinned *p, uint64_t bytes, uint64_t *map, uint32_t *owner);

/* Bytes without a piece, in one place or not. */
static inline uint64_t pinned_free(const struct pinned *p)
{
	return p->bytes - p->used;
}

/* Take a piece of `size` > 0 bytes for buffer `owner`; false: no free place is long enough. */
bool pinned_take(struct pinned *p, uint64_t size, uint32_t owner, uint64_t *ret_offset);

/* Free the piece of a buffer of `size` bytes at `offset`. */
void pinned_give(struct pinned *p, uint64_t offset, uint64_t size);

/* The longest run of free bytes. */
uint64_t pinned_longest(const struct pinned *p);

/* Begin to tidy: nothing has moved yet. */
void pinned_tidy_begin(struct pinned *p);

/* What the owners of pieces are asked and told. */
struct pinned_owners {
	uint64_t (*size)(void *arg, uint32_t owner); /* of its buffer, as given to pinned_take */
	bool (*stays)(void *arg, uint32_t owner);    /* the piece must not move */
	void (*moved)(void *arg, uint32_t owner, uint64_t offset); /* its piece lies there now */
	void *arg;
};

/*
 * Move pieces, about `most` bytes, to the front of the region at `base`, and tell their owners; a
 * piece that stays where it is costs a page, and so does a long search.  True: that is done.  All
 * free bytes are in one place now, unless a piece had to stay.
 */
bool pinned_tidy(struct pinned *p, uint8_t *base, const struct pinned_owners *owners,
		 uint64_t most);

#endif
