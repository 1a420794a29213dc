/* SPDX-License-Identifier: MIT */
/* test_region.c - pieces are taken from their class's stripe, and given back. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "store/region.h"

#define LEASE       (UINT64_C(1) << 20)
#define MAX_BUFFERS 1000

static uint32_t *words;
static struct region region;

static void open_region(void)
{
	words = calloc(region_words(LEASE, MAX_BUFFERS), sizeof *words);
	cr_assert_eq(region_open(&region, LEASE, LEASE, MAX_BUFFERS, words), 0);
}

static void close_region(void)
{
	region_close(&region);
	free(words);
}

TestSuite(region, .init = open_region, .fini = close_region);

static struct region_piece take(uint32_t class)
{
	struct region_piece piece;

	cr_assert(region_take(&region, class, &piece));
	return piece;
}

Test(region, a_class_has_as_many_pieces_as_the_lease)
{
	for (uint32_t c = 0; c < SIZECLASS_NR; c++) {
		uint64_t most = LEASE / sizeclass_bytes(c), n = 0;
		struct region_piece piece;

		while (region_take(&region, c, &piece))
			n++;
		cr_expect_eq(n, most, "class %u has %lu pieces, not %lu", c, n, most);
	}
}

Test(region, a_class_beyond_the_lease_has_none)
{
	struct region_piece piece;

	cr_expect_not(region_take(&region, sizeclass_of(LEASE) + 1, &piece));
	cr_expect_not(region_take(&region, SIZECLASS_NR, &piece));
}

static int by_offset(const void *a, const void *b)
{
	const struct region_piece *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

Test(region, no_two_pieces_overlap)
{
	struct region_piece *all = calloc(region_words(LEASE, MAX_BUFFERS) + 1, sizeof *all);
	size_t n = 0;

	for (uint32_t c = 0; c < SIZECLASS_NR; c++)
		while (region_take(&region, c, &all[n]))
			n++;
	qsort(all, n, sizeof *all, by_offset);
	for (size_t i = 1; i < n; i++)
		cr_expect_geq(all[i].offset, all[i - 1].offset + sizeclass_bytes(all[i - 1].class));
	cr_expect_leq(all[n - 1].offset + sizeclass_bytes(all[n - 1].class), region.bytes);
	free(all);
}

Test(region, what_came_back_last_with_its_pages_is_taken_first)
{
	struct region_piece a = take(3), b = take(3), c;

	region_give(&region, a.offset, 3, true);
	region_give(&region, b.offset, 3, true);
	cr_expect_eq(region.cached_bytes, 2 * sizeclass_bytes(3));
	c = take(3);
	cr_expect_eq(c.offset, b.offset);
	cr_expect(c.resident);
	c = take(3);
	cr_expect_eq(c.offset, a.offset);
	cr_expect_eq(region.cached_bytes, 0);
	cr_expect_not(take(3).resident);
}

Test(region, pages_are_preferred_to_none)
{
	struct region_piece a = take(0), b = take(0);

	region_give(&region, a.offset, 0, true);
	region_give(&region, b.offset, 0, false);
	cr_expect_eq(take(0).offset, a.offset);
	cr_expect_eq(take(0).offset, b.offset);
}

Test(region, the_largest_cached_piece_is_given_back_first)
{
	struct region_piece small = take(1), large = take(12), piece;

	cr_expect_not(region_take_cached(&region, &piece));
	region_give(&region, small.offset, 1, true);
	region_give(&region, large.offset, 12, true);
	cr_assert(region_take_cached(&region, &piece));
	cr_expect_eq(piece.offset, large.offset);
	cr_expect_eq(piece.class, 12);
	cr_assert(region_take_cached(&region, &piece));
	cr_expect_eq(piece.offset, small.offset);
	cr_expect_not(region_take_cached(&region, &piece));
}

Test(region, a_piece_can_be_written_from_end_to_end)
{
	struct region_piece piece = take(sizeclass_of(LEASE));

	memset(region.base + piece.offset, 1, LEASE);
	cr_expect_eq(region.base[piece.offset + LEASE - 1], 1);
}

Test(region, what_it_grows_by_is_all_that_comes)
{
	uint32_t *more = calloc(region_words(4 * LEASE, MAX_BUFFERS), sizeof *more);
	struct region r;
	struct region_piece piece;

	cr_assert_eq(region_open(&r, LEASE, 4 * LEASE, MAX_BUFFERS, more), 0);
	for (unsigned step = 1; step <= 4; step++) {
		region_grow(&r, step * LEASE);
		for (uint32_t c = 0; c < SIZECLASS_NR; c++) {
			uint64_t n = step * LEASE / sizeclass_bytes(c);

			n = n < MAX_BUFFERS ? n : MAX_BUFFERS;
			while (region_take(&r, c, &piece))
				;
			cr_expect_eq(r.class[c].fresh, n, "class %u at %u", c, step);
			cr_expect(!n || piece.offset + sizeclass_bytes(c) <= r.bytes);
		}
	}
	region_close(&r);
	free(more);
}
