/* SPDX-License-Identifier: MIT */
/* region.c - the pageable region: one stripe per size class */
#include "region.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memfd.h"

static uint32_t pieces_of(uint64_t lease, uint32_t max_buffers, uint32_t class)
{
	uint64_t n = lease / sizeclass_bytes(class);

	return n < max_buffers ? (uint32_t)n : max_buffers;
}

uint64_t region_words(uint64_t lease, uint32_t max_buffers)
{
	uint64_t words = 0;

	for (uint32_t c = 0; c < SIZECLASS_NR && sizeclass_bytes(c) <= lease; c++)
		words += pieces_of(lease, max_buffers, c);
	return words;
}

int region_open(struct region *r, uint64_t lease, uint32_t max_buffers, uint32_t *next)
{
	uint64_t bytes = 0;
	uint32_t first = 0;
	void *map;
	int err;

	*r = (struct region){.fd = -1, .next = next};
	for (uint32_t c = 0; c < SIZECLASS_NR && sizeclass_bytes(c) <= lease; c++) {
		struct region_class *class = &r->class[c];
		uint32_t pieces = pieces_of(lease, max_buffers, c);

		*class = (struct region_class){.offset = bytes,
					       .pieces = pieces,
					       .first = first,
					       .cached = NIL,
					       .punched = NIL};
		first += pieces;
		bytes += (pieces * sizeclass_bytes(c) + REGION_HUGE_BYTES - 1) / REGION_HUGE_BYTES *
			 REGION_HUGE_BYTES;
		r->classes = c + 1;
	}
	if (!bytes)
		return -EINVAL;
	r->bytes = bytes;
	r->fd = memfd_create_sealed("quoit-region", bytes);
	if (r->fd < 0)
		return r->fd;
	err = memfd_map(r->fd, bytes, 1, &map);
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

static uint32_t list_pop(struct region *r, const struct region_class *class, uint32_t *list)
{
	uint32_t piece = *list;

	*list = r->next[class->first + piece];
	return piece;
}

bool region_take(struct region *r, uint32_t class_index, struct region_piece *ret)
{
	struct region_class *class;
	uint32_t piece;

	if (class_index >= r->classes)
		return false;
	class = &r->class[class_index];
	ret->resident = class->cached != NIL;
	if (ret->resident) {
		piece = list_pop(r, class, &class->cached);
		r->cached_bytes -= sizeclass_bytes(class_index);
	} else if (class->punched != NIL) {
		piece = list_pop(r, class, &class->punched);
	} else if (class->fresh < class->pieces) {
		piece = class->fresh++;
	} else {
		return false;
	}
	ret->offset = class->offset + piece * sizeclass_bytes(class_index);
	ret->class = class_index;
	return true;
}

void region_give(struct region *r, uint64_t offset, uint32_t class_index, bool resident)
{
	struct region_class *class = &r->class[class_index];
	uint64_t bytes = sizeclass_bytes(class_index), within = offset - class->offset;
	/* Most are of one page, and a division takes longer than everything else here. */
	uint32_t piece = (uint32_t)(class_index ? within / bytes : within / PAGE_BYTES);
	uint32_t *list = resident ? &class->cached : &class->punched;

	r->next[class->first + piece] = *list;
	*list = piece;
	if (resident)
		r->cached_bytes += bytes;
}

bool region_take_cached(struct region *r, struct region_piece *ret)
{
	if (!r->cached_bytes)
		return false;
	for (uint32_t c = r->classes; c-- > 0;) {
		if (r->class[c].cached == NIL)
			continue;
		return region_take(r, c, ret);
	}
	return false;
}
