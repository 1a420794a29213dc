/* SPDX-License-Identifier: MIT */
/* test_sizeclass.c - sizes are rounded up slightly, or not at all, and never down. */
#include <criterion/criterion.h>

#include "store/sizeclass.h"

Test(sizeclass, few_pages_have_their_own_class)
{
	for (uint64_t pages = 1; pages <= 8; pages++) {
		cr_expect_eq(sizeclass_of(pages * PAGE_BYTES), pages - 1);
		cr_expect_eq(sizeclass_of((pages - 1) * PAGE_BYTES + 1), pages - 1);
		cr_expect_eq(sizeclass_bytes((uint32_t)pages - 1), pages * PAGE_BYTES);
	}
}

Test(sizeclass, a_class_is_its_own_and_one_byte_more_is_the_next)
{
	for (uint32_t c = 0; c < SIZECLASS_NR - 1; c++) {
		cr_expect_eq(sizeclass_of(sizeclass_bytes(c)), c, "class %u", c);
		cr_expect_eq(sizeclass_of(sizeclass_bytes(c) + 1), c + 1, "class %u", c);
		cr_expect_gt(sizeclass_bytes(c + 1), sizeclass_bytes(c));
	}
}

Test(sizeclass, beyond_eight_pages_at_most_a_fifth_is_rounding)
{
	for (uint32_t c = 8; c < SIZECLASS_NR; c++) {
		uint64_t least = sizeclass_bytes(c - 1) + PAGE_BYTES;
		uint64_t most = sizeclass_bytes(c);

		cr_expect_leq((most - least) * 5, most, "class %u", c);
	}
}

Test(sizeclass, the_largest_holds_more_than_any_lease)
{
	cr_expect_geq(sizeclass_bytes(SIZECLASS_NR - 1), UINT64_C(1) << 50);
}
