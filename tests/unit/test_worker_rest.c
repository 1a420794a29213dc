/* SPDX-License-Identifier: MIT */
/* test_worker_rest.c - when a worker without work spins, and when it sleeps at once */
#include <criterion/criterion.h>

#include "host/tsc.h"
#include "workers/worker_private.h"

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
	/*
	 * The bell has rung since: a worker that spins sees that at once; one that does not spin
	 * never looks.
	 */
	return worker_spin(&me, atomic_load(&all.bell) - 1);
}

Test(worker_rest, first_one_sleeps_at_once)
{
	cr_expect_not(spins());
}

Test(worker_rest, short_sleep_makes_it_spin)
{
	worker_learn_rest(&me, tsc_from_ns(20 * US));
	cr_expect(spins());
}

Test(worker_rest, who_spins_in_vain_stops_in_time)
{
	worker_learn_rest(&me, tsc_from_ns(20 * US));
	cr_expect_not(worker_spin(&me, atomic_load(&all.bell)));
	atomic_store(&all.stop, true);
	me.spin_ticks = UINT64_MAX;
	cr_expect_not(worker_spin(&me, atomic_load(&all.bell)));
}

Test(worker_rest, long_sleeps_make_it_sleep_at_once_again)
{
	worker_learn_rest(&me, tsc_from_ns(20 * US));
	for (int i = 0; i < 20; i++)
		worker_learn_rest(&me, tsc_from_ns(MS));
	cr_expect_not(spins());
}

Test(worker_rest, does_not_spin_where_another_program_computes)
{
	worker_learn_rest(&me, tsc_from_ns(20 * US));
	me.weight.contested_until = tsc_now() + tsc_from_ns(1000 * MS);
	cr_expect_not(spins());
}

Test(worker_rest, time_that_it_spins_is_no_works)
{
	worker_learn_rest(&me, tsc_from_ns(20 * US));
	me.read = 1;
	cr_expect(spins());
	cr_expect_eq(me.read, 0);
}
