/* SPDX-License-Identifier: MIT */
/*
 * memory_pages.h - what the memory thread does to pages, a part at a time.
 *
 * No part takes long, however much a request is about, so whoever has the turn next waits for
 * MEMORY_PART_BYTES at most.  On the memory thread.
 */
#ifndef QUOITD_MEMORY_PAGES_H
#define QUOITD_MEMORY_PAGES_H

#include "memory_thread.h"

/* A request under way. */
struct memory_work {
	struct memory_message m;
	struct memory_link *link;
	struct memory_work *next; /* of its session, or in the free list */
	uint64_t done;            /* bytes, in CLOSE of the extent that is being given back */
	unsigned extent;
	int32_t failed; /* ALLOCATE: -errno; what was taken goes back */
};

/*
 * Do the next part.  True: that was all, and m.result is set.
 * huge: shared memory can have huge pages.
 */
bool memory_pages_part(struct memory_work *w, bool huge);

#endif
