/* SPDX-License-Identifier: MIT */
/* test_rates.c - rates between two readings of the totals */
#include <string.h>

#include <criterion/criterion.h>

#include "read/rates.h"

#define HZ     1000000000u /* a tick is a nanosecond */
#define SECOND UINT64_C(1000000000)

/* Two reactors that have run for a second; all counters are known and zero except the heartbeat. */
static struct counters_totals totals(void)
{
	struct counters_totals t = {.origin = {.daemon_pid = 7, .tsc_hz = HZ, .started_ns = SECOND},
				    .reactors = 2};

	for (unsigned i = 0; i < QUOIT_DAEMON_NR; i++)
		t.value[i].known = true;
	for (unsigned r = 0; r < 2; r++) {
		for (unsigned i = 0; i < QUOIT_REACTOR_NR; i++)
			t.reactor[r].value[i].known = true;
		t.reactor[r].value[QUOIT_REACTOR_HEARTBEAT].value = 50 * SECOND;
	}
	return t;
}

static void add(struct counters_totals *t, unsigned reactor, unsigned counter, uint64_t value)
{
	t->reactor[reactor].value[counter].value += value;
}

static void expect(const struct rates *r, enum rate rate, double value)
{
	cr_expect(r->known[rate], "%s", rates_key(rate));
	cr_expect_float_eq(r->value[rate], value, 1e-9 * (1 + value), "%s is %g, not %g",
			   rates_key(rate), r->value[rate], value);
}

Test(rates, counts_are_by_the_time_between_heartbeats)
{
	struct counters_totals from = totals(), to = totals();
	struct rates r;

	add(&to, 1, QUOIT_REACTOR_HEARTBEAT, SECOND / 2);
	add(&to, 1, QUOIT_REACTOR_JOBS, 1000);
	add(&to, 1, QUOIT_REACTOR_QUEUE_TICKS, 2 * SECOND);
	add(&to, 1, QUOIT_REACTOR_BUSY_TICKS, SECOND / 4);
	add(&to, 1, QUOIT_REACTOR_WORK_TICKS, SECOND / 20);
	add(&to, 1, QUOIT_REACTOR_POLL_TICKS, SECOND / 10);
	add(&to, 1, QUOIT_REACTOR_TILE_TICKS, SECOND);
	add(&to, 1, QUOIT_REACTOR_BYTES, 3000000);
	add(&to, 1, QUOIT_REACTOR_CALLS, 50);
	to.reactor[1].value[QUOIT_REACTOR_WAIT_NAMED].value = 7;
	rates_of_reactor(&from, &to, 1, 99 * SECOND, &r);
	expect(&r, RATE_JOBS_OF, 2000);
	expect(&r, RATE_MOVED_OF, 6);
	expect(&r, RATE_CALLS_OF, 100);
	expect(&r, RATE_NAMED_OF, 7);
	expect(&r, RATE_DEPTH_OF, 4);
	expect(&r, RATE_AWAIT_OF, 0.002);
	expect(&r, RATE_UTIL_OF, 50);
	expect(&r, RATE_CORES_OF, 2.1);
	expect(&r, RATE_WORK_OF, 10);
	expect(&r, RATE_POLL_OF, 20);
	expect(&r, RATE_SLEEP_OF, 70);
}

Test(rates, since_the_start_they_are_by_the_daemons_lifetime)
{
	struct counters_totals to = totals();
	struct rates r;

	add(&to, 0, QUOIT_REACTOR_JOBS, 1000);
	add(&to, 0, QUOIT_REACTOR_WORK_TICKS, SECOND);
	rates_of_reactor(NULL, &to, 0, 11 * SECOND, &r); /* it started at 1 s */
	expect(&r, RATE_JOBS_OF, 100);
	expect(&r, RATE_WORK_OF, 10);
}

Test(rates, a_reactor_without_news_has_slept)
{
	struct counters_totals from = totals(), to = totals();
	struct rates r;

	rates_of_reactor(&from, &to, 0, 99 * SECOND, &r);
	expect(&r, RATE_JOBS_OF, 0);
	expect(&r, RATE_UTIL_OF, 0);
	expect(&r, RATE_SLEEP_OF, 100);
	cr_expect_not(r.known[RATE_AWAIT_OF], "of no job there is no mean");
}

