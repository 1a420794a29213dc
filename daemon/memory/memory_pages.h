/* SPDX-License-Identifier: MIT */
/*
 * memory_pages.h - what the memory thread does to pages, a part at a time.
 *
 * No part is larger than MEMORY_PART_BYTES, however long the request, so the next turn comes soon.
 * On the memory thread only.
 */
#ifndef QUOITD_MEMORY_PAGES_H
#define QUOITD_MEMORY_PAGES_H

#include "memory_thread.h"

/* A request under way. */
struct memory_work {
	struct memory_message m;
	struct memory_link *link;
	struct memory_work *next; /* the session's next, or the next free one */
	uint64_t done;            /* bytes; in CLOSE those of the current extent */
	unsigned extent;
	int32_t failed; /* ALLOCATE: -errno; what was taken is being given back */
};

/*
 * A kernel that has no free huge page moves other pages to make one.  If it fails all the same, the
 * memory thread asks for none for a while.  How long it takes is no reason: a busy machine takes
 * long, too, and the time is charged to the user who asked (memory_thread.c).
 */
struct memory_huge {
	bool possible;           /* features.h */
	uint64_t not_before_tsc; /* 0: at once */
};

/*
 * Take huge pages where they fit whole into the `bytes` from `offset` on, of a region that begins
 * at `base`, a multiple of HUGE_PAGE_BYTES: one that reached over the edge of a piece would be
 * memory of no piece.  A failure is ignored, since the fallocate that follows reports it.
 */
void memory_pages_take_huge(struct memory_huge *huge, uint8_t *base, uint64_t offset,
			    uint64_t bytes);

/* Do the next part.  True: that was the last, and m.result is set. */
bool memory_pages_part(struct memory_work *w, struct memory_huge *huge);

#endif
