/* SPDX-License-Identifier: MIT */
/* test_launcher_turns.c - how users share a device's streams */
#include <criterion/criterion.h>
#include <math.h>

#include "fair/ledger.h"
#include "launcher_case.h"

enum { ALICE = 1, BOB, CAROL };

#define PATIENCE_MS 10000u

/* All buffers are cleared already, so that no job waits for another one's clearing. */
static void open_held(void)
{
	quoitd_open(false);
	for (uint32_t slot = 0; slot < QUOITD_SESSIONS; slot++) {
		struct quoit_exec_request q = quoitd_large_job(0, 0, 1, -1);

		q.slot = slot;
		(void)quoitd_run_alone(&q);
	}
	counting_hold();
}

TestSuite(launcher_turns, .init = open_held, .fini = quoitd_close, .timeout = 60);

static void own(uint32_t slot, uint32_t user, uint32_t share)
{
	quoitd_channel()->owner[slot] = (struct quoit_exec_owner){user, share};
}

/* An independent job. */
static void put(uint32_t id, uint32_t slot)
{
	struct quoit_exec_request q = quoitd_large_job(id, 0, 1, -1);

	q.slot = slot;
	quoitd_put(&q);
}

static uint32_t user_of(uint32_t slot)
{
	return quoitd_channel()->owner[slot].user;
}

/* The first job of a stream is done; this many more are left in it. */
static void step(unsigned stream, unsigned left)
{
	for (unsigned ms = 0; !counting_step(stream, left); ms++) {
		cr_assert_lt(ms, PATIENCE_MS);
		quoitd_nap(1);
	}
}

/* ---- users that always have more jobs than there is room for ---- */

#define IN_FLIGHT 192u
#define DONE      1600u
#define SETTLE    400u

/*
 * Request i belongs to the session of slot[i] and is in flight.  A new one takes the place of each
 * that is done, and no stream runs dry.  Returns how many of Bob's were done for each of Alice's,
 * after a while.
 */
static double saturate(const uint32_t slot[IN_FLIGHT])
{
	unsigned done[CAROL] = {0};

	for (unsigned i = 0; i < DONE; i++) {
		uint32_t id;

		quoitd_publish();
		step(STREAM_WORK + i % (STREAM_URGENT - STREAM_WORK), 1);
		id = quoitd_next_answer().id;
		done[user_of(slot[id])] += i >= SETTLE;
		put(id, slot[id]);
	}
	return (double)done[BOB] / done[ALICE];
}

/*
 * Time is divided: a moment in which the test does not run makes the jobs of that moment longer,
 * and the user with more of these gets fewer for as long again.
 */
#define NOT_EXACT 0.25
#define TRIES     5

static void expect_ratio(const uint32_t slot[IN_FLIGHT], double expected)
{
	double got;
	int tries = 0;

	for (uint32_t i = 0; i < IN_FLIGHT; i++)
		put(i, slot[i]);
	do
		got = saturate(slot);
	while (fabs(got / expected - 1) > NOT_EXACT && ++tries < TRIES);
	cr_expect_lt(tries, TRIES, "%.2f for each, instead of %.2f", got, expected);
}

Test(launcher_turns, who_has_three_times_the_share_gets_three_times_as_much)
{
	uint32_t slot[IN_FLIGHT];

	own(0, ALICE, SHARE_NORMAL);
	own(1, BOB, 3 * SHARE_NORMAL);
	for (uint32_t i = 0; i < IN_FLIGHT; i++)
		slot[i] = i % 2;
	expect_ratio(slot, 3);
}

Test(launcher_turns, many_sessions_get_what_one_gets)
{
	uint32_t slot[IN_FLIGHT];

	for (uint32_t i = 0; i < QUOITD_SESSIONS; i++)
		own(i, i ? ALICE : BOB, SHARE_NORMAL);
	for (uint32_t i = 0; i < IN_FLIGHT; i++)
		slot[i] = i % 2 ? 0 : 1 + i / 2 % (QUOITD_SESSIONS - 1);
	expect_ratio(slot, 1);
}

