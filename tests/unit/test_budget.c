/* SPDX-License-Identifier: MIT */
/* test_budget.c - leases, rings and connections are counted by user, and together. */
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

TestSuite(budget, .init = make, .fini = drop);

Test(budget, a_user_has_as_many_connections_as_allowed_and_others_have_theirs)
{
	cr_expect_eq(budget_connect(budget, 1, NULL, 0), 0);
	cr_expect_eq(budget_connect(budget, 1, NULL, 0), 0);
	cr_expect_eq(budget_connect(budget, 1, NULL, 0), -EDQUOT);
	cr_expect_eq(budget_connect(budget, 2, NULL, 0), 0);
	budget_disconnect(budget, 1);
	cr_expect_eq(budget_connect(budget, 1, NULL, 0), 0);
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
	budget_disconnect(budget, 1);
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
		budget_disconnect(budget, uid);
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
	budget_disconnect(budget, 1);
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
