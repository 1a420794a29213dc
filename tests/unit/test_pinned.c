/* SPDX-License-Identifier: MIT */
/* test_pinned.c - pieces of the pinned region are placed by first fit, and moved together. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "session/session.h"
#include "store/pinned.h"

#define PAGES   200u /* slightly more than three words of the map */
#define BUFFERS 64u

/* A region with the daemon's tables for it, and the value that fills each piece. */
struct fixture {
	struct pinned p;
	uint64_t map[4];
	uint32_t owner[PAGES];
	struct buffer buffer[BUFFERS]; /* size 0: none */
	uint8_t *base;
};

static struct fixture *make(uint64_t pages)
{
	struct fixture *f = calloc(1, sizeof *f);

	f->base = calloc(PAGES, PAGE_BYTES);
	pinned_init(&f->p, pages * PAGE_BYTES, f->map, f->owner);
	return f;
}

static void done(struct fixture *f)
{
	free(f->base);
	free(f);
}

static bool take(struct fixture *f, uint32_t i, uint64_t size)
{
	if (!pinned_take(&f->p, size, i, &f->buffer[i].offset))
		return false;
	f->buffer[i].size = size;
	memset(f->base + f->buffer[i].offset, (int)i + 1, size);
	return true;
}

static void give(struct fixture *f, uint32_t i)
{
	pinned_give(&f->p, f->buffer[i].offset, f->buffer[i].size);
	f->buffer[i].size = 0;
}

static bool is_intact(const struct fixture *f, uint32_t i)
{
	const uint8_t *at = f->base + f->buffer[i].offset;

	for (uint64_t n = 0; n < f->buffer[i].size; n++)
		if (at[n] != i + 1)
			return false;
	return true;
}

static uint64_t page_of(const struct fixture *f, uint32_t i)
{
	return f->buffer[i].offset / PAGE_BYTES;
}

Test(pinned, piece_is_whole_pages)
{
	static const struct {
		uint64_t size, bytes;
	} row[] = {{1, 4096}, {4095, 4096}, {4096, 4096}, {4097, 8192}, {40960, 40960}};

	for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
		struct fixture *f = make(16);

		cr_expect(take(f, 0, row[i].size));
		cr_expect_eq(f->p.used, row[i].bytes);
		cr_expect_eq(pinned_free(&f->p), 16 * PAGE_BYTES - row[i].bytes);
		give(f, 0);
		cr_expect_eq(f->p.used, 0);
		done(f);
	}
}

Test(pinned, piece_lies_at_the_lowest_place_where_it_fits)
{
	struct fixture *f = make(PAGES);

	for (uint32_t i = 0; i < 10; i++)
		cr_assert(take(f, i, 3 * PAGE_BYTES));
	give(f, 2);
	give(f, 5);
	give(f, 6);
	cr_expect(take(f, 20, 4 * PAGE_BYTES));
	cr_expect_eq(page_of(f, 20), 15, "two neighbours that came back are one place");
	cr_expect(take(f, 21, 2 * PAGE_BYTES));
	cr_expect_eq(page_of(f, 21), 6);
	cr_expect(take(f, 22, 2 * PAGE_BYTES));
	cr_expect_eq(page_of(f, 22), 19);
	cr_expect(take(f, 23, 2 * PAGE_BYTES));
	cr_expect_eq(page_of(f, 23), 30);
	done(f);
}

Test(pinned, region_can_be_filled_to_its_last_page)
{
	static const uint64_t pages[] = {1, 63, 64, 65, 127, 128, 129, PAGES};

	for (unsigned i = 0; i < sizeof pages / sizeof pages[0]; i++) {
		struct fixture *f = make(pages[i]);

		cr_expect(!take(f, 0, pages[i] * PAGE_BYTES + 1));
		cr_expect(take(f, 0, pages[i] * PAGE_BYTES), "%lu pages", (unsigned long)pages[i]);
		cr_expect(!take(f, 1, 1));
		give(f, 0);
		cr_expect(take(f, 1, 1));
		cr_expect_eq(page_of(f, 1), 0);
		cr_expect(pages[i] == 1 || take(f, 2, (pages[i] - 1) * PAGE_BYTES));
		cr_expect_eq(pinned_free(&f->p), 0);
		done(f);
	}
}

