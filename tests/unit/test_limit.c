/* SPDX-License-Identifier: MIT */
/* test_limit.c - find a session's limit by its counters and latency */
#include <string.h>
#include <unistd.h>

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

/* ---- what it waits for of others ---- */

static struct named_wait *wait_at(uint32_t kind, const char *name, double first, double second)
{
	struct named_wait *w = &latency.named.wait[latency.named.count++];

	*w = (struct named_wait){.number = latency.named.count, .uid = geteuid(), .kind = kind};
	strcpy(w->name, name);
	w->ticks[QUOIT_NAMED_FIRST] = (uint64_t)(first / 100 * SECOND);
	w->ticks[QUOIT_NAMED_SECOND] = (uint64_t)(second / 100 * SECOND);
	w->servers = w->lanes = 3;
	w->jobs = 5;
	return w;
}

Test(limit, thing_at_which_a_session_waits_is_named_whatever_the_phases_say)
{
	static const struct {
		enum quoit_sync_kind kind;
		bool second;
		enum limit by;
		const char *word, *said;
	} cases[] = {
		{0, false, LIMIT_THREADS, "threads",
		 "waits for the service it, which has too few threads (3; 5 calls of the session wait), for 60% of the time"},
		{0, true, LIMIT_UNSERVED, "unserved",
		 "waits for the service it, which nobody serves, for 60% of the time"},
		{QUOIT_SYNC_LOCK, false, LIMIT_LOCK, "lock",
		 "waits for the lock it for 60% of the time"},
		{QUOIT_SYNC_LOCK, true, LIMIT_CONDITION, "condition",
		 "waits for a condition of the lock it for 60% of the time"},
		{QUOIT_SYNC_FLAG, false, LIMIT_FLAG, "flag",
		 "waits for the flag it for 60% of the time"},
		{QUOIT_SYNC_SEMAPHORE, false, LIMIT_SEMAPHORE, "semaphore",
		 "waits for the semaphore it for 60% of the time"},
		{QUOIT_SYNC_BARRIER, false, LIMIT_BARRIER, "barrier",
		 "waits for others at the barrier it for 60% of the time"},
		{QUOIT_SYNC_QUEUE, false, LIMIT_QUEUE_FULL, "queue-full",
		 "waits for room in the queue it, which is full, for 60% of the time"},
		{QUOIT_SYNC_QUEUE, true, LIMIT_QUEUE_EMPTY, "queue-empty",
		 "waits for messages of the queue it, which is empty, for 60% of the time"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct counters_session s = busy(90);

		count(QUOIT_PHASE_RUN, 1000000, 900);
		wait_at(QUOIT_SYNC_FLAG, "other", 5, 0);
		wait_at(cases[i].kind, "it", cases[i].second ? 1 : 60, cases[i].second ? 60 : 1);
		expect(&s, cases[i].by, 60);
		cr_expect_str_eq(limits_word(cases[i].by), cases[i].word);
		cr_expect_eq(strncmp(said(&s), cases[i].said, strlen(cases[i].said)), 0, "%s",
			     said(&s));
		cr_expect_eq(strchr(said(&s), '|') - said(&s), (long)strlen(cases[i].said));
		cr_expect(strchr(said(&s), '|')[1], "some advice");
	}
}

Test(limit, several_waits_count_together_and_the_longest_is_named)
{
	struct counters_session s = busy(90);

	count(QUOIT_PHASE_DATA, 1000000, 900);
	wait_at(QUOIT_SYNC_LOCK, "a", 15, 10);
	wait_at(QUOIT_SYNC_QUEUE, "b", 0, 20);
	wait_at(QUOIT_SYNC_LOCK, "c", 5, 0);
	expect(&s, LIMIT_QUEUE_EMPTY, 20);
}

Test(limit, short_waits_for_others_are_no_limit)
{
	struct counters_session s = busy(90);

	count(QUOIT_PHASE_DATA, 1000000, 900);
	wait_at(QUOIT_SYNC_LOCK, "a", 40, 0);
	expect(&s, LIMIT_DATA, 100);
	s = busy(20); /* it waits half of the time in which it has a job, and that is little */
	wait_at(QUOIT_SYNC_LOCK, "a", 15, 0);
	expect(&s, LIMIT_CLIENT, 80);
}

Test(limit, waits_for_others_need_no_timed_job)
{
	struct counters_session s = busy(90);

	wait_at(QUOIT_SYNC_FLAG, "a", 200, 0); /* several readings' worth in one */
	expect(&s, LIMIT_FLAG, 100);
}

static const char *said_with(enum limit by, const struct named_wait *w, struct limits_asked asked)
{
	static char text[256];
	const struct limits l = {.by = by, .percent = 60, .named = *w, .asked = asked};

	limits_text(&l, text, sizeof text);
	return text;
}

Test(limit, what_quoitd_says_of_it_is_said_too)
{
	struct named_wait lock = {.kind = QUOIT_SYNC_LOCK, .uid = geteuid(), .name = "ledger"};
	struct named_wait service = {.uid = geteuid(), .name = "fft", .lanes = 3};

	cr_expect_str_eq(said_with(LIMIT_LOCK, &lock, (struct limits_asked){true, 4711, 5, 0}),
			 "waits for the lock ledger of PID 4711 for 60% of the time");
	cr_expect_str_eq(said_with(LIMIT_LOCK, &lock, (struct limits_asked){true, 0, 5, 0}),
			 "waits for the lock ledger for 60% of the time");
	cr_expect_str_eq(said_with(LIMIT_THREADS, &service, (struct limits_asked){true, 0, 17, 3}),
			 "waits for the service fft, which has too few threads (3 of 3 busy, 17 "
			 "calls wait), for 60% of the time");
	cr_expect_str_eq(said_with(LIMIT_THREADS, &service, (struct limits_asked){true, 0, 0, 5}),
			 "waits for the service fft, which has too few threads (3 of 3 busy, 2 "
			 "calls wait), for 60% of the time");
}

/* Another user has named it, and the file may have any bytes. */
Test(limit, name_of_another_user_s_thing_is_escaped)
{
	struct named_wait lock = {.kind = QUOIT_SYNC_LOCK, .uid = 4000001, .name = "a\n\033[2J"};

	memset(lock.name + 6, 'x', sizeof lock.name - 6);
	cr_expect_str_eq(
		said_with(LIMIT_LOCK, &lock, (struct limits_asked){0}),
		"waits for the lock 4000001/a\\x0a\\x1b[2Jxxxxxxxxxxxxxxxxxxxxxxxxx for 60% of "
		"the time");
}
