/* SPDX-License-Identifier: MIT */
/* test_users.c - count users with sessions, by uid */
#include <errno.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "control/users.h"

static struct users users = {.reactors = 2};

static struct user *join(uid_t uid)
{
	struct user *user = NULL;

	cr_assert_eq(users_join(&users, uid, SHARE_NORMAL, &user), 0);
	return user;
}

Test(users, a_user_is_one_however_many_sessions_it_has)
{
	struct user *alice = join(1001), *bob = join(1002);

	cr_expect_neq(alice, bob);
	cr_expect_neq(alice->number, bob->number);
	cr_expect_eq(join(1001), alice);
	cr_expect_eq(users_find(&users, 1002), bob);
	cr_expect_eq(alice->tenant[1].user, alice);
}

Test(users, who_has_left_with_all_its_sessions_is_none)
{
	struct user *alice = join(1001);

	cr_expect_eq(join(1001), alice);
	users_leave(&users, alice);
	cr_expect_eq(users_find(&users, 1001), alice);
	users_leave(&users, alice);
	cr_expect_null(users_find(&users, 1001));
}

Test(users, who_comes_back_has_its_old_number_and_no_other_has_had_it)
{
	struct user *alice = join(1001), *bob;
	uint32_t number = alice->number;

	users_leave(&users, alice);
	bob = join(1002);
	cr_expect_neq(bob->number, number, "what she had would count as his");
	cr_expect_eq(join(1001)->number, number);
}

Test(users, number_that_was_left_first_is_given_again_first)
{
	struct user *user[USERS];
	uint32_t first, second;

	for (unsigned i = 0; i < USERS; i++)
		user[i] = join(5000 + i);
	first = user[500]->number;
	second = user[3]->number;
	users_leave(&users, user[500]);
	users_leave(&users, user[3]);
	cr_expect_eq(join(4000)->number, first);
	cr_expect_eq(join(4001)->number, second);
}

Test(users, a_number_is_had_by_one_at_a_time_and_given_again)
{
	struct user *user[USERS], *late;
	bool taken[USERS] = {false};

	for (unsigned i = 0; i < USERS; i++) {
		user[i] = join(5000 + i);
		cr_assert_lt(user[i]->number, USERS);
		cr_assert_not(taken[user[i]->number]);
		taken[user[i]->number] = true;
	}
	cr_expect_eq(users_join(&users, 4000, SHARE_NORMAL, &late), -EUSERS);
	cr_expect_eq(users_join(&users, 5000, SHARE_NORMAL, &late), 0, "it is there already");
	users_leave(&users, user[77]);
	cr_expect_lt(join(4000)->number, USERS);
}
