/* SPDX-License-Identifier: MIT */
/* test_budget.c - leases, rings and connections are counted for each user, and in total. */
#include <errno.h>

#include <criterion/criterion.h>

#include "control/budget.h"

static struct config config;
static struct budget *budget;
static uint64_t left;

static void make(void)
{
	config = (struct config){.memory = 100,
				 .uid_memory = 60,
				 .uid_connections = 2,
				 .uid_rings = 3,
				 .uid_share = 100};
	budget = budget_new(&config);
}

static void drop(void)
{
	budget_free(budget);
}

/* As a connection ends. */
static void disconnect(uid_t uid)
{
	budget_may_leave(budget, uid);
	budget_disconnect(budget, uid);
}

TestSuite(budget, .init = make, .fini = drop);

Test(budget, a_user_has_as_many_connections_as_allowed_and_others_have_theirs)
{
	cr_expect_eq(budget_connect(budget, 1, NULL, 0), 0);
	cr_expect_eq(budget_connect(budget, 1, NULL, 0), 0);
	cr_expect_eq(budget_connect(budget, 1, NULL, 0), -EDQUOT);
	cr_expect_eq(budget_connect(budget, 2, NULL, 0), 0);
	disconnect(1);
	cr_expect_eq(budget_connect(budget, 1, NULL, 0), 0);
}

Test(budget, so_many_connections_of_a_user_wait_for_room)
{
	cr_assert_eq(budget_connect(budget, 1, NULL, 0), 0);
	for (unsigned i = 0; i < BUDGET_WAITING; i++)
		cr_expect(budget_wait(budget, 1));
	cr_expect_not(budget_wait(budget, 1));
	budget_wait_over(budget, 1);
	cr_expect(budget_wait(budget, 1));
}

Test(budget, a_user_whose_connections_only_wait_is_known)
{
	cr_assert_eq(budget_connect(budget, 1, NULL, 0), 0);
	cr_assert(budget_wait(budget, 1));
	disconnect(1);
	cr_expect_not_null(budget_of(budget, 1));
	budget_wait_over(budget, 1);
	cr_expect_null(budget_of(budget, 1));
}

Test(budget, who_waits_looks_again_when_its_user_has_given_something_back)
{
	cr_assert_eq(budget_connect(budget, 1, NULL, 0), 0);
	cr_assert_eq(budget_connect(budget, 1, NULL, 0), 0);
	cr_assert_eq(budget_lease(budget, 1, 10, &left), 0);
	budget_return(budget, 1, 0);
	budget_return_device(budget, 1, 0);
	cr_expect_eq(budget_returns(budget, 1), 0, "nothing has come back");
	budget_return(budget, 1, 10);
	cr_expect_eq(budget_returns(budget, 1), 1);
	disconnect(1);
	cr_expect_eq(budget_returns(budget, 1), 2);
}

Test(budget, a_users_rings_end_at_the_users_limit_and_come_back)
{
	budget_connect(budget, 1, NULL, 0);
	budget_connect(budget, 2, NULL, 0);
	cr_expect_eq(budget_rings(budget, 1, 2, &left), 0);
	cr_expect_eq(budget_rings(budget, 1, 2, &left), -EDQUOT);
	cr_expect_eq(left, 1);
	cr_expect_eq(budget_rings(budget, 2, 3, &left), 0);
	budget_return_rings(budget, 1, 1);
	cr_expect_eq(budget_rings(budget, 1, 2, &left), 0);
}

Test(budget, a_users_leases_end_at_the_users_limit)
{
	budget_connect(budget, 1, NULL, 0);
	cr_expect_eq(budget_lease(budget, 1, 60, &left), 0);
	cr_expect_eq(budget_lease(budget, 1, 1, &left), -EDQUOT);
	cr_expect_eq(left, 0);
	budget_return(budget, 1, 60);
	cr_expect_eq(budget_lease(budget, 1, 61, &left), -EDQUOT);
	cr_expect_eq(left, 60);
}

Test(budget, all_leases_end_at_the_limit_of_all)
{
	budget_connect(budget, 1, NULL, 0);
	budget_connect(budget, 2, NULL, 0);
	cr_expect_eq(budget_lease(budget, 1, 60, &left), 0);
	cr_expect_eq(budget_lease(budget, 2, 41, &left), -EDQUOT);
	cr_expect_eq(left, 40);
	cr_expect_eq(budget_lease(budget, 2, 40, &left), 0);
	cr_expect_eq(budget_leased(budget), 100);
	budget_return(budget, 1, 60);
	cr_expect_eq(budget_leased(budget), 40);
}

