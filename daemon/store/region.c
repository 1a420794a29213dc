/* SPDX-License-Identifier: MIT */
/* region.c - the pageable region: one stripe per size class */
#include "region.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/huge_pages.h"
#include "base/memfd.h"

static uint32_t pieces_of(uint64_t lease, uint32_t max_buffers, uint32_t class)
{
	uint64_t n = lease / sizeclass_bytes(class);

	return n < max_buffers ? (uint32_t)n : max_buffers;
}

static uint32_t pages_of(uint32_t class)
{
	return (uint32_t)(sizeclass_bytes(class) / PAGE_BYTES);
}

uint64_t region_words(uint64_t lease, uint32_t max_buffers)
{
	uint64_t words = 0;

	for (uint32_t c = 0; c < SIZECLASS_NR && sizeclass_bytes(c) <= lease; c++)
		words += pieces_of(lease, max_buffers, c);
	return words;
}

/* Stripes begin on a huge page, so that pieces can have huge pages. */
static uint64_t stripe_bytes(uint64_t lease, uint32_t max_buffers, uint32_t class)
{
	uint64_t bytes = pieces_of(lease, max_buffers, class) * sizeclass_bytes(class);

	return (bytes + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
}

uint64_t region_span(uint64_t lease, uint32_t max_buffers)
{
	uint64_t bytes = 0;

	for (uint32_t c = 0; c < SIZECLASS_NR; c++)
		bytes += stripe_bytes(lease, max_buffers, c);
	return bytes;
}

/* How many pages of 4 KiB hold words [first, first + n); word 0 begins a page. */
static uint64_t pages_of_words(uint64_t first, uint64_t n)
{
	const uint64_t words = PAGE_BYTES / sizeof(uint32_t);

	return n ? (first + n - 1) / words - first / words + 1 : 0;
}

uint64_t region_overhead(uint64_t lease, uint64_t most, uint32_t max_buffers)
{
	uint64_t whole = page_table_bytes(region_span(most, max_buffers)) +
			 region_words(most, max_buffers) * sizeof(uint32_t);
	/* The upper levels of the page tables. */
	uint64_t first = 0, pages = 1 + (region_span(most, max_buffers) >> 39) + 2;

	if (lease >= most)
		return whole;
	for (uint32_t c = 0; c < SIZECLASS_NR && sizeclass_bytes(c) <= lease; c++) {
		uint64_t stripe = stripe_bytes(lease, max_buffers, c);

		/* A table per 2 MiB, of which a stripe has whole ones, and per GiB; and links. */
		pages += (stripe >> 21) + 1 + (stripe >> 30) + 2 +
			 pages_of_words(first, pieces_of(lease, max_buffers, c));
		first += pieces_of(most, max_buffers, c);
	}
	return pages * PAGE_BYTES < whole ? pages * PAGE_BYTES : whole;
}

void region_grow(struct region *r, uint64_t lease)
{
	for (uint32_t c = 0; c < SIZECLASS_NR && sizeclass_bytes(c) <= lease; c++) {
		uint32_t pieces = pieces_of(lease, r->max_buffers, c);

		if (pieces <= r->class[c].pieces)
			continue;
		r->class[c].pieces = pieces;
		r->class[c].pages = pages_of(c);
	}
}

int region_open(struct region *r, uint64_t lease, uint64_t most, uint32_t max_buffers,
		uint32_t *next)
{
	uint64_t bytes = 0;
	uint32_t first = 0;
	void *map;
	int err;

	*r = (struct region){.fd = -1, .next = next, .max_buffers = max_buffers};
	if (most >= REGION_LEASE_END || lease > most)
		return -EINVAL;
	for (uint32_t c = 0; c < SIZECLASS_NR; c++) {
		r->class[c] = (struct region_class){.offset = bytes,
						    .pages = UINT32_MAX,
						    .first = first,
						    .cached = NIL,
						    .punched = NIL};
		first += pieces_of(most, max_buffers, c);
		bytes += stripe_bytes(most, max_buffers, c);
	}
	region_grow(r, lease);
	if (!bytes)
		return -EINVAL;
	r->bytes = bytes;
	r->fd = memfd_create_sealed("quoit-region", bytes);
	if (r->fd < 0)
		return r->fd;
	err = memfd_map_aligned(r->fd, bytes, HUGE_PAGE_BYTES, &map);
	if (err < 0) {
		close(r->fd);
		r->fd = -1;
		return err;
	}
	r->base = map;
	(void)madvise(map, bytes, MADV_HUGEPAGE); /* where shmem_enabled says "advise" */
	return 0;
}

void region_close(struct region *r)
{
	if (r->base)
		munmap(r->base, r->bytes);
	if (r->fd >= 0)
		close(r->fd);
	r->base = NULL;
	r->fd = -1;
}

bool region_take(struct region *r, uint32_t class_index, struct region_piece *ret)
{
	struct region_class *class;
	uint32_t piece;

	if (class_index >= SIZECLASS_NR)
		return false;
	class = &r->class[class_index];
	ret->class = class_index;
	ret->resident = region_reuse(r, class_index, &ret->offset);
	if (ret->resident)
		return true;
	if (class->punched != NIL) {
		piece = class->punched;
		class->punched = r->next[class->first + piece];
	} else if (class->fresh < class->pieces) {
		piece = class->fresh++;
	} else {
		return false;
	}
	ret->offset = class->offset + piece * sizeclass_bytes(class_index);
	return true;
}

bool region_take_cached(struct region *r, struct region_piece *ret)
{
	if (!r->cached_bytes)
		return false;
	for (uint32_t c = SIZECLASS_NR; c-- > 0;)
		if (r->class[c].cached != NIL)
			return region_take(r, c, ret);
	return false;
}
