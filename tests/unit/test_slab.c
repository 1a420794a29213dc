/* SPDX-License-Identifier: MIT */
/* test_slab.c - places of small buffers in one piece of a device's memory */
#include <string.h>

#include <criterion/criterion.h>

#include "store/slab.h"

static struct slab slab;

/* Places of these sizes neither overlap, nor reach beyond the end. */
Test(slab, gives_places_apart)
{
	static bool taken[SLAB_PAGES];
	uint64_t offset;
	uint32_t class = 0, pages = 0;

	for (; slab_take(&slab, class, &offset); class = (class + 3) % SLAB_CLASSES) {
		cr_assert_eq(offset % PAGE_BYTES, 0);
		cr_assert_leq(offset + sizeclass_bytes(class), QUOIT_DIRECT_SLAB_BYTES);
		for (uint32_t i = 0; i <= class; i++) {
			cr_assert(!taken[offset / PAGE_BYTES + i]);
			taken[offset / PAGE_BYTES + i] = true;
			pages++;
		}
	}
	cr_expect_gt(pages + SLAB_CLASSES, SLAB_PAGES, "%u of %u pages", pages,
		     (unsigned)SLAB_PAGES);
}

Test(slab, gives_again_what_it_got_back_and_to_the_same_class_only)
{
	uint64_t first, second, other;

	cr_assert(slab_take(&slab, 2, &first));
	cr_assert(slab_take(&slab, 2, &second));
	slab_give(&slab, 2, first);
	slab_give(&slab, 2, second);
	cr_assert(slab_take(&slab, 1, &other));
	cr_expect(other != first && other != second);
	cr_assert(slab_take(&slab, 2, &other));
	cr_expect_eq(other, second);
	cr_assert(slab_take(&slab, 2, &other));
	cr_expect_eq(other, first);
}

Test(slab, has_nothing_for_large_buffers)
{
	uint64_t offset;

	cr_expect(slab_take(&slab, sizeclass_of(QUOIT_DIRECT_BUFFER_BYTES), &offset));
	cr_expect(!slab_take(&slab, sizeclass_of(QUOIT_DIRECT_BUFFER_BYTES + 1), &offset));
}

Test(slab, that_is_full_has_room_once_something_is_given_back)
{
	uint64_t offset, last = 0;

	while (slab_take(&slab, 0, &offset))
		last = offset;
	cr_expect_eq(last, QUOIT_DIRECT_SLAB_BYTES - PAGE_BYTES);
	slab_give(&slab, 0, 5 * PAGE_BYTES);
	cr_assert(slab_take(&slab, 0, &offset));
	cr_expect_eq(offset, 5 * PAGE_BYTES);
}
