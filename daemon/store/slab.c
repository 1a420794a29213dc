/* SPDX-License-Identifier: MIT */
/* slab.c - places for small buffers in one piece of a device's memory */
#include "slab.h"

/* Up to eight pages, each class is one page larger than the one before. */
_Static_assert(SLAB_CLASSES <= 8, "class n has n + 1 pages");
_Static_assert(SLAB_PAGES < UINT16_MAX, "pages are named by 16 bits");

bool slab_take(struct slab *slab, uint32_t class, uint64_t *ret_offset)
{
	uint32_t page;

	if (class >= SLAB_CLASSES)
		return false;
	if (slab->free[class]) {
		page = slab->free[class] - 1u;
		slab->free[class] = slab->next[page];
	} else if (SLAB_PAGES - slab->used > class) {
		page = slab->used;
		slab->used += class + 1;
	} else {
		return false;
	}
	*ret_offset = (uint64_t)page * PAGE_BYTES;
	return true;
}

void slab_give(struct slab *slab, uint32_t class, uint64_t offset)
{
	uint16_t page = (uint16_t)(offset / PAGE_BYTES);

	slab->next[page] = slab->free[class];
	slab->free[class] = (uint16_t)(page + 1);
}
