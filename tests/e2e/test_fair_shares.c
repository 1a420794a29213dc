/* SPDX-License-Identifier: MIT */
/*
 * test_fair_shares.c - users that all want all cores get core time by their shares; how much core
 * time there was does not matter.  For root only: it needs several users.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "configuration.h"
#include "daemon.h"
#include "flood.h"

TestSuite(fair_shares, .timeout = 300);

enum { ALICE = 61001, BOB };

#define SETTLE_US 300000
#define WINDOW_US 3000000

/* Other programs take cores away meanwhile; the benchmark's bound is tighter. */
#define TOLERANCE      0.15
#define JOBS_TOLERANCE 0.3 /* for jobs of one kind, since their times vary */

static void let_others_in(const struct daemon *d)
{
	cr_assert_eq(chmod(d->folder, 0755), 0);
}

/* A user's ended jobs, and core time in ticks, as quoitd counts it. */
struct had {
	uint64_t jobs, ticks;
};

static struct had look(const struct daemon *d, const struct flood *f, uint64_t first,
		       unsigned sessions)
{
	struct had had = {.jobs = flood_done(f)};

	for (uint64_t s = first; s < first + sessions; s++)
		had.ticks += daemon_session_counter(d, s, QUOIT_SESSION_CORE_TICKS);
	return had;
}

/* Bob's jobs and ticks divided by Alice's. */
struct ratio {
	double jobs, ticks;
};

/* Alice has the default share, and Bob this one. */
static struct ratio divide(struct flood_wish alice, struct flood_wish bob, unsigned share)
{
	struct configuration configuration;
	const char *options[] = {configuration.option, NULL};
	struct daemon d;
	struct flood a, b;
	struct had before[2], after[2];

	cr_assert(configuration_make(
		&configuration, "private = no\nreactors = 1\nmemory = 16G\n[user %d]\nshare = %u\n",
		BOB, share));
	cr_assert_eq(daemon_start_prepared(&d, options, let_others_in), 0);
	cr_assert(configuration_remove(&configuration));
	alice.socket = bob.socket = d.socket;
	alice.uid = ALICE;
	bob.uid = BOB;
	cr_assert(flood_begin(&a, &alice));
	cr_assert(flood_begin(&b, &bob));
	usleep(SETTLE_US);
	before[0] = look(&d, &a, 1, alice.sessions);
	before[1] = look(&d, &b, 1 + alice.sessions, bob.sessions);
	usleep(WINDOW_US);
	after[0] = look(&d, &a, 1, alice.sessions);
	after[1] = look(&d, &b, 1 + alice.sessions, bob.sessions);
	flood_end(&a);
	flood_end(&b);
	daemon_stop(&d);
	return (struct ratio){(double)(after[1].jobs - before[1].jobs) /
				      (double)(after[0].jobs - before[0].jobs),
			      (double)(after[1].ticks - before[1].ticks) /
				      (double)(after[0].ticks - before[0].ticks)};
}

static bool is_near(double got, double expected, double tolerance)
{
	return got > expected * (1 - tolerance) && got < expected * (1 + tolerance);
}

static const struct row {
	const char *name;
	struct flood_wish alice, bob;
	unsigned share; /* Bob's; Alice has the default one */
	bool alike;     /* the two users' jobs take the same time */
} rows[] = {
	{"a reactor", {.sessions = 1}, {.sessions = 1}, 100, true},
	{"a reactor by shares", {.sessions = 1}, {.sessions = 1}, 300, true},
	{"a reactor with a crowd", {.sessions = 1000}, {.sessions = 1}, 300, false},
	{"tiles", {.sessions = 1, .tiles = true}, {.sessions = 1, .tiles = true}, 100, true},
	{"tiles by shares",
	 {.sessions = 1, .tiles = true},
	 {.sessions = 1, .tiles = true},
	 300,
	 true},
	{"tiles of a crowd",
	 {.sessions = 1000, .tiles = true},
	 {.sessions = 1, .tiles = true},
	 100,
	 false},
};

#define SITTERS 8
#define SOON_MS 5000 /* a tenth of a second if no other program takes the cores */

/* Together they would take all work slots of a reactor. */
Test(fair_shares, who_comes_gets_cores_beside_many_users_with_lengthy_jobs)
{
	static const char *const options[] = {"--private=no", "--reactors=1", NULL};
	struct flood_wish wish = {.sessions = 1, .lengthy = true};
	struct flood sitter[SITTERS], comer;
	struct daemon d;

	if (geteuid())
		cr_skip_test("only root can be several users");
	cr_assert_eq(daemon_start_prepared(&d, options, let_others_in), 0);
	wish.socket = d.socket;
	for (unsigned i = 0; i < SITTERS; i++) {
		wish.uid = BOB + 1 + i;
		cr_assert(flood_begin(&sitter[i], &wish));
	}
	usleep(SETTLE_US);
	cr_assert(flood_begin(
		&comer, &(struct flood_wish){
				.socket = d.socket, .uid = ALICE, .sessions = 1, .tiles = true}));
	for (unsigned ms = 0; ms < SOON_MS && !flood_done(&comer); ms++)
		usleep(1000);
	cr_expect_gt(flood_done(&comer), 0);
	for (unsigned i = 0; i < SITTERS; i++) {
		cr_expect_leq(flood_done(&sitter[i]), 1, "what they began with");
		flood_end(&sitter[i]);
	}
	flood_end(&comer);
	daemon_stop(&d);
}

#define TRIES 4 /* a busy machine has nothing to divide */

static void expect_shares(const struct row *row)
{
	double expected = row->share / 100.0;
	struct ratio r = {0};
	bool good = false;

	for (unsigned i = 0; i < TRIES && !good; i++) {
		r = divide(row->alice, row->bob, row->share);
		good = is_near(r.ticks, expected, TOLERANCE) &&
		       (!row->alike || is_near(r.jobs, expected, JOBS_TOLERANCE));
	}
	cr_expect(good, "%s: %.3f of the time, %.3f of the jobs, instead of %.3f", row->name,
		  r.ticks, r.jobs, expected);
}

/* One row after the other, since each needs the whole machine. */
Test(fair_shares, cores_are_divided_between_users_however_many_sessions_one_has)
{
	if (geteuid())
		cr_skip_test("only root can be several users");
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
		expect_shares(&rows[i]);
}
