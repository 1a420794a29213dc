/* SPDX-License-Identifier: MIT */
/* memory_pages.c - takes, punches and unmaps pages, in parts */
#include "memory_pages.h"

#include <errno.h>
#include <fcntl.h>

#include "base/huge_pages.h"
#include "base/tsc.h"
#include "memory_pinned.h"
#include "session/session.h"

#define PUNCH (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE)

#define HUGE_PAUSE_NS 1000000000u

/* A part ends at a multiple of its size, so that it cuts no huge page. */
static uint64_t part_of(uint64_t offset, uint64_t bytes)
{
	uint64_t n = MEMORY_PART_BYTES - offset % MEMORY_PART_BYTES;

	return n < bytes ? n : bytes;
}

static int change_pages(int fd, int mode, uint64_t offset, uint64_t bytes)
{
	while (fallocate(fd, mode, (off_t)offset, (off_t)bytes) < 0)
		if (errno != EINTR)
			return errno == ENOSPC ? -ENOMEM : -errno;
	return 0;
}

void memory_pages_take_huge(struct memory_huge *huge, uint8_t *base, uint64_t offset,
			    uint64_t bytes)
{
	const uint64_t end = (offset + bytes) & -HUGE_PAGE_BYTES;
	const uint64_t at = (offset + HUGE_PAGE_BYTES - 1) & -HUGE_PAGE_BYTES;

	if (!huge->possible || at >= end || tsc_now() < huge->not_before_tsc)
		return;
	if (huge_pages_take(base + at, end - at) < 0)
		huge->not_before_tsc = tsc_now() + tsc_from_ns(HUGE_PAUSE_NS);
}

static bool punch_part(struct memory_work *w)
{
	uint64_t offset = w->m.offset + w->done, n = part_of(offset, w->m.bytes - w->done);

	w->m.result = change_pages(w->m.session->region.fd, PUNCH, offset, n);
	w->done += n;
	return w->m.result < 0 || w->done == w->m.bytes;
}

static bool allocate_part(struct memory_work *w, struct memory_huge *huge)
{
	const struct region *r = &w->m.session->region;
	uint64_t offset = w->m.offset + w->done, n = part_of(offset, w->m.bytes - w->done);

	if (w->failed) { /* in the last part: give back what was taken, from the end */
		uint64_t from = w->done > MEMORY_PART_BYTES ? w->done - MEMORY_PART_BYTES : 0;

		(void)change_pages(r->fd, PUNCH, w->m.offset + from, w->done - from);
		w->done = from;
		w->m.result = w->failed;
		return !from;
	}
	memory_pages_take_huge(huge, r->base, offset, n);
	w->failed = w->m.result = change_pages(r->fd, 0, offset, n);
	w->done += n;
	return !w->failed && w->done == w->m.bytes;
}

/* A range of a file that may have pages. */
struct extent {
	int fd;
	uint64_t offset, bytes;
};

#define CLOSE_EXTENTS (SIZECLASS_NR + 2)

/*
 * The used part of each stripe of the region; SEEK_DATA would find only what was written.  Then the
 * pinned region and the bridge: an executor at work may have them mapped for a while, without
 * pages.  No client has a descriptor of these files; what a client has one of is charged to the
 * client.
 */
static struct extent close_extent(const struct session *s, unsigned i)
{
	const struct region *r = &s->region;

	if (i < SIZECLASS_NR)
		return (struct extent){r->fd, r->class[i].offset,
				       r->class[i].fresh * region_piece_bytes(r, i)};
	switch (i - SIZECLASS_NR) {
	case 0:
		return (struct extent){s->pinned_fd, 0, s->pinned_bytes};
	default:
		return (struct extent){s->bridge.fd, 0, s->bridge.fd < 0 ? 0 : BRIDGE_BYTES};
	}
}

static bool close_part(struct memory_work *w)
{
	struct session *s = w->m.session;
	struct extent e;

	for (; w->extent < CLOSE_EXTENTS; w->extent++, w->done = 0) {
		e = close_extent(s, w->extent);
		if (w->done < e.bytes) {
			uint64_t n = part_of(e.offset + w->done, e.bytes - w->done);

			/* If this fails, closing the file gives the pages back, in one go. */
			(void)change_pages(e.fd, PUNCH, e.offset + w->done, n);
			w->done += n;
			return false;
		}
	}
	region_close(&s->region);
	memory_pinned_withdraw(s);
	return true;
}

bool memory_pages_part(struct memory_work *w, struct memory_huge *huge)
{
	switch (w->m.op) {
	case MEMORY_PUNCH:
		return punch_part(w);
	case MEMORY_ALLOCATE:
		return allocate_part(w, huge);
	case MEMORY_CLOSE:
		return close_part(w);
	case MEMORY_FILL:
		w->m.result = memory_pinned_fill_part(&w->m, huge);
		return true;
	default:
		w->m.result = memory_pinned_tidy_part(w->m.session);
		return true;
	}
}