/* A job that finds no place tries again whenever another one ends. */
Test(pinned, length_without_a_place_is_searched_for_only_when_something_has_changed)
{
	struct fixture *f = make(10);
	uint64_t map;

	for (uint32_t b = 0; b < 5; b++)
		cr_assert(take(f, b, 2 * PAGE_BYTES));
	give(f, 1);
	give(f, 3);
	cr_expect(!take(f, 10, 3 * PAGE_BYTES));
	map = f->map[0];
	f->map[0] = 0; /* a search would find all of it */
	cr_expect(!take(f, 10, 3 * PAGE_BYTES));
	f->map[0] = map;
	cr_expect(take(f, 10, 2 * PAGE_BYTES), "a shorter one is searched for");
	cr_expect_eq(page_of(f, 10), 2);
	give(f, 4);
	cr_expect(take(f, 11, 4 * PAGE_BYTES), "something came back");
	cr_expect_eq(page_of(f, 11), 6);
	done(f);
}

static uint64_t size_of(void *arg, uint32_t buffer)
{
	return ((const struct fixture *)arg)->buffer[buffer].size;
}

static void has_moved(void *arg, uint32_t buffer, uint64_t offset)
{
	((struct fixture *)arg)->buffer[buffer].offset = offset;
}

static bool stays(void *arg, uint32_t i)
{
	return ((struct fixture *)arg)->buffer[i].holds;
}

/* True: all is in place. */
static bool tidy_part(struct fixture *f, uint64_t most)
{
	return pinned_tidy(&f->p, f->base, &(struct pinned_owners){size_of, stays, has_moved, f},
			   most);
}

static void tidy(struct fixture *f, uint64_t most)
{
	pinned_tidy_begin(&f->p);
	while (!tidy_part(f, most))
		;
}

Test(pinned, tidying_leaves_all_free_bytes_in_one_place)
{
	static const uint64_t parts[] = {1, 2, 7, 1000}; /* pages */

	for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		struct fixture *f = make(PAGES);

		for (uint32_t b = 0; b < 20; b++)
			cr_assert(take(f, b, 10 * PAGE_BYTES - 7));
		for (uint32_t b = 1; b < 20; b += 2)
			give(f, b);
		cr_assert(!take(f, 30, 100 * PAGE_BYTES));
		tidy(f, parts[i] * PAGE_BYTES);
		for (uint32_t b = 0; b < 20; b += 2) {
			cr_expect_eq(page_of(f, b), b / 2 * 10);
			cr_expect(is_intact(f, b), "buffer %u in parts of %lu pages", b,
				  (unsigned long)parts[i]);
		}
		cr_expect(take(f, 30, 100 * PAGE_BYTES));
		cr_expect_eq(pinned_free(&f->p), 0);
		done(f);
	}
}

Test(pinned, tidying_of_nothing_and_of_a_tidy_region_moves_nothing)
{
	struct fixture *f = make(PAGES);

	pinned_tidy_begin(&f->p);
	cr_expect(tidy_part(f, PAGE_BYTES));
	take(f, 0, 70 * PAGE_BYTES);
	take(f, 1, PAGE_BYTES);
	pinned_tidy_begin(&f->p);
	cr_expect(tidy_part(f, 3 * PAGE_BYTES), "in one part");
	cr_expect_eq(page_of(f, 1), 70);
	done(f);
}

static uint32_t next_random(uint32_t *x)
{
	*x = *x * 1664525u + 1013904223u;
	return *x >> 8;
}

/* The lowest run of free pages, found by looking at every piece for every page. */
static uint64_t naive_place(const struct fixture *f, uint64_t pages)
{
	for (uint64_t at = 0; at + pages <= PAGES; at++) {
		bool is_free = true;

		for (uint32_t b = 0; b < BUFFERS && is_free; b++)
			is_free =
				!f->buffer[b].size || page_of(f, b) >= at + pages ||
				page_of(f, b) + (f->buffer[b].size + PAGE_BYTES - 1) / PAGE_BYTES <=
					at;
		if (is_free)
			return at;
	}
	return PAGES;
}