Test(budget, a_request_near_two_to_the_64_is_only_large)
{
	budget_connect(budget, 1, NULL, 0);
	cr_expect_eq(budget_lease(budget, 1, 10, &left), 0);
	cr_expect_eq(budget_lease(budget, 1, UINT64_MAX, &left), -EDQUOT);
	cr_expect_eq(budget_lease(budget, 1, UINT64_MAX - 9, &left), -EDQUOT);
	cr_expect_eq(budget_leased(budget), 10);
}

Test(budget, a_user_without_connections_keeps_a_lease_until_it_comes_back)
{
	budget_connect(budget, 1, NULL, 0);
	budget_lease(budget, 1, 60, &left);
	disconnect(1);
	budget_connect(budget, 1, NULL, 0);
	cr_expect_eq(budget_lease(budget, 1, 1, &left), -EDQUOT);
	budget_return(budget, 1, 60);
	cr_expect_eq(budget_lease(budget, 1, 1, &left), 0);
}

Test(budget, many_users_are_kept_apart)
{
	for (uid_t uid = 0; uid < 1000; uid++)
		cr_assert_eq(budget_connect(budget, uid, NULL, 0), 0);
	for (uid_t uid = 0; uid < 1000; uid += 2)
		disconnect(uid);
	for (uid_t uid = 1; uid < 1000; uid += 2) {
		cr_assert_eq(budget_connect(budget, uid, NULL, 0), 0);
		cr_assert_eq(budget_connect(budget, uid, NULL, 0), -EDQUOT);
	}
}

/* ---- rules of users and groups ---- */

#define MEMBER 70

/* User 1 has a section of its own, and so has group 70. */
static void make_rules(void)
{
	struct rule_section *s;

	s = user_rules_begin(&config.rules, "group 70", 0, stderr);
	cr_assert(s);
	cr_assert(user_rules_assign(s, "share", "300", (struct config_origin){CONFIG_FILE, 0, 2},
				    stderr));
	cr_assert(user_rules_assign(s, "rings", "1", (struct config_origin){CONFIG_FILE, 0, 3},
				    stderr));
	s = user_rules_begin(&config.rules, "user 1", 0, stderr);
	cr_assert(s);
	cr_assert(user_rules_assign(s, "share", "200", (struct config_origin){CONFIG_FILE, 0, 5},
				    stderr));
	cr_assert(user_rules_assign(s, "memory", "30", (struct config_origin){CONFIG_FILE, 0, 6},
				    stderr));
}

static uint64_t share_of(uid_t uid)
{
	const struct budget_user *user = budget_of(budget, uid);

	return user ? user->may.value[RULE_SHARE] : 0;
}

Test(budget, a_value_is_the_users_own_then_its_groups_then_that_of_all)
{
	static const gid_t gids[] = {7, MEMBER};

	make_rules();
	cr_assert_eq(budget_connect(budget, 1, gids, 2), 0);
	cr_assert_eq(budget_connect(budget, 2, gids, 2), 0);
	cr_assert_eq(budget_connect(budget, 3, gids, 1), 0);
	cr_expect_eq(share_of(1), 200);
	cr_expect_eq(share_of(2), 300);
	cr_expect_eq(share_of(3), 100);
	cr_expect_eq(budget_lease(budget, 1, 31, &left), -EDQUOT);
	cr_expect_eq(left, 30);
	cr_expect_eq(budget_rings(budget, 1, 2, &left), -EDQUOT);
	cr_expect_eq(budget_rings(budget, 3, 2, &left), 0);
	cr_expect_eq(budget_lease(budget, 2, 60, &left), 0);
}

Test(budget, a_reload_changes_what_users_may_have_and_takes_nothing)
{
	budget_connect(budget, 1, NULL, 0);
	cr_expect_eq(budget_lease(budget, 1, 50, &left), 0);
	make_rules();
	budget_reload(budget);
	cr_expect_eq(share_of(1), 200);
	cr_expect_eq(budget_lease(budget, 1, 1, &left), -EDQUOT);
	cr_expect_eq(left, 0);
	budget_return(budget, 1, 25);
	cr_expect_eq(budget_lease(budget, 1, 6, &left), -EDQUOT);
	cr_expect_eq(budget_lease(budget, 1, 5, &left), 0);
	config.memory = 10;
	budget_reload(budget);
	cr_expect_eq(budget_lease(budget, 1, 1, &left), -EDQUOT);
	cr_expect_eq(left, 0);
}

