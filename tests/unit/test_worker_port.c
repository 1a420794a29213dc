/* SPDX-License-Identifier: MIT */
/* test_worker_port.c - how much of the workers' time sessions are charged */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "backend/cpu/worker_private.h"
#include "base/tsc.h"

#define HAD          1000000
#define CLOCK_OF_BOB 1000

enum { ALICE, BOB };

static const struct op_impl impl;
static uint32_t cores = 1;
static struct worker_port port;
static struct workers all = {
	.config = {.workers = 1, .reactors = 1}, .port = &port, .cores = &cores};

static void open_port(void)
{
	tsc_init();
	cr_assert_eq(worker_port_open(&port, &all), 0);
	port.ledger = calloc(1, sizeof *port.ledger);
	cr_assert(port.ledger);
	atomic_store(&port.ledger->user[BOB].clock, CLOCK_OF_BOB);
}

static struct work *publish(uint64_t session_id, uint32_t user)
{
	struct work *work = worker_slot(&port);

	work->impl = &impl;
	work->session_id = session_id;
	atomic_store(&work->user, user);
	worker_publish(&port, work);
	return work;
}

static uint64_t had(const struct work *work)
{
	return atomic_load(&port.flow[work->flow].page.ticks_used);
}

/* End a work of one tile that took this many ticks. */
static void end(struct work *work, int64_t ticks)
{
	ledger_count(&port.flow[work->flow].page, ticks, SHARE_NORMAL);
	worker_retire(&port, work);
}

TestSuite(worker_port, .init = open_port);

Test(worker_port, session_that_comes_has_had_no_more_than_its_users_others)
{
	for (unsigned i = 0; i < WORKER_SLOTS; i++)
		end(publish(1 + i, ALICE), HAD);
	cr_expect_eq(had(publish(100, BOB)), CLOCK_OF_BOB);
}

Test(worker_port, session_whose_works_have_ended_has_had_what_it_had)
{
	end(publish(1, BOB), HAD);
	cr_expect_eq(had(publish(2, BOB)), CLOCK_OF_BOB);
	cr_expect_eq(had(publish(1, BOB)), CLOCK_OF_BOB + HAD);
}

/* The reactor was late: its jobs were ready, and all its works had ended. */
Test(worker_port, user_whose_jobs_wait_for_places_keeps_its_claim)
{
	struct ledger_page *bob = &port.ledger->user[BOB].page;

	for (unsigned waits = 0; waits < 2; waits++) {
		uint64_t used = atomic_load(&bob->ticks_used);

		if (waits)
			worker_await(&port, BOB, true);
		atomic_store(&port.ledger->clock, used + HAD);
		worker_retire(&port, publish(1, BOB));
		cr_expect_eq(atomic_load(&bob->ticks_used), waits ? used : used + HAD);
	}
	worker_await(&port, BOB, false);
	cr_expect_eq(atomic_load(&bob->works), 0);
}

Test(worker_port, works_of_a_session_are_one_flow)
{
	struct work *first = publish(1, ALICE), *other = publish(2, ALICE);

	cr_expect_eq(publish(1, ALICE)->flow, first->flow);
	cr_expect_neq(other->flow, first->flow);
}

/* ---- slots ---- */

/* Take as many works as are admitted, each of a session without one; returns how many. */
static unsigned take(uint32_t user, uint64_t sessions)
{
	unsigned n = 0;

	for (; n < sessions && worker_admits(&port, user, 0); n++)
		publish(1000 * user + n, user);
	return n;
}

Test(worker_port, each_of_many_users_has_a_place_whatever_others_took)
{
	unsigned others = take(BOB, WORKER_SLOTS);

	cr_expect_gt(others, WORKER_SHARED / 2);
	for (uint32_t user = BOB + 1; user <= WORKER_SLOTS - WORKER_SHARED; user++)
		cr_expect_geq(take(user, WORKER_SLOTS), 1, "user %u, before whom were %u works",
			      user, port.published);
}

Test(worker_port, places_that_users_share_are_given_back)
{
	struct work *work[WORKER_SHARED];
	unsigned n = 0;

	for (; n < WORKER_SHARED && worker_admits(&port, BOB, n); n++)
		work[n] = publish(1, BOB);
	cr_expect_eq(n, WORKER_SHARED / 2 + 1);
	for (unsigned i = 0; i < n; i++)
		worker_retire(&port, work[i]);
	cr_expect_eq(port.holders, 0);
	cr_expect_eq(take(ALICE, WORKER_SLOTS), WORKER_SHARED * 3 / 4 + 1);
}
