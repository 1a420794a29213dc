/* SPDX-License-Identifier: MIT */
/*
 * test_process_limits.c - leases that grow reserve addresses: a part of what is left, separately
 * for each user
 */
#include <sys/resource.h>

#include <criterion/criterion.h>

#include "base/process_limits.h"

#define CONNECTIONS 1024u /* of a user, by default */

TestSuite(process_limits, .timeout = 60);

/* What this many sessions of a user take, one after the other, beside those of others. */
static uint64_t take(uint64_t others, unsigned sessions, uint64_t *ret_last)
{
	uint64_t mine = 0;

	for (unsigned i = 0; i < sessions; i++) {
		*ret_last = process_limits_span(others + mine, mine, false);
		mine += *ret_last;
	}
	return mine;
}

Test(process_limits, a_user_alone_and_one_of_several_begin_with_as_much)
{
	cr_expect_eq(process_limits_span(0, 0, true), process_limits_span(0, 0, false));
}

Test(process_limits, two_users_with_all_their_sessions_take_nothing_from_a_third)
{
	uint64_t first = process_limits_span(0, 0, false), last, others;

	others = take(0, CONNECTIONS, &last);
	cr_expect_gt(last, 0, "it can grow itself, too");
	cr_expect_eq(process_limits_span(others, 0, false), first);
	others += take(others, CONNECTIONS, &last);
	cr_expect_eq(process_limits_span(others, 0, false), first);
}

Test(process_limits, ten_users_with_a_hundred_sessions_each_leave_some)
{
	uint64_t others = 0, last;

	for (unsigned user = 0; user < 10; user++)
		others += take(others, 100, &last);
	cr_expect_gt(process_limits_span(others, 0, false), 0);
}

Test(process_limits, nobody_takes_more_than_a_file_may_have)
{
	struct rlimit limit = {1 << 20, 1 << 20};

	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_expect_eq(process_limits_span(0, 0, false), UINT64_C(1) << 20);
	cr_expect_eq(process_limits_span(0, 0, true), UINT64_C(1) << 20);
}