Test(budget, a_share_that_is_set_lasts_until_a_reload_with_and_without_connections)
{
	make_rules();
	cr_expect_eq(budget_set_share(budget, 1, 0), -EINVAL);
	cr_expect_eq(budget_set_share(budget, 1, 10001), -EINVAL);
	cr_expect_eq(budget_set_share(budget, (uid_t)-1, 1), -EINVAL);
	cr_expect_eq(budget_set_share(budget, 1, 5), 0);
	cr_expect_eq(budget_set_share(budget, 4, 6), 0);
	cr_assert_eq(budget_connect(budget, 1, NULL, 0), 0);
	cr_expect_eq(share_of(1), 5);
	disconnect(1);
	cr_expect_eq(share_of(1), 5);
	cr_assert_eq(budget_connect(budget, 1, NULL, 0), 0);
	budget_reload(budget);
	cr_expect_eq(share_of(1), 200);
	cr_expect_null(budget_of(budget, 4));
}

Test(budget, users_are_visited_by_their_numbers)
{
	static const uid_t uids[] = {9, 3, 7};

	for (unsigned i = 0; i < 3; i++)
		budget_connect(budget, uids[i], NULL, 0);
	cr_expect_eq(budget_next(budget, 0)->uid, 3);
	cr_expect_eq(budget_next(budget, 4)->uid, 7);
	cr_expect_eq(budget_next(budget, 9)->uid, 9);
	cr_expect_null(budget_next(budget, 10));
}

Test(budget, memory_of_devices_ends_at_the_users_limit)
{
	config.uid_gpu_memory = 40;
	budget_set_device(budget, 100);
	budget_connect(budget, 1, NULL, 0);
	budget_connect(budget, 2, NULL, 0);
	cr_expect_eq(budget_lease_device(budget, 1, 41, &left), -EDQUOT);
	cr_expect_eq(left, 40);
	cr_expect_eq(budget_lease_device(budget, 1, 40, &left), 0);
	cr_expect_eq(budget_device_left(budget, 1), 0);
	cr_expect_eq(budget_device_left(budget, 2), 40);
}

/* ---- by share, without explicit limits ---- */

#define ALL UINT64_C(1000000)

/* A user with a configured share, but without limits. */
static void come(uid_t uid, uint64_t share)
{
	config.memory = ALL;
	config.uid_memory = config.uid_gpu_memory = 0;
	cr_assert_eq(budget_set_share(budget, uid, share), 0);
	cr_assert_eq(budget_connect(budget, uid, NULL, 0), 0);
}

/* How much it gets if it takes all it can. */
static uint64_t take_all(uid_t uid)
{
	cr_expect_eq(budget_lease(budget, uid, UINT64_MAX, &left), -EDQUOT);
	cr_expect_eq(budget_lease(budget, uid, left + 1, &left), -EDQUOT);
	cr_expect_eq(budget_lease(budget, uid, left, &left), 0);
	return budget_of(budget, uid)->leased;
}

Test(budget, who_is_alone_may_have_three_quarters_and_another_share_more_or_less)
{
	static const struct {
		uint64_t share, most;
	} rows[] = {{100, 750000}, {300, 900000}, {50, 600000}, {1, 29126}, {10000, 996677}};

	for (uid_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		come(i, rows[i].share);
		cr_expect_eq(take_all(i), rows[i].most, "share %lu: %lu", rows[i].share,
			     budget_of(budget, i)->leased);
		budget_return(budget, i, rows[i].most);
	}
}

Test(budget, shares_count_against_what_holds_for_all)
{
	config.uid_share = 10000;
	come(1, 10000);
	cr_expect_eq(take_all(1), 750000);
	config.uid_share = 1;
	come(2, 1);
	cr_expect_eq(take_all(2), 187500);
}

Test(budget, a_thousand_leases_are_no_more_than_one)
{
	uint64_t sum = 0;

	come(1, 100);
	while (budget_lease(budget, 1, ALL / 1000, &left) == 0)
		sum += ALL / 1000;
	cr_expect_eq(sum, 750000);
	cr_expect_eq(left, 0);
}

/*
 * As budget.h derives it: each of four takes n in n + w of the rest, and a fifth finds w in w + n
 * of that.
 */
