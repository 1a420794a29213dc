/* SPDX-License-Identifier: MIT */
/* test_worker_weight.c - when tiles give way, and when they take their half of a core */
#include <criterion/criterion.h>

#include "backend/cpu/worker_weight.h"
#include "base/tsc.h"

#define MS UINT64_C(1000000)

static uint64_t start(void)
{
	tsc_init();
	return tsc_now();
}

static uint64_t later(uint64_t from, uint64_t ns)
{
	return from + tsc_from_ns(ns);
}

/* ---- small jobs of other sessions ---- */

static void serve(struct weight_served *served, uint64_t session, uint64_t now)
{
	weight_note(served, session, now, tsc_from_ns(WEIGHT_NOTE_NS));
}

Test(worker_weight, session_alone_does_not_give_way_to_itself)
{
	struct weight_served served = {0};
	struct weight w = {0};
	uint64_t now = start();

	cr_expect_not(weight_gives_way(&w, &served, 1, now));
	serve(&served, 1, now);
	cr_expect_not(weight_gives_way(&w, &served, 1, now));
}

Test(worker_weight, tile_gives_way_to_another_session_for_a_tenth_of_a_second)
{
	struct weight_served served = {0};
	struct weight w = {0};
	uint64_t now = start();

	serve(&served, 2, now);
	cr_expect(weight_gives_way(&w, &served, 1, now));
	now = later(now, WEIGHT_QUICK_NS / 2);
	cr_expect(weight_gives_way(&w, &served, 1, now));
	now = later(now, WEIGHT_QUICK_NS);
	cr_expect_not(weight_gives_way(&w, &served, 1, now));
}

/* Two sessions that take turns are both remembered. */
Test(worker_weight, two_sessions_are_known)
{
	struct weight_served served = {0};
	struct weight w = {0};
	uint64_t now = start();

	serve(&served, 1, now);
	serve(&served, 2, now);
	serve(&served, 2, later(now, 1000));
	cr_expect(weight_has_others(&served, 1, now), "2 is another");
	cr_expect(weight_has_others(&served, 2, now), "1 is another");
	serve(&served, 1, later(now, 2000));
	cr_expect(weight_has_others(&served, 1, now), "2 is another still");
	cr_expect(weight_gives_way(&w, &served, 1, now));
}

/* Otherwise two threads would take turns at every tile. */
Test(worker_weight, that_one_gives_way_holds_for_a_while_for_all_sessions)
{
	struct weight_served served = {0};
	struct weight w = {0};
	uint64_t now = start();

	serve(&served, 2, now);
	cr_expect(weight_gives_way(&w, &served, 1, now));
	cr_expect(weight_gives_way(&w, &served, 2, now), "of the one that is waited for, too");
	cr_expect_not(weight_gives_way(&w, &served, 2, later(now, 50 * MS)));
}

/* ---- other programs ---- */

/* Does a tile give way beside session 2, after tiles that had so much of the core? */
static bool gives_way_after(uint64_t wall_ns, uint64_t cpu_ns, bool background, uint64_t later_ns)
{
	struct weight_served served = {0};
	struct weight w = {0};
	uint64_t now = start();

	weight_count(&w, wall_ns, cpu_ns, background, now);
	now = later(now, later_ns);
	serve(&served, 2, now);
	return weight_gives_way(&w, &served, 1, now);
}

Test(worker_weight, program_that_takes_the_core_is_not_given_way_to)
{
	cr_expect_not(gives_way_after(1000 * MS, 100 * MS, true, 0), "1.5 % at nice 19");
	cr_expect_not(gives_way_after(1000 * MS, 500 * MS, false, 0), "half at equal weight");
	cr_expect_not(gives_way_after(1000 * MS, 100 * MS, true, 9000 * MS), "it is remembered");
	cr_expect(gives_way_after(1000 * MS, 100 * MS, true, 11000 * MS), "and forgotten");
}

Test(worker_weight, program_that_wakes_now_and_then_is)
{
	cr_expect(gives_way_after(1000 * MS, 800 * MS, true, 0));
	cr_expect(gives_way_after(1000 * MS, 900 * MS, false, 0));
}

Test(worker_weight, short_tiles_are_judged_together)
{
	struct weight_served served = {0};
	struct weight w = {0};
	uint64_t now = start();

	serve(&served, 2, now);
	for (int i = 0; i < 3; i++)
		weight_count(&w, 30 * MS, 3 * MS, true, now);
	cr_expect(weight_gives_way(&w, &served, 1, now), "too little to tell");
	weight_count(&w, 30 * MS, 3 * MS, true, now);
	cr_expect_not(weight_gives_way(&w, &served, 1, now));
}

/* One thread's time says nothing about the other thread. */
Test(worker_weight, threads_are_judged_apart)
{
	struct weight_served served = {0};
	struct weight w = {0};
	uint64_t now = start();

	weight_count(&w, 90 * MS, 60 * MS, false, now);
	weight_count(&w, 20 * MS, 4 * MS, true, now);
	weight_count(&w, 90 * MS, 80 * MS, true, now);
	serve(&served, 2, now);
	cr_expect(weight_gives_way(&w, &served, 1, now));
}
