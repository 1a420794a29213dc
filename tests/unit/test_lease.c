/* SPDX-License-Identifier: MIT */
/* test_lease.c - when a session asks for memory, for how much, and what the answer changes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/tsc.h"
#include "core_case.h"
#include "memory/lease.h"
#include "reactor/reactor.h"
#include "store/sizeclass.h"

#define MIB UINT64_C(1048576)

static struct reactor *reactor;
static struct mailbox *outbox;
static uint32_t need_wake;
static struct session *s;

static void open_session(void)
{
	const struct session_limits limits = {.host_bytes = MIB,
					      .host_soft = 4 * MIB,
					      .host_most = 16 * MIB,
					      .arena_bytes = 4096,
					      .max_tensors = 1024,
					      .max_jobs = 4096,
					      .table_parts = 1};

	tsc_init();
	outbox = aligned_alloc(64, sizeof *outbox);
	mailbox_init(outbox, &need_wake, -1);
	reactor = aligned_alloc(64, sizeof *reactor);
	memset(reactor, 0, sizeof *reactor);
	reactor->outbox = outbox;
	cr_assert_eq(session_new(&limits, 1, &s), 0);
	s->reactor = reactor;
}

static void close_session(void)
{
	session_free(s);
	free(reactor);
	free(outbox);
}

TestSuite(lease, .init = open_session, .fini = close_session, .timeout = 60);

static struct mail letter(void)
{
	struct mail m = {0};

	cr_assert(mailbox_receive(outbox, &m), "nothing was asked for");
	return m;
}

static void expect_no_letter(void)
{
	struct mail m;

	cr_expect_not(mailbox_receive(outbox, &m));
}

static void answer(struct mail m, int32_t result, uint64_t bytes)
{
	m.result = result;
	m.bytes = bytes;
	lease_answer(s, &m);
}

Test(lease, ahead_of_need_it_doubles_up_to_a_bound)
{
	struct mail m;

	cr_expect(lease_ask(s, 100, false));
	m = letter();
	cr_expect_eq(m.a, LEASE_MORE);
	cr_expect_eq(m.least, PAGE_BYTES);
	cr_expect_eq(m.bytes, MIB);
	cr_expect(lease_ask(s, 100, false), "one question at a time");
	expect_no_letter();
	answer(m, 0, MIB);
	cr_expect_eq(s->memory.lease, 2 * MIB);
	cr_expect_not(lease_ask(s, 3 * MIB, false), "beyond the bound only in need");
	expect_no_letter();
	cr_expect(lease_ask(s, 3 * MIB, true));
	cr_expect_eq(letter().least, 3 * MIB);
}

Test(lease, what_cannot_be_is_not_asked_for)
{
	cr_expect_not(lease_ask(s, 16 * MIB, true));
	cr_expect_not(lease_ask(s, UINT64_MAX, true));
	expect_no_letter();
}

Test(lease, who_is_refused_asks_again_later)
{
	cr_expect(lease_ask(s, 2 * MIB, false));
	answer(letter(), -EDQUOT, MIB); /* this much is left */
	cr_expect_eq(s->memory.lease, MIB);
	cr_expect_not(lease_ask(s, 2 * MIB, false));
	cr_expect_not(lease_ask(s, 2 * MIB - 4096, true), "nor less, but more than was left");
	expect_no_letter();
	cr_expect(lease_ask(s, MIB, true), "but for that, or later");
	answer(letter(), -EDQUOT, 0);
	s->memory.refused_at -= tsc_from_ns(1000000000);
	cr_expect(lease_ask(s, 2 * MIB, true));
	(void)letter();
}

Test(lease, pieces_come_with_the_bytes)
{
	struct region_piece piece;

	cr_expect_not(region_take(&s->region, sizeclass_of(2 * MIB), &piece));
	cr_expect(lease_ask(s, 2 * MIB, true));
	answer(letter(), 0, 2 * MIB);
	cr_expect(region_take(&s->region, sizeclass_of(2 * MIB), &piece));
}

Test(lease, what_was_not_used_for_a_while_goes_back)
{
	struct mail m;

	cr_expect(lease_ask(s, 8 * MIB, true));
	answer(letter(), 0, 8 * MIB);
	lease_trim(s, MIB);
	lease_trim(s, 8 * MIB);
	lease_trim(s, MIB);
	lease_trim(s, MIB);
	expect_no_letter();
	lease_trim(s, MIB);
	m = letter();
	cr_expect_eq(m.a, LEASE_LESS);
	cr_expect_eq(m.bytes, 7 * MIB);
	cr_expect_eq(s->memory.lease, 2 * MIB);
	for (int i = 0; i < 10; i++)
		lease_trim(s, 0);
	cr_expect_eq(s->memory.lease, MIB, "never less than was promised");
}

Test(lease, tables_are_asked_for_and_refused_at_last)
{
	struct mail m;

	while (tables_take_view(s) != NIL)
		;
	cr_expect(lease_ask_tables(s));
	m = letter();
	cr_expect_eq(m.a, LEASE_TABLES);
	cr_expect_eq(m.b, 2);
	answer(m, 0, 0);
	cr_expect_neq(tables_take_view(s), NIL);
	cr_expect(lease_ask_tables(s));
	answer(letter(), -EDQUOT, 0);
	cr_expect_not(lease_ask_tables(s), "no job is left to free some");
	s->open.now = 1;
	cr_expect(lease_ask_tables(s), "one is");
	s->open.now = 0;
}

Test(lease, a_larger_arena_leaves_the_rest_as_it_was)
{
	lease_arena(s, MIB);
	cr_expect_eq(s->arena_bytes, MIB);
	cr_expect_eq(s->memory.lease - s->memory.used, MIB - 4096);
	lease_trim(s, s->memory.used);
	cr_expect_eq(s->memory.promise, 2 * MIB - 4096);
}

/*
 * The lease's other costs are charged as it grows, and in total no more than for a lease that is
 * promised whole.
 */
Test(lease, growth_costs_what_a_whole_lease_does)
{
	uint64_t steps = 0, lease = MIB;

	for (; lease < 16 * MIB; lease *= 2)
		steps += session_growth_cost(s, lease, 2 * lease);
	cr_expect_eq(steps, session_growth_cost(s, MIB, 16 * MIB));
	cr_expect_eq(region_overhead(16 * MIB, 16 * MIB, s->max_buffers),
		     region_overhead(MIB, 16 * MIB, s->max_buffers) + steps);
	cr_expect_lt(region_overhead(MIB, UINT64_C(1) << 32, s->max_buffers), MIB);
}
