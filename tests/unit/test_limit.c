/* SPDX-License-Identifier: MIT */
/* test_limit.c - find a session's limit by its counters and latency */
#include <string.h>

#include <criterion/criterion.h>

#include "read/limit.h"

#define SECOND 1000000000u /* a tick is a nanosecond */

static struct latency latency;

/* A session that had open jobs for this percentage of a second. */
static struct counters_session busy(double percent)
{
	struct counters_session s = {.session = 1, .origin = {.tsc_hz = SECOND}};

	memset(&latency, 0, sizeof latency);
	latency.tick_ns = 1;
	for (unsigned i = 0; i < QUOIT_PHASE_NR; i++)
		latency.known[i] = true;
	for (unsigned i = 0; i < QUOIT_SESSION_NR; i++)
		s.value[i].known = true;
	s.value[QUOIT_SESSION_BUSY_TICKS].value = (uint64_t)(percent / 100 * SECOND);
	return s;
}

static void count(unsigned phase, uint64_t ticks, uint64_t jobs)
{
	latency.count[phase][quoit_latency_bucket(ticks)] += jobs;
}

static void expect(const struct counters_session *s, enum limit by, double percent)
{
	struct limits l;

	limits_find(s, NULL, &latency, SECOND, &l);
	cr_expect_eq(l.by, by, "%s", limits_word(l.by));
	cr_expect_float_eq(l.percent, percent, 1.5);
}

Test(limit, who_has_nothing_open_is_limited_by_its_client)
{
	struct counters_session s = busy(20);

	count(QUOIT_PHASE_RUN, 1000000, 200);
	expect(&s, LIMIT_CLIENT, 80);
}

/* Such jobs never count as open. */
Test(limit, jobs_that_run_at_their_fetch_keep_a_session_busy)
{
	struct counters_session s = busy(0);

	s.value[QUOIT_SESSION_CORE_TICKS].value = SECOND / 10 * 9;
	count(QUOIT_PHASE_RUN, 1000, 900000);
	expect(&s, LIMIT_RUN, 100);
}

Test(limit, the_phase_with_most_of_the_time_names_it)
{
	static const struct {
		unsigned phase;
		enum limit by;
	} cases[] = {
		{QUOIT_PHASE_SUBMIT, LIMIT_FETCH},  {QUOIT_PHASE_DATA, LIMIT_DATA},
		{QUOIT_PHASE_MEMORY, LIMIT_MEMORY}, {QUOIT_PHASE_TURN, LIMIT_TURN},
		{QUOIT_PHASE_RUN, LIMIT_RUN},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct counters_session s = busy(90);

		for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
			count(cases[k].phase, k == i ? 600000 : 100000, 100);
		expect(&s, cases[i].by, 60);
	}
}

Test(limit, nothing_is_said_where_nothing_was_timed)
{
	struct counters_session s = busy(90);

	expect(&s, LIMIT_UNKNOWN, 0);
	cr_expect_str_eq(limits_word(LIMIT_UNKNOWN), "");
}

/* Its share of the reactor is small, but its ring is never empty. */
Test(limit, who_waits_to_be_fetched_has_something_to_do)
{
	struct counters_session s = busy(0);

	s.value[QUOIT_SESSION_CORE_TICKS].value = SECOND / 5;
	count(QUOIT_PHASE_SUBMIT, 10000, 1000000);
	count(QUOIT_PHASE_RUN, 100, 1000000);
	expect(&s, LIMIT_FETCH, 99);
}

Test(limit, bursts_do_not_make_a_client_busy)
{
	struct counters_session s = busy(1);

	s.value[QUOIT_SESSION_SQ_MOST].value = 1000;
	count(QUOIT_PHASE_SUBMIT, 50000, 100000);
	expect(&s, LIMIT_CLIENT, 99);
}

Test(limit, results_that_lie_in_the_cq_hold_up_nobody)
{
	struct counters_session s = busy(90);

	count(QUOIT_PHASE_REAP, 100000000, 64);
	count(QUOIT_PHASE_DATA, 1000000, 100);
	expect(&s, LIMIT_DATA, 100);
}

