/* SPDX-License-Identifier: MIT */
/* test_ledger.c - how tiles are divided between users, in ticks, so that the test need not wait */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "fair/ledger.h"

#define CORES 3u

static struct ledger *ledger;

static void begin(void)
{
	ledger = calloc(1, sizeof *ledger);
	cr_assert(ledger);
}

static void end(void)
{
	free(ledger);
}

TestSuite(ledger, .init = begin, .fini = end);

struct want {
	uint32_t share;
	uint64_t tile;
	uint64_t had;
};

static struct ledger_page *page(unsigned i)
{
	return &ledger->user[i].page;
}

static void open_works(unsigned i)
{
	ledger_open(page(i), &ledger->clock);
}

static unsigned choose(const struct want *w, unsigned count)
{
	unsigned best = count;

	for (unsigned i = 0; i < count; i++)
		if (w[i].tile && (best == count || ledger_lead(page(i), &ledger->clock) <
							   ledger_lead(page(best), &ledger->clock)))
			best = i;
	ledger_choose(page(best), &ledger->clock);
	return best;
}

/* Cores that each run a tile at a time, counted at its end. */
static void run(struct want *w, unsigned count, uint64_t until)
{
	uint64_t ends[CORES] = {0};
	unsigned runs[CORES];

	for (unsigned c = 0; c < CORES; c++) {
		runs[c] = choose(w, count);
		ends[c] = w[runs[c]].tile;
	}
	for (;;) {
		unsigned c = 0;
		struct want *x;

		for (unsigned i = 1; i < CORES; i++)
			c = ends[i] < ends[c] ? i : c;
		if (ends[c] > until)
			return;
		x = &w[runs[c]];
		ledger_count(page(runs[c]), (int64_t)x->tile, x->share);
		x->had += x->tile;
		runs[c] = choose(w, count);
		ends[c] += w[runs[c]].tile;
	}
}

Test(ledger, cores_are_divided_by_shares)
{
	struct want w[] = {{.share = 100, .tile = 700}, {.share = 300, .tile = 2000}};

	open_works(0);
	open_works(1);
	run(w, 2, 10000000);
	cr_expect_float_eq((double)w[1].had / (double)w[0].had, 3.0, 0.01);
}

/* Its tiles take longer than all that the other user wants meanwhile. */
Test(ledger, long_tiles_do_not_change_the_shares)
{
	struct want w[] = {{.share = 100, .tile = 5000}, {.share = 100, .tile = 10}};

	open_works(0);
	open_works(1);
	run(w, 2, 5000000);
	cr_expect_float_eq((double)w[1].had / (double)w[0].had, 1.0, 0.02);
}

Test(ledger, who_comes_has_no_claim_to_what_was_before)
{
	struct want w[] = {{.share = 100, .tile = 100}, {.share = 100, .tile = 0}};
	uint64_t before;

	open_works(0);
	run(w, 2, 1000000);
	before = w[0].had;
	open_works(1);
	w[1].tile = 100;
	run(w, 2, 1000000);
	cr_expect_float_eq((double)w[1].had / (double)(w[0].had - before), 1.0, 0.01);
}

/* It always had works, but they could run nowhere. */
Test(ledger, what_works_could_not_use_lapses)
{
	struct want w[] = {{.share = 100, .tile = 100}, {.share = 100, .tile = 0}};
	const uint64_t most = 50000;
	uint64_t before;

	open_works(0);
	open_works(1);
	run(w, 2, 1000000);
	before = w[0].had;
	open_works(1);
	ledger_lapse(page(1), &ledger->clock, most);
	w[1].tile = 100;
	run(w, 2, 1000000);
	cr_expect_float_eq((double)w[1].had, (double)(w[0].had - before + most), 1000);
}

Test(ledger, who_was_alone_owes_nothing)
{
	struct want w[] = {{.share = 1, .tile = 100}, {.share = 1, .tile = 0}};
	uint64_t before;

	open_works(0);
	run(w, 2, 1000000);
	ledger_close(page(0));
	w[0].tile = 0;
	w[1].tile = 100;
	open_works(1);
	run(w, 2, 10000);
	before = w[1].had;
	w[0].tile = 100;
	w[0].had = 0;
	open_works(0);
	run(w, 2, 1000000);
	cr_expect_float_eq((double)w[0].had / (double)(w[1].had - before), 1.0, 0.01);
}

/* A user with works does not begin anew with one more. */
Test(ledger, more_works_are_no_more_share)
{
	struct want w[] = {{.share = 100, .tile = 100}, {.share = 100, .tile = 100}};

	open_works(0);
	open_works(1);
	for (unsigned i = 0; i < 1000; i++) {
		run(w, 2, 1000);
		open_works(0);
	}
	cr_expect_float_eq((double)w[1].had / (double)w[0].had, 1.0, 0.02);
}
