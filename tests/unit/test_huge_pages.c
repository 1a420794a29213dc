/* SPDX-License-Identifier: MIT */
/* test_huge_pages.c - huge pages are taken where they are asked for, and nowhere else */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/huge_pages.h"
#include "base/memfd.h"

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

/* Not by features.h, which asks the function that is tested here. */
static bool may_be_asked_for(void)
{
	struct utsname kernel;
	unsigned major = 0, minor = 0;
	char holds[128] = "";
	FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/shmem_enabled", "r");

	if (f) {
		(void)!fgets(holds, sizeof holds, f);
		fclose(f);
	}
	cr_assert_eq(uname(&kernel), 0);
	cr_assert_eq(sscanf(kernel.release, "%u.%u", &major, &minor), 2);
	return *holds && !strstr(holds, "[deny]") && (major > 6 || (major == 6 && minor >= 1));
}

/* A kernel that has none at the moment says so; then there is nothing to test. */
static void take(uint64_t at, uint64_t pages)
{
	if (!may_be_asked_for())
		cr_skip_test("no huge pages on request");
	if (huge_pages_take(map + at * HUGE_PAGE_BYTES, pages * HUGE_PAGE_BYTES) < 0)
		cr_skip_test("no free huge pages");
}

/* The kernel itself puts large maps at multiples of 2 MiB, but not of 1 GiB. */
Test(huge_pages, a_map_begins_where_it_is_asked_to)
{
	const uint64_t alignment = UINT64_C(1) << 30;
	uint8_t *all;
	void *at;

	cr_assert_eq(memfd_map_aligned(fd, PAGES * HUGE_PAGE_BYTES, alignment, &at), 0);
	cr_expect_eq((uintptr_t)at % alignment, 0);
	all = at;
	all[0] = 1;
	all[PAGES * HUGE_PAGE_BYTES - 1] = 2;
	cr_expect_eq(map[0], 1);
	cr_expect_eq(map[PAGES * HUGE_PAGE_BYTES - 1], 2);
	munmap(at, PAGES * HUGE_PAGE_BYTES);
}

Test(huge_pages, a_map_that_fails_leaves_no_map)
{
	void *at = map;

	cr_expect_eq(memfd_map_aligned(-1, HUGE_PAGE_BYTES, HUGE_PAGE_BYTES, &at), -EBADF);
	cr_expect_null(at);
}

Test(huge_pages, all_that_are_asked_for_are_taken_and_no_others)
{
	take(1, 3);
	cr_expect_eq(taken(), 3 * HUGE_PAGE_BYTES);
	for (uint64_t i = 0; i < PAGES * HUGE_PAGE_BYTES; i += 512)
		cr_assert_eq(map[i], 0);
}

Test(huge_pages, of_a_hole_they_are_taken_again)
{
	take(0, 2);
	memset(map, 7, 2 * HUGE_PAGE_BYTES);
	cr_assert_eq(madvise(map, HUGE_PAGE_BYTES, MADV_REMOVE), 0);
	cr_expect_eq(taken(), HUGE_PAGE_BYTES);
	take(0, 1);
	cr_expect_eq(taken(), 2 * HUGE_PAGE_BYTES);
	cr_expect_eq(map[0], 0);
	cr_expect_eq(map[HUGE_PAGE_BYTES - 1], 0);
	cr_expect_eq(map[HUGE_PAGE_BYTES], 7);
}