Test(budget, who_comes_finds_what_is_said_whatever_others_did_before)
{
	static const uint64_t share[] = {100, 300, 10, 1000};
	uint64_t least = ALL;

	srand(5);
	for (uid_t i = 0; i < 4; i++) {
		come(i, share[i]);
		least = least * 100 / (100 + 3 * share[i]);
	}
	come(9, 50);
	for (unsigned turn = 0; turn < 20000; turn++) {
		uid_t uid = (uid_t)rand() % 4;
		uint64_t has = budget_of(budget, uid)->leased, some = (uint64_t)rand() % ALL;

		if (rand() % 2)
			budget_return(budget, uid, some % (has + 1));
		else if (budget_lease(budget, uid, some, &left) < 0)
			cr_assert_eq(budget_lease(budget, uid, left, &left), 0);
		(void)budget_lease(budget, 9, UINT64_MAX, &left);
		cr_assert_geq(left, least * 150 / 250, "turn %u: %lu", turn, left);
	}
	for (uid_t i = 0; i < 4; i++) /* and no more than that, if each takes all it can */
		budget_return(budget, i, budget_of(budget, i)->leased);
	for (uid_t i = 0; i < 4; i++)
		take_all(i);
	(void)budget_lease(budget, 9, UINT64_MAX, &left);
	cr_expect_leq(left, least * 150 / 250 + 4, "%lu, not %lu", left, least * 150 / 250);
}

Test(budget, leases_that_come_and_go_are_divided_by_shares)
{
	const uint64_t one = ALL / 1000;
	uint64_t alice, bob;

	come(1, 100);
	come(2, 300);
	take_all(1);
	for (unsigned turn = 0; turn < 10000; turn++) {
		uid_t uid = 1 + turn % 2;

		if (budget_of(budget, uid)->leased >= one)
			budget_return(budget, uid, one);
		for (uid_t i = 2; i > 0; i--)
			while (budget_lease(budget, i, one, &left) == 0)
				;
	}
	alice = budget_of(budget, 1)->leased;
	bob = budget_of(budget, 2)->leased;
	cr_expect(bob >= 3 * alice - 4 * one && bob <= 3 * alice + 4 * one, "%lu and %lu", alice,
		  bob);
	cr_expect_geq(alice + bob, ALL * 9 / 10);
}

Test(budget, a_limit_that_is_said_counts_instead_of_the_share)
{
	make_rules();
	come(1, 100);
	cr_expect_eq(take_all(1), 30);
	come(2, 100);
	cr_expect_eq(take_all(2), (ALL - 30) / 4 * 3 + 1);
	config.uid_memory = ALL;
	budget_reload(budget);
	cr_expect_eq(take_all(2), ALL - 30, "all that there is, if it is said");
}

Test(budget, a_share_that_changes_holds_for_leases_to_come)
{
	come(1, 100);
	cr_expect_eq(take_all(1), 750000);
	budget_set_share(budget, 1, 300);
	cr_expect_eq(take_all(1), 900000);
	budget_set_share(budget, 1, 50);
	cr_expect_eq(budget_lease(budget, 1, 1, &left), -EDQUOT);
	cr_expect_eq(left, 0);
	cr_expect_eq(budget_of(budget, 1)->leased, 900000, "and nothing is taken");
	budget_reload(budget);
	budget_return(budget, 1, 150001);
	cr_expect_eq(budget_lease(budget, 1, UINT64_MAX, &left), -EDQUOT);
	cr_expect_eq(left, 1);
}

Test(budget, memory_near_two_to_the_64_is_divided_all_the_same)
{
	come(1, 10000);
	config.memory = UINT64_MAX;
	cr_expect_gt(budget_memory_of(budget, 1), UINT64_MAX / 1000 * 996);
	cr_expect_lt(budget_memory_of(budget, 1), UINT64_MAX / 1000 * 997);
}

Test(budget, memory_of_devices_is_divided_too)
{
	budget_set_device(budget, 1000);
	come(1, 100);
	come(2, 100);
	cr_expect_eq(budget_device_left(budget, 1), 750);
	cr_expect_eq(budget_lease_device(budget, 1, 751, &left), -EDQUOT);
	cr_expect_eq(budget_lease_device(budget, 1, 500, &left), 0);
	cr_expect_eq(budget_lease_device(budget, 1, 251, &left), -EDQUOT);
	cr_expect_eq(left, 250);
	cr_expect_eq(budget_lease_device(budget, 1, 250, &left), 0);
	cr_expect_eq(budget_device_left(budget, 2), 187);
	budget_return_device(budget, 1, 750);
	cr_expect_eq(budget_device_left(budget, 2), 750);
}
