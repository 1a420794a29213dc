/* SPDX-License-Identifier: MIT */
/* test_user_sums.c - sums of users' sessions, and each user's part of the cores beside its share */
#include <string.h>

#include <criterion/criterion.h>

#include "read/share.h"
#include "read/user_sums.h"

#define HZ   1000000000u /* a tick is a nanosecond */
#define MOST 4

static struct session_row rows[MOST];
static struct sessions sessions = {.list = rows, .daemon_lives = true};

/* A session of a user that has had this many seconds of cores. */
static void put(uint64_t number, uint32_t uid, double seconds)
{
	struct session_row *row = &rows[sessions.count++];

	*row = (struct session_row){.now_ns = 10 * UINT64_C(1000000000)};
	row->s.session = number;
	row->s.uid = uid;
	row->s.origin.tsc_hz = sessions.totals.origin.tsc_hz = HZ;
	for (unsigned i = 0; i < QUOIT_SESSION_NR; i++)
		row->s.value[i].known = true;
	row->s.value[QUOIT_SESSION_CORE_TICKS].value = (uint64_t)(seconds * HZ);
}

static void take(struct user_sums **sums)
{
	cr_assert_eq(user_sums_take(sums, &sessions, false), 0);
	sessions.count = 0;
}

static double counted(const struct user_sums *u, uint32_t uid)
{
	for (unsigned i = 0; i < user_sums_count(u); i++)
		if (user_sums_at(u, i)->uid == uid)
			return (double)user_sums_at(u, i)->counted[QUOIT_SESSION_CORE_TICKS].value /
			       HZ;
	return -1;
}

Test(user_sums, what_has_ended_stays_counted_and_nothing_counts_twice)
{
	struct user_sums *u = NULL;

	put(1, 70, 5);
	put(2, 71, 1);
	take(&u);
	cr_expect_eq(counted(u, 70), 0);
	put(1, 70, 6);
	put(3, 70, 2);
	take(&u);
	cr_expect_eq(counted(u, 70), 3);
	cr_expect_eq(counted(u, 71), 0);
	put(3, 70, 2.5);
	take(&u);
	cr_expect_eq(counted(u, 70), 3.5);
	put(3, 70, 1); /* damaged: the counter has fallen */
	take(&u);
	cr_expect_eq(counted(u, 70), 3.5);
	user_sums_free(u);
}

static struct listed listed[3] = {{.user = {.uid = 70, .share = 300, .sessions = 1}},
				  {.user = {.uid = 71, .share = 100, .sessions = 1}},
				  {.user = {.uid = 72, .share = 100}}};
static struct users_list users = {.list = listed, .count = 3};

static void expect(const struct reading *r, double value)
{
	cr_expect(r->known);
	cr_expect(r->value > value - 1e-6 && r->value < value + 1e-6, "%g, not %g", r->value,
		  value);
}

/* In two seconds one user had 1.5 cores and another a half; the third does not want any. */
static void look(struct user_sums **u)
{
	put(1, 70, 1);
	put(2, 71, 1);
	take(u);
	put(1, 70, 4);
	put(2, 71, 2);
	take(u);
}

Test(user_sums, share_tells_what_each_gets_beside_what_it_may)
{
	struct user_sums *u = NULL;

	look(&u);
	share_count(u, 2e9, true, &users);
	expect(&listed[0].got.cores, 1.5);
	expect(&listed[1].got.cores, 0.5);
	expect(&listed[2].got.cores, 0);
	expect(&listed[0].got.gets_percent, 75);
	expect(&listed[1].got.gets_percent, 25);
	expect(&listed[2].got.gets_percent, 0);
	expect(&listed[0].got.may_percent, 75);
	expect(&listed[1].got.may_percent, 25);
	cr_expect_not(listed[2].got.may_percent.known, "it wants nothing");
	user_sums_free(u);
}

Test(user_sums, of_no_work_at_all_there_are_no_parts)
{
	struct user_sums *u = NULL;

	put(1, 70, 1);
	take(&u);
	put(1, 70, 1);
	take(&u);
	share_count(u, 2e9, true, &users);
	expect(&listed[0].got.cores, 0);
	for (unsigned i = 0; i < 3; i++) {
		cr_expect_not(listed[i].got.gets_percent.known);
		cr_expect_not(listed[i].got.may_percent.known);
	}
	user_sums_free(u);
}

/* Without seeing the whole, no parts are told. */
Test(user_sums, share_tells_parts_of_nothing_that_it_does_not_see)
{
	struct user_sums *u = NULL;

	look(&u);
	listed[2].user.sessions = 1; /* and its counters could not be read */
	share_count(u, 2e9, false, &users);
	expect(&listed[0].got.cores, 1.5);
	cr_expect_not(listed[2].got.cores.known);
	cr_expect_not(listed[0].got.gets_percent.known);
	cr_expect_not(listed[0].got.may_percent.known);
	user_sums_free(u);
}