Test(limit, without_its_cost_or_its_busy_time_no_client_is_blamed)
{
	static const unsigned needed[] = {QUOIT_SESSION_BUSY_TICKS, QUOIT_SESSION_CORE_TICKS};

	for (unsigned i = 0; i < 2; i++) {
		struct counters_session s = busy(20);

		count(QUOIT_PHASE_RUN, 1000000, 200);
		s.value[needed[i]].known = false;
		expect(&s, LIMIT_RUN, 100);
	}
}

/* Both sentences about the session. */
static const char *said(const struct counters_session *s)
{
	static char text[256];
	struct limits l;
	size_t n;

	limits_find(s, NULL, &latency, SECOND, &l);
	limits_text(&l, text, sizeof text);
	n = strlen(text);
	text[n] = '|';
	limits_detail(&l, s, text + n + 1, sizeof text - n - 1);
	return text;
}

Test(limit, the_operation_that_ran_for_longest_is_named)
{
	struct counters_session s = busy(90);

	count(QUOIT_PHASE_DATA, 1000000, 100);
	latency.operation[QUOIT_OP_ADD] = (struct latency_operation){640, 640, 1000, 1};
	latency.operation[QUOIT_OP_GEMM] = (struct latency_operation){2, 2, 9000, 1};
	cr_expect_str_eq(said(&s), "data: jobs wait 100% of their time for data that "
				   "other jobs write|of what ran, gemm took 90%");
}

Test(limit, memory_is_said_with_how_much_there_is)
{
	struct counters_session s = busy(90);

	count(QUOIT_PHASE_MEMORY, 1000000, 100);
	s.value[QUOIT_SESSION_HOST_USED].value = 3u << 20;
	s.value[QUOIT_SESSION_HOST_LEASE].value = 4u << 20;
	s.value[QUOIT_SESSION_MEMORY_TICKS].value = SECOND / 5 * 2;
	cr_expect_str_eq(said(&s),
			 "memory: jobs wait 100% of their time for memory|3.0M of 4.0M on the host "
			 "are in use; some job waited 40% of the time");
	s.value[QUOIT_SESSION_HOST_USED].known = false;
	cr_expect_str_eq(said(&s), "memory: jobs wait 100% of their time for memory|");
}

/* ---- what the program holds ---- */

static void hold(const char *name, double percent_of_time)
{
	struct latency_site *site = &latency.site[latency.sites++];

	strcpy(site->name, name);
	site->held = (uint64_t)(percent_of_time / 100 * SECOND);
}

Test(limit, program_that_holds_what_jobs_wait_for_is_named_by_its_place)
{
	struct counters_session s = busy(90);

	count(QUOIT_PHASE_DATA, 1000000, 100);
	hold("main.c:7", 10);
	hold("solver.c:120", 72);
	expect(&s, LIMIT_HELD, 72);
	cr_expect_str_eq(said(&s), "data held by the program at solver.c:120 for 72% of the time|"
				   "release it before other work, or acquire it later");
}

Test(limit, place_that_is_not_known_is_somewhere)
{
	struct counters_session s = busy(90);

	count(QUOIT_PHASE_DATA, 1000000, 100);
	hold("", 300); /* several readings' worth in one */
	cr_expect(strstr(said(&s), "held by the program at (somewhere) for 100% of the time"));
}

Test(limit, short_holds_are_not_why_jobs_wait_for_data)
{
	struct counters_session s = busy(90);

	count(QUOIT_PHASE_DATA, 1000000, 100);
	hold("solver.c:120", 30);
	expect(&s, LIMIT_DATA, 100);
}

Test(limit, holds_do_not_slow_down_who_waits_for_something_else)
{
	struct counters_session s = busy(90);

	count(QUOIT_PHASE_RUN, 1000000, 100);
	hold("solver.c:120", 80);
	expect(&s, LIMIT_RUN, 100);
}
