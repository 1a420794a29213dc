/* SPDX-License-Identifier: MIT */
/* test_memory_pages.c - the pause after the kernel had no huge page */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/memfd.h"
#include "base/tsc.h"
#include "memory/memory_pages.h"

#define PAGE  (UINT64_C(2) << 20)
#define PAUSE tsc_from_ns(1000000000)

#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

static int fd;
static uint8_t *map;

static void start(void)
{
	void *at;

	if (madvise(NULL, 0, MADV_POPULATE_WRITE) < 0)
		cr_skip_test("this kernel takes no page on request");
	tsc_init();
	fd = memfd_create_sealed("test", 2 * PAGE);
	cr_assert_geq(fd, 0);
	cr_assert_eq(memfd_map_aligned(fd, 2 * PAGE, PAGE, &at), 0);
	map = at;
}

static void end(void)
{
	munmap(map, 2 * PAGE);
	close(fd);
}

TestSuite(memory_pages, .init = start, .fini = end);

static uint64_t taken(void)
{
	struct stat st;

	cr_assert_eq(fstat(fd, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

/* No page can be there, so the kernel fails as it does without a free one. */
static void fail(struct memory_huge *huge)
{
	cr_assert_eq(mprotect(map, 2 * PAGE, PROT_NONE), 0);
	memory_pages_take_huge(huge, map, 0, PAGE);
	cr_assert_eq(mprotect(map, 2 * PAGE, PROT_READ | PROT_WRITE), 0);
}

Test(memory_pages, after_a_failure_none_is_asked_for_a_second)
{
	struct memory_huge huge = {.possible = true};
	uint64_t before = tsc_now();

	fail(&huge);
	cr_expect_geq(huge.not_before_tsc, before + PAUSE);
	cr_expect_leq(huge.not_before_tsc, tsc_now() + PAUSE);
}

/* If the kernel has no free huge page, a small one shows that it was asked. */
Test(memory_pages, in_the_pause_none_is_asked_for_and_after_it_again)
{
	struct memory_huge huge = {.possible = true, .not_before_tsc = UINT64_MAX};

	memory_pages_take_huge(&huge, map, 0, PAGE);
	cr_expect_eq(taken(), 0);
	cr_expect_eq(huge.not_before_tsc, UINT64_MAX);
	huge.not_before_tsc = tsc_now();
	memory_pages_take_huge(&huge, map, 0, PAGE);
	cr_expect_gt(taken(), 0);
}

Test(memory_pages, where_none_can_be_none_is_asked_for)
{
	struct memory_huge huge = {.possible = false};

	fail(&huge);
	memory_pages_take_huge(&huge, map, 0, PAGE);
	cr_expect_eq(huge.not_before_tsc, 0);
	cr_expect_eq(taken(), 0);
}

Test(memory_pages, only_whole_ones_within_the_bytes_are_asked_for)
{
	struct memory_huge huge = {.possible = true};

	memory_pages_take_huge(&huge, map, 4096, 2 * PAGE - 4096 - 1);
	cr_expect_eq(taken(), 0);
	memory_pages_take_huge(&huge, map, 4096, 2 * PAGE - 4096);
	cr_expect_gt(taken(), 0);
}
