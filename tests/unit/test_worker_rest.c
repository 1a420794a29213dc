/* SPDX-License-Identifier: MIT */
/* test_worker_rest.c - when a worker without work spins, and when it sleeps at once */
#include <criterion/criterion.h>

#include "backend/cpu/worker_private.h"
#include "base/tsc.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

static struct workers all;
static struct worker me = {.all = &all};

static void start(void)
{
	tsc_init();
}

TestSuite(worker_rest, .init = start);

static bool spins(void)
{
	/* The bell has rung since: a worker that spins sees it at once, one that does not never looks. */
	return worker_spin(&me, atomic_load(&all.bell) - 1);
}

static void sleeps(uint64_t ns, bool found)
{
	me.rest.slept_ticks = tsc_from_ns(ns);
	worker_learn_rest(&me, found);
}

Test(worker_rest, a_new_worker_sleeps_at_once)
{
	cr_expect_not(spins());
}

Test(worker_rest, a_short_sleep_with_a_tile_behind_it_makes_it_spin)
{
	sleeps(20 * US, true);
	cr_expect(spins());
}

Test(worker_rest, a_short_sleep_for_the_tiles_of_others_does_not)
{
	sleeps(20 * US, false);
	cr_expect_not(spins());
}

Test(worker_rest, a_spin_that_nothing_ends_is_over_in_time)
{
	sleeps(20 * US, true);
	cr_expect_not(worker_spin(&me, atomic_load(&all.bell)));
}

Test(worker_rest, a_spin_ends_when_all_is_over)
{
	sleeps(20 * US, true);
	me.rest.spin_ticks = UINT64_MAX;
	atomic_store(&all.stop, true);
	cr_expect_not(worker_spin(&me, atomic_load(&all.bell)));
}

Test(worker_rest, long_sleeps_make_it_sleep_at_once_again)
{
	sleeps(20 * US, true);
	for (int i = 0; i < 20; i++)
		sleeps(MS, true);
	cr_expect_not(spins());
}

Test(worker_rest, bells_for_others_make_it_sleep_at_once_again)
{
	sleeps(20 * US, true);
	for (int i = 0; i < 12 && spins(); i++)
		worker_learn_rest(&me, false);
	cr_expect_not(spins());
}

Test(worker_rest, bells_with_tiles_keep_it_spinning)
{
	sleeps(20 * US, true);
	for (int i = 0; i < 50; i++) {
		cr_assert(spins());
		worker_learn_rest(&me, true);
	}
}

Test(worker_rest, it_does_not_spin_where_another_program_computes)
{
	sleeps(20 * US, true);
	me.weight.contested_until = tsc_now() + tsc_from_ns(1000 * MS);
	cr_expect_not(spins());
}

Test(worker_rest, it_does_not_spin_after_another_thread_took_the_core)
{
	sleeps(20 * US, true);
	me.rest.no_spin_until = tsc_now() + tsc_from_ns(1000 * MS);
	cr_expect_not(spins());
}

static uint64_t ban(void)
{
	const uint64_t now = tsc_now();

	worker_lost_core(&me, now);
	return me.rest.no_spin_until - now;
}

Test(worker_rest, who_loses_its_core_again_and_again_hardly_spins)
{
	uint64_t first = ban(), second = ban(), last = 0;

	cr_expect_eq(second, 2 * first);
	for (int i = 0; i < 64; i++)
		last = ban();
	cr_expect_eq(last, tsc_from_ns(100 * MS));
}

Test(worker_rest, spins_that_pay_off_shorten_the_next_ban)
{
	const uint64_t first = ban();

	for (int i = 0; i < 6; i++)
		(void)ban();
	sleeps(20 * US, true);
	me.rest.no_spin_until = 0;
	for (int i = 0; i < 50; i++)
		cr_assert(spins());
	cr_expect_eq(ban(), first);
}

Test(worker_rest, the_equal_thread_does_not_spin_on_a_reactors_core)
{
	sleeps(20 * US, true);
	all.config.reactors = 1;
	atomic_store(&me.turn, WORKER_EQUAL);
	cr_expect_not(spins());
	me.reactor = 1; /* none of them */
	cr_expect(spins());
}

Test(worker_rest, the_background_thread_spins_there)
{
	sleeps(20 * US, true);
	all.config.reactors = 1;
	cr_expect(spins());
}

Test(worker_rest, time_that_it_spins_is_no_works)
{
	sleeps(20 * US, true);
	me.read = 1;
	cr_expect(spins());
	cr_expect_eq(me.read, 0);
}
