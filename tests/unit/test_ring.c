/* SPDX-License-Identifier: MIT */
/* test_ring.c - how often a bell is rung, also after 2^32 items, which tests/model cannot reach */
#include <criterion/criterion.h>

#include <quoit/ring.h>

#define ENTRIES 8u

static uint32_t head, tail;

static struct quoit_producer one_published(void)
{
	struct quoit_producer p;
	uint32_t index;

	quoit_producer_init(&p, &tail, &head, ENTRIES);
	cr_assert(quoit_ring_reserve(&p, &index));
	quoit_ring_submit(&p);
	return p;
}

Test(ring, a_bell_is_rung_once_for_what_is_not_fetched)
{
	struct quoit_producer p = one_published();

	cr_expect(quoit_ring_must_ring(&p, true));
	cr_expect(quoit_ring_must_ring(&p, true), "nobody has rung it");
	quoit_ring_rang(&p);
	cr_expect_not(quoit_ring_must_ring(&p, true));
	head = 1;
	cr_expect(quoit_ring_must_ring(&p, true));
}

/* After 2^32 items the indices are the same as when the bell was rung. */
Test(ring, a_bell_of_an_earlier_sleep_silences_none)
{
	struct quoit_producer p = one_published();

	cr_expect(quoit_ring_must_ring(&p, true));
	quoit_ring_rang(&p);
	cr_expect_not(quoit_ring_must_ring(&p, false));
	cr_expect(quoit_ring_must_ring(&p, true));
}