Test(pinned, thousands_of_pieces_come_and_go_as_in_a_naive_model)
{
	struct fixture *f = make(PAGES);
	uint32_t x = 1;

	for (unsigned step = 0; step < 20000; step++) {
		uint32_t b = next_random(&x) % BUFFERS;
		uint64_t size = next_random(&x) % (12 * PAGE_BYTES) + 1, want;

		if (f->buffer[b].size) {
			cr_assert(is_intact(f, b), "step %u", step);
			give(f, b);
			continue;
		}
		if (step % 500 == 0)
			tidy(f, (next_random(&x) % 5 + 1) * PAGE_BYTES);
		want = naive_place(f, (size + PAGE_BYTES - 1) / PAGE_BYTES);
		cr_assert_eq(take(f, b, size), want < PAGES, "step %u", step);
		if (want < PAGES)
			cr_assert_eq(page_of(f, b), want, "step %u", step);
	}
	done(f);
}

/* 20 pages: 3 free, 2 that stay, 4 free, 5 pages, 1 free, 2 pages, 3 free. */
Test(pinned, tidying_fills_gaps_beside_pieces_that_stay)
{
	static const uint64_t parts[] = {1, 2, 1000}; /* pages */

	for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		struct fixture *f = make(20);

		cr_assert(take(f, 0, 3 * PAGE_BYTES) && take(f, 1, 2 * PAGE_BYTES) &&
			  take(f, 2, 4 * PAGE_BYTES) && take(f, 3, 5 * PAGE_BYTES) &&
			  take(f, 4, PAGE_BYTES) && take(f, 5, 2 * PAGE_BYTES));
		give(f, 0);
		give(f, 2);
		give(f, 4);
		f->buffer[1].holds = 1;
		cr_expect_eq(pinned_longest(&f->p), 4 * PAGE_BYTES);
		tidy(f, parts[i] * PAGE_BYTES);
		cr_expect_eq(page_of(f, 1), 3, "it stays");
		cr_expect_eq(page_of(f, 3), 5, "behind it");
		cr_expect_eq(page_of(f, 5), 0, "it fits before it");
		cr_expect(is_intact(f, 1) && is_intact(f, 3) && is_intact(f, 5));
		cr_expect_eq(pinned_longest(&f->p), 10 * PAGE_BYTES);
		done(f);
	}
}

/* Its thread serves other users, too. */
Test(pinned, part_of_tidying_ends_even_if_no_piece_moves)
{
	struct fixture *f = make(PAGES);
	unsigned parts = 1;

	for (uint32_t b = 0; b < BUFFERS; b++) {
		cr_assert(take(f, b, PAGE_BYTES));
		f->buffer[b].holds = b % 3 == 0;
	}
	pinned_tidy_begin(&f->p);
	while (!tidy_part(f, 8 * PAGE_BYTES))
		parts++;
	cr_expect_geq(parts, BUFFERS / 8, "%u parts", parts);
	for (uint32_t b = 0; b < BUFFERS; b++)
		cr_expect(page_of(f, b) == b && is_intact(f, b));
	done(f);
}

/* What is held has stayed, and no other piece would fit before its place. */
static void check_tidied(const struct fixture *f, const uint64_t *old, unsigned step)
{
	for (uint32_t b = 0; b < BUFFERS; b++) {
		uint64_t pages = (f->buffer[b].size + PAGE_BYTES - 1) / PAGE_BYTES;

		if (!pages)
			continue;
		cr_assert(is_intact(f, b), "step %u", step);
		if (f->buffer[b].holds)
			cr_assert_eq(page_of(f, b), old[b], "step %u", step);
		else
			cr_assert_leq(page_of(f, b), naive_place(f, pages), "step %u", step);
	}
}

Test(pinned, tidying_around_random_pieces_that_stay)
{
	static const uint64_t parts[] = {1, 3, 1000}; /* pages */
	struct fixture *f = make(PAGES);
	uint64_t old[BUFFERS];
	uint32_t x = 7;

	for (unsigned step = 0; step < 300; step++) {
		for (unsigned i = 0; i < 20; i++) {
			uint32_t b = next_random(&x) % BUFFERS;

			if (f->buffer[b].size)
				give(f, b);
			else
				(void)take(f, b, next_random(&x) % (9 * PAGE_BYTES) + 1);
		}
		for (uint32_t b = 0; b < BUFFERS; b++) {
			f->buffer[b].holds = next_random(&x) % 4 == 0;
			old[b] = page_of(f, b);
		}
		tidy(f, parts[step % 3] * PAGE_BYTES);
		check_tidied(f, old, step);
	}
	done(f);
}
