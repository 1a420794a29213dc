/* SPDX-License-Identifier: MIT */
/* test_budget.c - leases, rings and connections are counted by user, and together. */
#include <errno.h>

#include <criterion/criterion.h>

#include "control/budget.h"

static const struct budget_limits limits = {
	.memory = 100, .uid_memory = 60, .connections = 2, .rings = 3};
static struct budget *budget;
static uint64_t left;

static void make(void)
{
	budget = budget_new(&limits);
}

static void drop(void)
{
	budget_free(budget);
}

TestSuite(budget, .init = make, .fini = drop);

Test(budget, a_user_has_as_many_connections_as_allowed_and_others_have_theirs)
{
	cr_expect_eq(budget_connect(budget, 1), 0);
	cr_expect_eq(budget_connect(budget, 1), 0);
	cr_expect_eq(budget_connect(budget, 1), -EDQUOT);
	cr_expect_eq(budget_connect(budget, 2), 0);
	budget_disconnect(budget, 1);
	cr_expect_eq(budget_connect(budget, 1), 0);
}

Test(budget, a_users_rings_end_at_the_users_limit_and_come_back)
{
	budget_connect(budget, 1);
	budget_connect(budget, 2);
	cr_expect_eq(budget_rings(budget, 1, 2, &left), 0);
	cr_expect_eq(budget_rings(budget, 1, 2, &left), -EDQUOT);
	cr_expect_eq(left, 1);
	cr_expect_eq(budget_rings(budget, 2, 3, &left), 0);
	budget_return_rings(budget, 1, 1);
	cr_expect_eq(budget_rings(budget, 1, 2, &left), 0);
}

Test(budget, a_users_leases_end_at_the_users_limit)
{
	budget_connect(budget, 1);
	cr_expect_eq(budget_lease(budget, 1, 60, &left), 0);
	cr_expect_eq(budget_lease(budget, 1, 1, &left), -EDQUOT);
	cr_expect_eq(left, 0);
	budget_return(budget, 1, 60);
	cr_expect_eq(budget_lease(budget, 1, 61, &left), -EDQUOT);
	cr_expect_eq(left, 60);
}

Test(budget, all_leases_end_at_the_limit_of_all)
{
	budget_connect(budget, 1);
	budget_connect(budget, 2);
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
	budget_connect(budget, 1);
	cr_expect_eq(budget_lease(budget, 1, 10, &left), 0);
	cr_expect_eq(budget_lease(budget, 1, UINT64_MAX, &left), -EDQUOT);
	cr_expect_eq(budget_lease(budget, 1, UINT64_MAX - 9, &left), -EDQUOT);
	cr_expect_eq(budget_leased(budget), 10);
}

Test(budget, a_user_without_connections_keeps_a_lease_until_it_comes_back)
{
	budget_connect(budget, 1);
	budget_lease(budget, 1, 60, &left);
	budget_disconnect(budget, 1);
	budget_connect(budget, 1);
	cr_expect_eq(budget_lease(budget, 1, 1, &left), -EDQUOT);
	budget_return(budget, 1, 60);
	cr_expect_eq(budget_lease(budget, 1, 1, &left), 0);
}

Test(budget, many_users_are_kept_apart)
{
	for (uid_t uid = 0; uid < 1000; uid++)
		cr_assert_eq(budget_connect(budget, uid), 0);
	for (uid_t uid = 0; uid < 1000; uid += 2)
		budget_disconnect(budget, uid);
	for (uid_t uid = 1; uid < 1000; uid += 2) {
		cr_assert_eq(budget_connect(budget, uid), 0);
		cr_assert_eq(budget_connect(budget, uid), -EDQUOT);
	}
}

Test(budget, the_default_is_something_and_not_all)
{
	uint64_t bytes = budget_default_memory();

	cr_expect_gt(bytes, 0);
	cr_expect_lt(bytes, UINT64_MAX / 2);
}
