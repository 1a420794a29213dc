/* SPDX-License-Identifier: MIT */
/* test_tenants.c - whose turn it is at a reactor, in ticks, so that the test need not wait */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "fair/tenant.h"

#define MANY  40u
#define TURN  50
#define ROUND 2000

static struct user *user[MANY];
static struct tenancy all;

static struct tenant *tenant(unsigned i)
{
	return &user[i]->tenant[0];
}

static void open_house(void)
{
	tenancy_init(&all, ROUND, TURN);
}

static void clear_house(void)
{
	for (unsigned i = 0; i < MANY; i++) {
		free(user[i]);
		user[i] = NULL;
	}
}

TestSuite(tenants, .init = open_house, .fini = clear_house);

static void come(unsigned i, uint32_t share)
{
	user[i] = calloc(1, sizeof *user[i] + sizeof user[i]->tenant[0]);
	cr_assert(user[i]);
	user[i]->share = share;
	tenant(i)->user = user[i];
	tenancy_add(&all, tenant(i));
}

/* Each tenant's jobs: this many ticks each, without end; 0: none. */
struct want {
	uint64_t job;
	uint64_t had;
	uint64_t turns;
};

/* A turn in a pass: run jobs until it is over. */
static bool work(struct tenant *t, struct want *w)
{
	if (!w->job || !tenancy_admits(&all, t))
		return false;
	tenancy_give_turn(&all, t);
	w->turns++;
	do {
		tenant_charge(t, w->job);
		w->had += w->job;
	} while (!tenancy_turn_is_over(&all, t) && all.count > 1);
	return true;
}

static void pass(struct want *w, unsigned count)
{
	tenancy_begin(&all);
	for (unsigned i = 0; i < count; i++)
		all.served |= work(tenant(i), &w[i]);
	(void)tenancy_end(&all);
}

static void run(struct want *w, unsigned count, unsigned passes)
{
	while (passes--)
		pass(w, count);
}

Test(tenants, time_is_divided_by_shares)
{
	struct want w[] = {{.job = 10}, {.job = 10}};

	come(0, 100);
	come(1, 300);
	run(w, 2, 100000);
	cr_expect_float_eq((double)w[1].had / (double)w[0].had, 3.0, 0.01, "%llu and %llu",
			   (unsigned long long)w[0].had, (unsigned long long)w[1].had);
}

Test(tenants, long_jobs_do_not_change_the_shares)
{
	struct want w[] = {{.job = 900}, {.job = 1}};

	come(0, 100);
	come(1, 100);
	run(w, 2, 100000);
	cr_expect_float_eq((double)w[1].had / (double)w[0].had, 1.0, 0.01);
}

Test(tenants, jobs_beyond_a_round_are_paid_in_the_next_ones)
{
	struct want w[] = {{.job = 50 * ROUND}, {.job = 20}};

	come(0, 100);
	come(1, 100);
	run(w, 2, 1000000);
	cr_expect_float_eq((double)w[1].had / (double)w[0].had, 1.0, 0.01);
}

/* The reactor stood still in one tenant's turn, for longer than any turn is. */
Test(tenants, time_that_nobody_used_is_not_paid_back_for_long)
{
	struct want w[] = {{.job = 10}, {.job = 10}};

	come(0, 100);
	come(1, 100);
	tenant_charge(tenant(0), 100000 * (uint64_t)ROUND);
	run(w, 2, 200000);
	cr_expect_lt(w[1].had - w[0].had, (TENANT_DEBT_ROUNDS + 2) * (uint64_t)ROUND,
		     "%llu and %llu", (unsigned long long)w[0].had, (unsigned long long)w[1].had);
}

Test(tenants, who_wants_nothing_leaves_all_to_the_others)
{
	struct want w[] = {{.job = 10}, {.job = 0}, {.job = 10}};

	come(0, 100);
	come(1, SHARE_MOST);
	come(2, 100);
	run(w, 3, 100000);
	cr_expect_float_eq((double)w[2].had / (double)w[0].had, 1.0, 0.01);
	cr_expect_geq(w[0].had + w[2].had, 100000ull * TURN / 2, "one pass of two is for somebody");
}

Test(tenants, shares_are_read_anew_in_each_round)
{
	struct want w[] = {{.job = 10}, {.job = 10}}, before;

	come(0, 100);
	come(1, 100);
	run(w, 2, 10000);
	before = w[1];
	w[0].had = 0;
	user[1]->share = 400;
	run(w, 2, 100000);
	cr_expect_float_eq((double)(w[1].had - before.had) / (double)w[0].had, 4.0, 0.02);
}

