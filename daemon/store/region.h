/* SPDX-License-Identifier: MIT */
/*
 * region.h - the pageable region, in which a session's buffers lie.
 *
 * A sparse memfd that only the daemon and executors map; the client never learns where a buffer
 * lies.  Each size class has a stripe of the file of its own, as long as the whole lease (or as
 * many pieces as the session can have buffers).  So while there are enough bytes, there is a
 * contiguous piece: counting excludes fragmentation.  Only pieces that are in use or cached are
 * resident.
 *
 * A lease that may grow gets addresses for the largest that it can become.  Of each stripe it gets
 * only as many pieces as the lease has had room for so far.  That bounds the page tables and words
 * that it can touch, and they are charged when it grows (region_overhead).
 *
 * A freed piece keeps its pages and is reused last in, first out within its class.
 * region_take_cached() takes pieces out that are to be given back; memory_thread.c punches them.
 *
 * Owned by the session's home reactor; no locks.
 */
#ifndef QUOITD_REGION_H
#define QUOITD_REGION_H

#include <stdbool.h>
#include <stdint.h>

#include "sizeclass.h"

#define NIL UINT32_MAX

/* Every lease is smaller than this. */
#define REGION_LEASE_END ((uint64_t)UINT32_MAX * PAGE_BYTES)

struct region_class {
	uint64_t offset;  /* of the stripe in the file */
	uint32_t pages;   /* of a piece; UINT32_MAX: the lease has no room for one */
	uint32_t pieces;  /* as many as the lease has room for */
	uint32_t first;   /* index of its first entry in region.next */
	uint32_t fresh;   /* pieces from here on were never used */
	uint32_t cached;  /* list: free, with their pages and old contents */
	uint32_t punched; /* list: free without pages */
};

struct region {
	int fd;
	uint32_t max_buffers;
	uint8_t *base;
	uint64_t bytes; /* of the file */
	uint64_t cached_bytes;
	struct region_class class[SIZECLASS_NR];
	uint32_t *next; /* links of the lists, one word per piece */
};

struct region_piece {
	uint64_t offset;
	uint32_t class;
	bool resident; /* it has its pages, with old contents, which must be cleared */
};

/* How many words region.next needs for this lease and `max_buffers`. */
uint64_t region_words(uint64_t lease, uint32_t max_buffers);

/* Bytes of address space that the region takes. */
uint64_t region_span(uint64_t lease, uint32_t max_buffers);

/* Bytes of page tables and words that a region for `most` can touch under a lease of `lease`. */
uint64_t region_overhead(uint64_t lease, uint64_t most, uint32_t max_buffers);

/*
 * Create and map the region, for leases up to `most`.  next: region_words(most) words at the start
 * of a page, owned by the caller, for as long as the region lives.  0 or -errno; -EINVAL: `most` is
 * below a page or not below REGION_LEASE_END, or `lease` is above it.
 */
int region_open(struct region *r, uint64_t lease, uint64_t most, uint32_t max_buffers,
		uint32_t *next);

/* Let the lease be `lease`, at most what the region was made for; a smaller one has no effect. */
void region_grow(struct region *r, uint64_t lease);

/* Unmap and close.  May take long for much memory, so not in a reactor. */
void region_close(struct region *r);

/* Take a piece, a cached one first.  False: the stripe is used up, which counting excludes. */
bool region_take(struct region *r, uint32_t class, struct region_piece *ret);

/* Bytes of a piece of this class; where the lease has no room for one, more than any lease. */
static inline uint64_t region_piece_bytes(const struct region *r, uint32_t class)
{
	return (uint64_t)r->class[class].pages * PAGE_BYTES;
}

/* Take a cached piece; nearly always this is the only call needed.  False: none is cached. */
static inline bool region_reuse(struct region *r, uint32_t class_index, uint64_t *ret_offset)
{
	struct region_class *class = &r->class[class_index];
	uint64_t bytes = region_piece_bytes(r, class_index);
	uint32_t piece = class->cached;

	if (piece == NIL)
		return false;
	class->cached = r->next[class->first + piece];
	r->cached_bytes -= bytes;
	*ret_offset = class->offset + piece * bytes;
	return true;
}

/* Free a piece; resident: it keeps its pages. */
static inline void region_give(struct region *r, uint64_t offset, uint32_t class_index,
			       bool resident)
{
	struct region_class *class = &r->class[class_index];
	uint64_t page = (offset - class->offset) / PAGE_BYTES;
	/* Most pieces are one page, and a division takes longer than everything else here. */
	uint32_t piece = (uint32_t)(class->pages == 1 ? page : page / class->pages);
	uint32_t *list = resident ? &class->cached : &class->punched;

	if (resident)
		r->cached_bytes += region_piece_bytes(r, class_index);
	r->next[class->first + piece] = *list;
	*list = piece;
}

/*
 * Take out a cached piece, of the largest class first, to be punched.  The caller then gives it
 * back with resident = false.  False: nothing is cached.
 */
bool region_take_cached(struct region *r, struct region_piece *ret);

#endif