Test(rates, of_all_reactors_counts_are_sums_and_shares_are_means)
{
	struct counters_totals from = totals(), to = totals();
	struct rates r;

	for (unsigned i = 0; i < 2; i++) {
		add(&to, i, QUOIT_REACTOR_HEARTBEAT, SECOND);
		add(&to, i, QUOIT_REACTOR_JOBS, 100 * (1 + i));
		add(&to, i, QUOIT_REACTOR_QUEUE_TICKS, 3 * SECOND);
		add(&to, i, QUOIT_REACTOR_WORK_TICKS, SECOND / 2 * i);
		to.reactor[i].value[QUOIT_REACTOR_SESSIONS].value = 5;
	}
	to.value[QUOIT_DAEMON_REFUSED_LEASE].value = 2;
	to.value[QUOIT_DAEMON_REFUSED_UID].value = 1;
	from.value[QUOIT_DAEMON_REFUSED_UID].value = 1;
	to.value[QUOIT_DAEMON_CLIENTS_DIED].value = 4;
	rates_of_all(&from, &to, 99 * SECOND, &r);
	expect(&r, RATE_SESSIONS_OF, 10);
	expect(&r, RATE_JOBS_OF, 300);
	expect(&r, RATE_DEPTH_OF, 6);
	expect(&r, RATE_AWAIT_OF, 0.02);
	expect(&r, RATE_WORK_OF, 25);
	expect(&r, RATE_CORES_OF, 0.5);
	expect(&r, RATE_REFUSED_OF, 2);
	expect(&r, RATE_KILLED_OF, 4);
}

/* Is this counter one of sessions that quoitd ended, or of deaths? */
static bool is_of_killed(const char *label)
{
	return !strncmp(label, "kill_", 5) || !strcmp(label, "clients_died") ||
	       !strcmp(label, "executors_died");
}

Test(rates, each_refusal_and_each_end_is_counted_once_and_nothing_else)
{
#define LABEL(name, text) text,
	static const char *const labels[] = {QUOIT_DAEMON_STATS(LABEL)};
#undef LABEL

	for (unsigned i = 0; i < QUOIT_DAEMON_NR; i++) {
		struct counters_totals from = totals(), to = totals();
		struct rates r;

		from.value[i].value = 5;
		to.value[i].value = 6;
		rates_of_all(&from, &to, 99 * SECOND, &r);
		cr_expect_eq(r.value[RATE_REFUSED_OF], !strncmp(labels[i], "refused_", 8), "%s",
			     labels[i]);
		cr_expect_eq(r.value[RATE_KILLED_OF], is_of_killed(labels[i]), "%s", labels[i]);
	}
}

Test(rates, what_a_file_does_not_have_is_not_known)
{
	struct counters_totals from = totals(), to = totals();
	struct rates r;

	add(&to, 0, QUOIT_REACTOR_HEARTBEAT, SECOND);
	to.reactor[0].value[QUOIT_REACTOR_QUEUE_TICKS].known = false;
	rates_of_reactor(&from, &to, 0, 99 * SECOND, &r);
	cr_expect_not(r.known[RATE_DEPTH_OF]);
	cr_expect_not(r.known[RATE_AWAIT_OF]);
	cr_expect(r.known[RATE_JOBS_OF]);
	rates_of_all(&from, &to, 99 * SECOND, &r);
	cr_expect_not(r.known[RATE_DEPTH_OF], "one of two is no sum");
}

Test(rates, a_counter_that_has_shrunk_is_not_known)
{
	struct counters_totals from = totals(), to = totals();
	struct rates r;

	add(&to, 0, QUOIT_REACTOR_HEARTBEAT, SECOND);
	add(&from, 0, QUOIT_REACTOR_JOBS, 1);
	rates_of_reactor(&from, &to, 0, 99 * SECOND, &r);
	cr_expect_not(r.known[RATE_JOBS_OF]);
}

Test(rates, another_daemons_totals_are_no_continuation)
{
	struct counters_totals from = totals(), to = totals();

	cr_expect(rates_are_of_one(&from, &to));
	to.origin.started_ns++;
	cr_expect_not(rates_are_of_one(&from, &to));
	to = totals();
	to.origin.daemon_pid++;
	cr_expect_not(rates_are_of_one(&from, &to));
}
