/* SPDX-License-Identifier: MIT */
/* test_own_processes.c - which users have device processes of their own, and for how long */
#include <errno.h>

#include <criterion/criterion.h>

#include "processes/own_processes.h"

#define ALICE 1000u
#define BOB   1001u

static struct own_processes own;

static void begin(void)
{
	own_init(&own);
}

static void end(void)
{
	own_done(&own);
}

TestSuite(own_processes, .init = begin, .fini = end);

static uint64_t wanted(int place, uint64_t now)
{
	uint64_t due;

	return own_wanted(&own, (uint32_t)place, now, &due);
}

Test(own_processes, sessions_of_a_user_share_a_place_and_users_do_not)
{
	int alice = own_take(&own, ALICE), bob = own_take(&own, BOB);

	cr_expect_eq(own_take(&own, ALICE), alice);
	cr_expect_neq(alice, bob);
	cr_expect_eq(wanted(alice, 0), ALICE + 1);
	cr_expect_eq(wanted(bob, 0), BOB + 1);
}

Test(own_processes, root_is_a_user_like_others)
{
	int place = own_take(&own, 0);

	cr_expect_eq(wanted(place, 0), 1);
}

Test(own_processes, nobody_wants_a_place_before_it_is_taken)
{
	for (int i = 0; i < CONFIG_OWN_USERS; i++)
		cr_expect_eq(wanted(i, 0), 0);
}

Test(own_processes, they_stay_for_a_while_after_the_last_session)
{
	int place = own_take(&own, ALICE);
	uint64_t due;

	cr_assert_eq(own_take(&own, ALICE), place);
	own_give(&own, ALICE, 100);
	cr_expect_eq(own_wanted(&own, (uint32_t)place, 100 + OWN_LINGER_NS, &due), ALICE + 1);
	cr_expect_eq(due, UINT64_MAX, "one session is left");
	own_give(&own, ALICE, 200);
	cr_expect_eq(own_wanted(&own, (uint32_t)place, 199 + OWN_LINGER_NS, &due), ALICE + 1);
	cr_expect_eq(due, 200 + OWN_LINGER_NS);
	cr_expect_eq(own_wanted(&own, (uint32_t)place, 200 + OWN_LINGER_NS, &due), 0);
	cr_expect_eq(due, UINT64_MAX);
}

Test(own_processes, who_comes_back_in_time_finds_its_own)
{
	int place = own_take(&own, ALICE);

	own_give(&own, ALICE, 100);
	cr_expect_eq(own_take(&own, ALICE), place);
	cr_expect_eq(wanted(place, 100 + 2 * OWN_LINGER_NS), ALICE + 1);
}

Test(own_processes, one_user_too_many_is_refused_until_a_place_has_no_session)
{
	for (unsigned i = 0; i < CONFIG_OWN_USERS; i++)
		cr_assert_geq(own_take(&own, ALICE + i), 0);
	cr_expect_eq(own_take(&own, 5), -EUSERS);
	own_give(&own, ALICE + 1, 100);
	cr_expect_eq(own_take(&own, 5), 1, "the one that lingers makes room");
	cr_expect_eq(wanted(1, 100), 6);
	cr_expect_eq(own_take(&own, ALICE + 1), -EUSERS);
}

Test(own_processes, of_two_that_linger_the_one_goes_that_has_for_longer)
{
	for (unsigned i = 0; i < CONFIG_OWN_USERS; i++)
		cr_assert_geq(own_take(&own, ALICE + i), 0);
	own_give(&own, ALICE + 2, 300);
	own_give(&own, ALICE + 3, 200);
	cr_expect_eq(own_take(&own, 5), 3);
}
