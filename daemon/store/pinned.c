/* SPDX-License-Identifier: MIT */
/* pinned.c - first fit on a bitmap of pages, and moving pieces together */
#include "pinned.h"

#include <assert.h>
#include <string.h>

void pinned_init(struct pinned *p, uint64_t bytes, uint64_t *map, uint32_t *owner)
{
	*p = (struct pinned){.bytes = bytes, .map = map, .owner = owner};
}

#define NO_PAGE UINT64_MAX

/* How many pages from `page` on are all free, or all taken, up to the end of the word. */
static uint64_t alike(const struct pinned *p, uint64_t page, bool taken)
{
	uint64_t word = p->map[page / 64] >> page % 64, rest = 64 - page % 64;

	if (taken)
		word = ~word;
	return word && (uint64_t)__builtin_ctzll(word) < rest ? (uint64_t)__builtin_ctzll(word)
							      : rest;
}

/* The first page of the lowest long enough run of free pages; NO_PAGE: there is none. */
static uint64_t find_run(const struct pinned *p, uint64_t pages)
{
	uint64_t end = p->bytes / PAGE_BYTES, run = 0;

	for (uint64_t page = 0; page < end;) {
		uint64_t n = alike(p, page, false);

		if (n > end - page)
			n = end - page;
		run += n;
		page += n;
		if (run >= pages)
			return page - run;
		n = page < end ? alike(p, page, true) : 0;
		if (n)
			run = 0;
		page += n;
	}
	return NO_PAGE;
}

/* Set or clear the bits of a run of pages. */
static void mark(struct pinned *p, uint64_t page, uint64_t pages, bool taken)
{
	while (pages) {
		uint64_t at = page % 64, n = 64 - at < pages ? 64 - at : pages;
		uint64_t bits = (n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1) << at;

		if (taken)
			p->map[page / 64] |= bits;
		else
			p->map[page / 64] &= ~bits;
		page += n;
		pages -= n;
	}
}

bool pinned_take(struct pinned *p, uint64_t size, uint32_t owner, uint64_t *ret_offset)
{
	uint64_t bytes = pinned_piece_bytes(size);
	uint64_t page = find_run(p, bytes / PAGE_BYTES);

	if (page == NO_PAGE)
		return false;
	mark(p, page, bytes / PAGE_BYTES, true);
	p->owner[page] = owner;
	p->used += bytes;
	*ret_offset = page * PAGE_BYTES;
	return true;
}

void pinned_give(struct pinned *p, uint64_t offset, uint64_t size)
{
	mark(p, offset / PAGE_BYTES, pinned_piece_bytes(size) / PAGE_BYTES, false);
	assert(p->used >= pinned_piece_bytes(size));
	p->used -= pinned_piece_bytes(size);
}

void pinned_tidy_begin(struct pinned *p)
{
	p->from = p->to = p->moved = 0;
}

/* The first page of the next piece, from p->from on; NO_PAGE: there is none. */
static uint64_t next_piece(const struct pinned *p)
{
	uint64_t end = p->bytes / PAGE_BYTES;

	for (uint64_t page = p->from; page < end;) {
		if (p->map[page / 64] >> page % 64 & 1)
			return page;
		page += alike(p, page, false);
	}
	return NO_PAGE;
}

/* All bytes of the piece at `page` have been moved to p->to: update the tables. */
static void settle(struct pinned *p, uint64_t page, uint64_t pages,
		   const struct pinned_owners *owners)
{
	uint32_t owner = p->owner[page];

	mark(p, page, pages, false);
	mark(p, p->to, pages, true);
	p->owner[p->to] = owner;
	owners->moved(owners->arg, owner, p->to * PAGE_BYTES);
	p->from = page + pages;
	p->to += pages;
	p->moved = 0;
}

bool pinned_tidy(struct pinned *p, uint8_t *base, const struct pinned_owners *owners, uint64_t most)
{
	uint64_t page, budget = most / PAGE_BYTES;

	while ((page = next_piece(p)) != NO_PAGE) {
		uint64_t bytes = pinned_piece_bytes(owners->size(owners->arg, p->owner[page]));
		uint64_t pages = bytes / PAGE_BYTES, n = pages - p->moved;

		if (page != p->to) {
			if (!budget)
				return false;
			if (n > budget)
				n = budget;
			/* To lower addresses and from the front, so that no bytes are lost. */
			memmove(base + (p->to + p->moved) * PAGE_BYTES,
				base + (page + p->moved) * PAGE_BYTES, n * PAGE_BYTES);
			budget -= n;
		}
		p->moved += n;
		if (p->moved == pages)
			settle(p, page, pages, owners);
		else
			p->from = page;
	}
	return true;
}
