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

/*
 * The first page of the lowest run of so many free pages in [page, end).  NO_PAGE: there is none,
 * and *ret_longest is the length of the longest.
 */
static uint64_t find_run(const struct pinned *p, uint64_t page, uint64_t end, uint64_t pages,
			 uint64_t *ret_longest)
{
	uint64_t run = 0, longest = 0;

	while (page < end) {
		uint64_t n = alike(p, page, false);

		if (n > end - page)
			n = end - page;
		run += n;
		page += n;
		if (run >= pages)
			return page - run;
		longest = run > longest ? run : longest;
		n = page < end ? alike(p, page, true) : 0;
		if (n)
			run = 0;
		page += n;
	}
	*ret_longest = longest;
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
	uint64_t longest = 0, page;

	if (p->hopeless && bytes / PAGE_BYTES >= p->hopeless)
		return false;
	page = find_run(p, 0, p->bytes / PAGE_BYTES, bytes / PAGE_BYTES, &longest);
	if (page == NO_PAGE) {
		p->hopeless = longest + 1;
		return false;
	}
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
	p->hopeless = 0;
}

uint64_t pinned_longest(const struct pinned *p)
{
	uint64_t longest = 0;

	(void)find_run(p, 0, p->bytes / PAGE_BYTES, UINT64_MAX, &longest);
	return longest * PAGE_BYTES;
}

/* ---- tidying ---- */

/* Looking at so many pages of the map takes about as long as moving one page. */
#define LOOKS_PER_PAGE 4096u

void pinned_tidy_begin(struct pinned *p)
{
	p->from = p->to = p->moved = p->full = p->edge = p->too_long = 0;
	p->placed = false;
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

	p->hopeless = 0;
	mark(p, page, pages, false);
	mark(p, p->to, pages, true);
	p->owner[p->to] = owner;
	owners->moved(owners->arg, owner, p->to * PAGE_BYTES);
}

/*
 * Find the lowest place for the next piece; the place may overlap its own.  Before p->edge there
 * are only gaps before pieces that stay; where no piece stays, the pieces come to lie side by side.
 * Returns what that costs, in pages.
 */
static uint64_t find_place(struct pinned *p, uint64_t pages)
{
	uint64_t longest = 0, place;

	p->placed = true;
	p->to = p->edge;
	if (pages >= p->too_long)
		return 1;
	place = find_run(p, p->full, p->edge, pages, &longest);
	if (place == NO_PAGE)
		p->too_long = longest + 1;
	else
		p->to = place;
	return 1 + ((place == NO_PAGE ? p->edge : place) - p->full) / LOOKS_PER_PAGE;
}

/* The piece is where it is to be. */
static void pass(struct pinned *p, uint64_t page, uint64_t pages)
{
	if (p->to == p->full)
		p->full += pages;
	if (p->to >= p->edge) { /* free pages between them are a gap now */
		if (p->to - p->edge >= p->too_long)
			p->too_long = p->to - p->edge + 1;
		p->edge = p->to + pages;
	}
	p->from = page + pages;
	p->moved = 0;
	p->placed = false;
}

/* Move at most so many pages of the piece to its place, and return how many. */
static uint64_t move(struct pinned *p, uint8_t *base, uint64_t page, uint64_t pages, uint64_t most)
{
	uint64_t n = pages - p->moved < most ? pages - p->moved : most;

	/* To lower addresses and from the front, so that no bytes are lost. */
	memmove(base + (p->to + p->moved) * PAGE_BYTES, base + (page + p->moved) * PAGE_BYTES,
		n * PAGE_BYTES);
	p->moved += n;
	return n;
}

bool pinned_tidy(struct pinned *p, uint8_t *base, const struct pinned_owners *owners, uint64_t most)
{
	uint64_t page, budget = most / PAGE_BYTES;

	while ((page = next_piece(p)) != NO_PAGE) {
		uint32_t owner = p->owner[page];
		uint64_t bytes = pinned_piece_bytes(owners->size(owners->arg, owner));
		uint64_t pages = bytes / PAGE_BYTES;

		p->from = page;
		if (!budget)
			return false;
		if (!p->placed && owners->stays(owners->arg, owner)) {
			p->placed = true;
			p->to = page;
			budget--;
		} else if (!p->placed) {
			uint64_t cost = find_place(p, pages);

			budget -= cost < budget ? cost : budget;
		}
		if (p->to != page) {
			budget -= move(p, base, page, pages, budget);
			if (p->moved < pages)
				continue;
			settle(p, page, pages, owners);
		}
		pass(p, page, pages);
	}
	return true;
}