/* ---- whose time it is ---- */

/*
 * Owners of the first requests; Alice's first one waits for Carol's, and her second one for the
 * first.
 */
static const uint32_t first[] = {CAROL, BOB, BOB, BOB, ALICE, ALICE};

#define FIRST (sizeof first / sizeof first[0])

/*
 * Carol's is urgent, and has a stream of its own; then come three of Bob's; Alice's are in the last
 * one.
 */
static void put_first(void)
{
	for (uint32_t i = 0; i < FIRST; i++) {
		int after = first[i] != ALICE ? -1 : i == FIRST - 1 ? (int)i - 1 : 0;
		struct quoit_exec_request q = quoitd_large_job(i, 0, 1, after);

		q.slot = first[i];
		q.urgent = first[i] == CAROL;
		quoitd_put(&q);
	}
	quoitd_publish();
}

#define LONG_MS  300u
#define WHILE_MS 20u

static void pass(unsigned stream, uint32_t id)
{
	step(stream, 0);
	cr_assert_eq(quoitd_next_answer().id, id);
}

/* Bob's have taken some time each; Alice's first one ends as soon as it can begin. */
static void let_her_wait(void)
{
	for (unsigned i = 0; i < 3; i++) {
		quoitd_nap(WHILE_MS);
		pass(STREAM_WORK + i, 1 + i);
	}
	quoitd_nap(LONG_MS);
	pass(STREAM_URGENT, 0);
	pass(STREAM_WORK + 3, 4);
}

#define ROOM   ((STREAM_URGENT - STREAM_WORK) * STREAM_FIRST)
#define PLACES 8u

Test(launcher_turns, what_a_job_waits_for_in_another_stream_is_not_its_users_time)
{
	unsigned places = 0, of_alice = 0;

	for (uint32_t user = ALICE; user <= CAROL; user++)
		own(user, user, SHARE_NORMAL);
	put_first();
	let_her_wait();
	/* The streams are full, mostly of Carol's jobs; and both have more. */
	for (uint32_t i = 1; i < ROOM; i++)
		put(FIRST + i, i == 1 ? BOB : CAROL);
	for (uint32_t i = 0; i < PLACES; i++) {
		put(FIRST + ROOM + 2 * i, BOB);
		put(FIRST + ROOM + 2 * i + 1, ALICE);
	}
	quoitd_publish();
	for (unsigned i = 0; places < PLACES; i++) {
		uint32_t id;

		step(STREAM_WORK + i % (STREAM_URGENT - STREAM_WORK), 1);
		id = quoitd_next_answer().id;
		places += id >= FIRST + ROOM;
		of_alice += id >= FIRST + ROOM && (id - FIRST - ROOM) % 2;
	}
	/* Not all, since streams have different numbers of places. */
	cr_expect_gt(of_alice, PLACES / 2, "hers, who has had little: %u of %u", of_alice, PLACES);
}

/* ---- urgent jobs ---- */

#define COPIES 100u /* more than their stream has room for */

static void put_copy(uint32_t id, bool urgent)
{
	struct quoit_exec_request q = quoitd_large_job(id, 0, 0, -1);

	q.op = QUOIT_OP_COPY;
	q.bytes[1] = 0;
	q.view[1].region = QUOIT_EXEC_PINNED;
	q.urgent = urgent;
	quoitd_put(&q);
}

/* All copies in that direction use one stream.  The launcher takes requests between two answers. */
Test(launcher_turns, an_urgent_copy_is_before_those_that_have_no_place_yet)
{
	unsigned before = 0;

	for (uint32_t i = 0; i < COPIES; i++)
		put_copy(i, false);
	put_copy(COPIES, true);
	quoitd_publish();
	step(STREAM_IN, 1);
	while (quoitd_next_answer().id != COPIES && ++before < COPIES - 1)
		step(STREAM_IN, 1);
	cr_expect_leq(before, COPIES / 2, "%u were before it", before);
}