/* Time that a tenant has not used gives it no claim on the time of others. */
Test(tenants, rest_is_not_carried_over)
{
	struct want w[] = {{.job = 10}, {.job = 0}};
	uint64_t before;

	come(0, 100);
	come(1, 100);
	run(w, 2, 10000);
	w[1].job = 10;
	before = w[0].had;
	run(w, 2, 1000);
	cr_expect_float_eq((double)w[1].had / (double)(w[0].had - before), 1.0, 0.1);
}

/* A tenant does not owe time that no other tenant wanted. */
Test(tenants, who_was_alone_owes_nothing)
{
	struct want w[] = {{.job = 10}, {.job = 10}};
	uint64_t before;

	come(0, 100);
	run(w, 1, 10000);
	before = w[0].had;
	come(1, 100);
	run(w, 2, 1000);
	cr_expect_float_eq((double)(w[0].had - before) / (double)w[1].had, 1.0, 0.1);
}

Test(tenants, alone_nobody_is_passed_over)
{
	struct want w[] = {{.job = 10 * ROUND}};

	come(0, 1);
	run(w, 1, 1000);
	cr_expect_eq(w[0].turns, 1000);
}

/*
 * The bound of tenant.h: a tenant within its share has a turn in each pass, and passes are n - 1
 * turns long.
 */
Test(tenants, who_is_within_its_share_has_a_turn_in_each_pass)
{
	struct want w[MANY] = {{0}};
	uint64_t turns, others;

	for (unsigned i = 0; i < MANY; i++) {
		come(i, 100);
		w[i].job = 10;
	}
	w[0].job = 0;
	for (unsigned i = 0; i < 10000; i++) {
		/* Once in a round, a job of a tenth of its share. */
		w[0].job = i % (ROUND / TURN) ? 0 : ROUND / MANY / 10;
		turns = w[0].turns;
		others = 0;
		for (unsigned k = 1; k < MANY; k++)
			others -= w[k].had;
		pass(w, MANY);
		for (unsigned k = 1; k < MANY; k++)
			others += w[k].had;
		cr_assert_eq(w[0].turns - turns, w[0].job != 0, "pass %u", i);
		cr_assert_leq(others, (MANY - 1) * (TURN + 10), "pass %u", i);
	}
}

/*
 * The other bound: a tenant that always has work gets its share of the rounds, less a turn and a
 * job.
 */
Test(tenants, who_has_work_is_never_far_behind_its_share)
{
	struct want w[MANY] = {{0}};
	uint64_t sum = 0, mine;

	for (unsigned i = 0; i < MANY; i++) {
		come(i, 100);
		w[i].job = i % 2 ? 1 : 45;
	}
	for (unsigned i = 0; i < 20000; i++) {
		pass(w, MANY);
		sum = 0;
		for (unsigned k = 0; k < MANY; k++)
			sum += w[k].had;
		for (unsigned k = 0; k < MANY; k++) {
			mine = w[k].had + ROUND / MANY + TURN + 45;
			cr_assert_geq(mine, sum / MANY, "pass %u, tenant %u: %llu of %llu", i, k,
				      (unsigned long long)w[k].had, (unsigned long long)sum);
		}
	}
}

Test(tenants, who_leaves_takes_no_turn_with_it)
{
	struct want w[] = {{.job = 10}, {.job = 10}, {.job = 10}};

	for (unsigned i = 0; i < 3; i++)
		come(i, 100);
	run(w, 3, 100);
	for (unsigned i = 2; i > 0; i--) {
		tenancy_remove(&all, tenant(i));
		run(w, i, 100);
	}
	cr_expect_eq(all.count, 1);
	cr_expect_eq(all.first, tenant(0));
	tenancy_remove(&all, tenant(0));
	cr_expect_null(all.first);
}

/* In the middle of a pass in which it was skipped. */
Test(tenants, who_was_passed_over_may_leave)
{
	struct want w[] = {{.job = ROUND}, {.job = 0}};

	for (unsigned left = 0; left < 2; left++) {
		come(0, 100);
		come(1, 100);
		pass(w, 2);
		tenancy_begin(&all);
		cr_assert_not(tenancy_admits(&all, tenant(0)));
		tenancy_remove(&all, tenant(0));
		if (!left)
			tenancy_remove(&all, tenant(1));
		cr_expect_eq(tenancy_end(&all), left);
		clear_house();
		open_house();
	}
}
