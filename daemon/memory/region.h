/* SPDX-License-Identifier: MIT */
/*
 * region.h - where a session's buffers lie: the pageable region.
 *
 * A sparse memfd, mapped by the daemon and by executors only; the client never
 * learns where a buffer lies.  Each size class has a stripe of the file of its
 * own, as long as the whole lease (or as many pieces as the session can have
 * buffers), so a contiguous piece is always there when the bytes are: no
 * fragmentation, by counting.  What is resident is exactly the pieces that are in
 * use or cached.
 *
 * A lease that may grow has the addresses of the largest that it can become, and of each stripe
 * only as many pieces as the lease has had room for so far: so what it can touch, of page tables
 * and of its words, is bounded by that lease, and is charged when it grows (region_overhead).
 *
 * A piece that is freed keeps its pages and is reused last in, first out within
 * its class; pieces to be given back are taken out with region_take_cached() and
 * punched by memory_thread.c.
 *
 * Owned by the session's home reactor; no locks.
 */
#ifndef QUOITD_REGION_H
#define QUOITD_REGION_H

#include <stdbool.h>
#include <stdint.h>

#include "sizeclass.h"

#define NIL UINT32_MAX

/* No lease reaches it. */
#define REGION_LEASE_END ((uint64_t)UINT32_MAX * PAGE_BYTES)

/* Stripes begin on a huge page, so that the kernel may use some where it is allowed to. */
#define REGION_HUGE_BYTES (UINT64_C(2) << 20)

struct region_class {
	uint64_t offset;  /* of the stripe in the file */
	uint32_t pages;   /* of a piece; UINT32_MAX where the lease has no room for one */
	uint32_t pieces;  /* that the lease has room for */
	uint32_t first;   /* of its entries in region.next */
	uint32_t fresh;   /* pieces from here on were never used */
	uint32_t cached;  /* list: free with their pages, contents left over */
	uint32_t punched; /* list: free without pages */
};

struct region {
	int fd;
	uint32_t max_buffers;
	uint8_t *base;
	uint64_t bytes; /* of the file */
	uint64_t cached_bytes;
	struct region_class class[SIZECLASS_NR];
	uint32_t *next; /* links of the lists, one word a piece */
};

struct region_piece {
	uint64_t offset;
	uint32_t class;
	bool resident; /* has its pages, with old contents: to be cleared before anyone reads */
};

/* How many words region.next needs for a lease of `bytes` and `max_buffers`. */
uint64_t region_words(uint64_t lease, uint32_t max_buffers);

/* The address space that it takes. */
uint64_t region_span(uint64_t lease, uint32_t max_buffers);

/*
 * Bytes of page tables and words that it can come to touch while the lease is no larger than
 * `lease`, of a region that was made for `most`.
 */
uint64_t region_overhead(uint64_t lease, uint64_t most, uint32_t max_buffers);

/*
 * Create and map the region, for leases up to `most`.  next: region_words(most) words, at the begin
 * of a page, owned by the caller, for as long as the region lives.  -errno; -EINVAL: less than a
 * page, or REGION_LEASE_END.
 */
int region_open(struct region *r, uint64_t lease, uint64_t most, uint32_t max_buffers,
		uint32_t *next);

/* The lease is `lease` now, which is no more than it was made for.  Nothing comes of a smaller one.
 */
void region_grow(struct region *r, uint64_t lease);

/* Unmap and close.  May take long for much memory: not for a reactor. */
void region_close(struct region *r);

/* Take a piece, a cached one first.  False: the stripe is used up, which counting excludes. */
bool region_take(struct region *r, uint32_t class, struct region_piece *ret);

/* Bytes of a piece of this class; more than any lease where the stripe has none. */
static inline uint64_t region_piece_bytes(const struct region *r, uint32_t class)
{
	return (uint64_t)r->class[class].pages * PAGE_BYTES;
}

/*
 * The same for a piece that has its pages, nearly every time the only kind that is asked for.
 * False: none is cached.
 */
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

/* A piece comes back; resident: it keeps its pages. */
static inline void region_give(struct region *r, uint64_t offset, uint32_t class_index,
			       bool resident)
{
	struct region_class *class = &r->class[class_index];
	uint64_t page = (offset - class->offset) / PAGE_BYTES;
	/* Most are of one page, and a division takes longer than everything else here. */
	uint32_t piece = (uint32_t)(class->pages == 1 ? page : page / class->pages);
	uint32_t *list = resident ? &class->cached : &class->punched;

	if (resident)
		r->cached_bytes += region_piece_bytes(r, class_index);
	r->next[class->first + piece] = *list;
	*list = piece;
}

/*
 * Take a cached piece out, the largest class first, to have it punched; the caller
 * gives it back with resident = false.  False: nothing is cached.
 */
bool region_take_cached(struct region *r, struct region_piece *ret);

#endif
