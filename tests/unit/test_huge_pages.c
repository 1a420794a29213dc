/* SPDX-License-Identifier: MIT */
/* test_huge_pages.c - huge pages are taken where they are asked for, and nowhere else */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/huge_pages.h"
#include "base/memfd.h"
#include "machine/features.h"

#define PAGES 6

static int fd;
static uint8_t *map;

static void start(void)
{
	void *at;

	fd = memfd_create_sealed("test", PAGES * HUGE_PAGE_BYTES);
	cr_assert_geq(fd, 0);
	cr_assert_eq(memfd_map_aligned(fd, PAGES * HUGE_PAGE_BYTES, HUGE_PAGE_BYTES, &at), 0);
	map = at;
}

static void end(void)
{
	munmap(map, PAGES * HUGE_PAGE_BYTES);
	close(fd);
}

TestSuite(huge_pages, .init = start, .fini = end);

static uint64_t taken(void)
{
	struct stat st;

	cr_assert_eq(fstat(fd, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

/* Tests that need huge pages are skipped where the kernel gives none. */
static bool are_given(void)
{
	struct features f;

	features_probe(&f, -1);
	return !f.missing[FEATURE_HUGE_PAGES];
}

Test(huge_pages, a_map_begins_where_it_is_asked_to)
{
	cr_expect_eq((uintptr_t)map % HUGE_PAGE_BYTES, 0);
	map[0] = 1;
	map[PAGES * HUGE_PAGE_BYTES - 1] = 2;
}

Test(huge_pages, a_map_that_fails_leaves_no_map)
{
	void *at = map;

	cr_expect_eq(memfd_map_aligned(-1, HUGE_PAGE_BYTES, HUGE_PAGE_BYTES, &at), -EBADF);
	cr_expect_null(at);
}

Test(huge_pages, all_that_are_asked_for_are_taken_and_no_others)
{
	if (!are_given())
		cr_skip("no huge pages");
	cr_assert_eq(huge_pages_take(map + HUGE_PAGE_BYTES, 3 * HUGE_PAGE_BYTES), 0);
	cr_expect_eq(taken(), 3 * HUGE_PAGE_BYTES);
	for (uint64_t i = 0; i < PAGES * HUGE_PAGE_BYTES; i += 512)
		cr_assert_eq(map[i], 0);
}

Test(huge_pages, of_a_hole_they_are_taken_again)
{
	if (!are_given())
		cr_skip("no huge pages");
	cr_assert_eq(huge_pages_take(map, 2 * HUGE_PAGE_BYTES), 0);
	memset(map, 7, 2 * HUGE_PAGE_BYTES);
	cr_assert_eq(madvise(map, HUGE_PAGE_BYTES, MADV_REMOVE), 0);
	cr_expect_eq(taken(), HUGE_PAGE_BYTES);
	cr_assert_eq(huge_pages_take(map, HUGE_PAGE_BYTES), 0);
	cr_expect_eq(taken(), 2 * HUGE_PAGE_BYTES);
	cr_expect_eq(map[0], 0);
	cr_expect_eq(map[HUGE_PAGE_BYTES - 1], 0);
	cr_expect_eq(map[HUGE_PAGE_BYTES], 7);
}
