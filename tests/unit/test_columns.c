/* SPDX-License-Identifier: MIT */
/* test_columns.c - the columns of sessions: chosen, computed, summed, sorted and printed */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "read/columns.h"

#define HZ     2000000000u /* a tick is half a nanosecond */
#define SECOND UINT64_C(1000000000)

/* ---- one session ---- */

/* Session 7 of an unnamed user: open for 10 s; each counter has a figure of its own. */
static struct session_row row(void)
{
	struct session_row r = {.daemon_lives = true, .now_ns = 30 * SECOND};

	r.s = (struct counters_session){.origin = {.tsc_hz = HZ},
					.session = 7,
					.uid = 4000000,
					.pid = 1234,
					.reactor = 3,
					.node = 1,
					.opened_ns = 20 * SECOND,
					.name = "a job"};
	for (unsigned i = 0; i < QUOIT_SESSION_NR; i++)
		r.s.value[i] = (struct counter){1000 + i, true};
	r.process = (struct process){.known = true,
				     .resident_bytes = 5 << 20,
				     .faults_known = true,
				     .minor_faults = 11,
				     .major_faults = 22,
				     .share_known = true,
				     .share_bytes = 6 << 20,
				     .nodes_known = true};
	r.process.node_bytes[0] = 1 << 20;
	r.process.node_bytes[1] = 3 << 20;
	r.limits = (struct limits){.by = LIMIT_DATA, .p50_ns = 1500, .p99_ns = 2.5e6};
	return r;
}

static void set(struct session_row *r, unsigned counter, uint64_t value)
{
	r->s.value[counter].value = value;
}

static void expect(const struct session_row *r, enum column column, const char *wanted)
{
	char text[FORMAT_CELL_BYTES];

	columns_text(r, column, text, sizeof text);
	cr_expect_str_eq(text, wanted, "%s: %s, not %s", columns_key(column), text, wanted);
}

Test(columns, each_has_the_figure_of_its_name)
{
	static const struct {
		enum column column;
		const char *text;
	} cases[] = {
		{COLUMN_OF_USER, "4000000"},    {COLUMN_OF_UID, "4000000"},
		{COLUMN_OF_PID, "1234"},        {COLUMN_OF_SESSION, "7"},
		{COLUMN_OF_COMMAND, "a job"},   {COLUMN_OF_STATE, "running"},
		{COLUMN_OF_NODE, "1"},          {COLUMN_OF_REACTOR, "3"},
		{COLUMN_OF_CPU, "25.0"},        {COLUMN_OF_TIME, "00:00:02"},
		{COLUMN_OF_EXECUTORS, "150.0"}, {COLUMN_OF_ELAPSED, "00:00:10"},
		{COLUMN_OF_STALLED, "5.0"},     {COLUMN_OF_BUSY, "80.0"},
		{COLUMN_OF_DEPTH, "2.5"},       {COLUMN_OF_RATE, "50.0"},
		{COLUMN_OF_MOVED, "1.5K"},      {COLUMN_OF_RSS, "5.0M"},
		{COLUMN_OF_PSS, "6.0M"},        {COLUMN_OF_MINOR, "11"},
		{COLUMN_OF_MAJOR, "22"},        {COLUMN_OF_NODES, "0:1.0M,1:3.0M"},
		{COLUMN_OF_REMOTE, "25.0"},     {COLUMN_OF_P50, "1.5u"},
		{COLUMN_OF_P99, "2.5m"},        {COLUMN_OF_LIMIT, "data"},
		{COLUMN_OF_CLIENT_NODE, "2"},
	};
	struct session_row r = row();

	set(&r, QUOIT_SESSION_CORE_TICKS, 5ull * HZ / 2); /* of 10 seconds */
	set(&r, QUOIT_SESSION_EXECUTOR_TICKS, 15ull * HZ);
	set(&r, QUOIT_SESSION_MEMORY_TICKS, HZ / 2);
	set(&r, QUOIT_SESSION_BUSY_TICKS, 8ull * HZ);
	set(&r, QUOIT_SESSION_QUEUE_TICKS, 25ull * HZ);
	set(&r, QUOIT_SESSION_SUBMITTED, 500);
	set(&r, QUOIT_SESSION_BYTES, 15360);
	set(&r, QUOIT_SESSION_CLIENT_NODE, 3); /* one more than the node */
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		expect(&r, cases[i].column, cases[i].text);
}

/* Every column of a counter alone tells that counter. */
Test(columns, a_count_is_its_counter)
{
	struct session_row r = row();
	char text[FORMAT_CELL_BYTES], wanted[FORMAT_CELL_BYTES];

	for (unsigned i = 0; i < COLUMN_NR; i++) {
		enum column column = (enum column)i;
		unsigned counter = columns_counter(column);

		if (counter == QUOIT_SESSION_NR ||
		    (columns_kind(column) != COLUMN_COUNT && columns_kind(column) != COLUMN_BYTES))
			continue;
		columns_text(&r, column, text, sizeof text);
		if (columns_kind(column) == COLUMN_COUNT)
			snprintf(wanted, sizeof wanted, "%u", 1000 + counter);
		else
			format_bytes(1000 + counter, wanted, sizeof wanted);
		cr_expect_str_eq(text, wanted, "%s: %s", columns_key(column), text);
		r.s.value[counter].known = false;
		expect(&r, column, "-");
	}
}

/* A title is not shortened so far that another column has it, too. */
Test(columns, no_two_have_a_key_or_a_title_in_common)
{
	for (unsigned i = 0; i < COLUMN_NR; i++)
		for (unsigned k = 0; k < i; k++) {
			cr_expect_str_neq(columns_key((enum column)i), columns_key((enum column)k));
			cr_expect_str_neq(columns_title((enum column)i),
					  columns_title((enum column)k));
		}
}

Test(columns, an_unknown_figure_is_a_dash)
{
	static const enum column all[] = {
		COLUMN_OF_PID,    COLUMN_OF_COMMAND, COLUMN_OF_NODE,    COLUMN_OF_CLIENT_NODE,
		COLUMN_OF_RSS,    COLUMN_OF_PSS,     COLUMN_OF_MINOR,   COLUMN_OF_MAJOR,
		COLUMN_OF_P50,    COLUMN_OF_P99,     COLUMN_OF_LIMIT,   COLUMN_OF_NODES,
		COLUMN_OF_REMOTE, COLUMN_OF_START,   COLUMN_OF_ELAPSED, COLUMN_OF_STATE,
		COLUMN_OF_WAIT,   COLUMN_OF_CPU,     COLUMN_OF_RATE,    COLUMN_OF_TIME,
	};
	struct session_row r = {.daemon_lives = true, .now_ns = SECOND};

	r.s.node = -1;
	r.s.opened_ns = 2 * SECOND; /* later than now: it comes from a damaged file */
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		expect(&r, all[i], "-");
}

Test(columns, of_a_dead_daemons_session_no_lifetime_is_told)
{
	struct session_row r = row();

	r.daemon_lives = false;
	expect(&r, COLUMN_OF_ELAPSED, "-");
	expect(&r, COLUMN_OF_CPU, "-");
	expect(&r, COLUMN_OF_STATE, "closed");
	expect(&r, COLUMN_OF_SUBMITTED, "1000");
}

Test(columns, a_state_is_of_what_the_jobs_do)
{
	struct session_row r = row();

	set(&r, QUOIT_SESSION_RUNNING, 0);
	expect(&r, COLUMN_OF_STATE, "serving");
	set(&r, QUOIT_SESSION_SERVING, 0);
	expect(&r, COLUMN_OF_STATE, "queued");
	set(&r, QUOIT_SESSION_QUEUED, 0);
	expect(&r, COLUMN_OF_STATE, "idle");
	r.s.ended = true;
	expect(&r, COLUMN_OF_STATE, "closed");
	r.s.ended = false;
	r.s.value[QUOIT_SESSION_RUNNING].known = false;
	expect(&r, COLUMN_OF_STATE, "-");
}

Test(columns, a_wait_is_for_what_most_jobs_wait_for)
{
	static const struct {
		uint64_t data, memory, turn;
		const char *text;
	} cases[] = {
		{0, 0, 0, "-"},      {5, 4, 4, "data"},   {5, 5, 5, "memory"}, {5, 4, 5, "turn"},
		{4, 5, 5, "memory"}, {1, 0, 0, "data"},   {0, 0, 1, "turn"},   {0, 1, 0, "memory"},
		{9, 8, 7, "data"},   {7, 9, 8, "memory"}, {7, 8, 9, "turn"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct session_row r = row();

		set(&r, QUOIT_SESSION_WAIT_DATA, cases[i].data);
		set(&r, QUOIT_SESSION_WAIT_MEMORY, cases[i].memory);
		set(&r, QUOIT_SESSION_WAIT_TURN, cases[i].turn);
		set(&r, QUOIT_SESSION_WAIT_NAMED, 0);
		expect(&r, COLUMN_OF_WAIT, cases[i].text);
	}
}

/* Jobs that wait for data most probably do so behind those that wait for others. */
Test(columns, a_wait_for_others_is_told_by_the_kind_at_which_most_wait)
{
	struct session_row r = row();

	set(&r, QUOIT_SESSION_WAIT_DATA, 50);
	set(&r, QUOIT_SESSION_WAIT_MEMORY, 1);
	set(&r, QUOIT_SESSION_WAIT_TURN, 3);
	for (unsigned i = QUOIT_SESSION_WAIT_SERVICE; i <= QUOIT_SESSION_WAIT_QUEUE; i++)
		set(&r, i, 0);
	set(&r, QUOIT_SESSION_WAIT_NAMED, 3);
	set(&r, QUOIT_SESSION_WAIT_LOCK, 1);
	set(&r, QUOIT_SESSION_WAIT_QUEUE, 2);
	expect(&r, COLUMN_OF_WAIT, "queue");
	set(&r, QUOIT_SESSION_WAIT_LOCK, 3);
	expect(&r, COLUMN_OF_WAIT, "lock");
	set(&r, QUOIT_SESSION_WAIT_SERVICE, 4);
	expect(&r, COLUMN_OF_WAIT, "service");
	set(&r, QUOIT_SESSION_WAIT_TURN, 51);
	expect(&r, COLUMN_OF_WAIT, "turn");
}

/* A process has memory on some nodes, and the session's own may be among them or not. */
Test(columns, memory_away_is_what_is_not_on_the_sessions_node)
{
	struct session_row r = row();

	r.s.node = 2;
	expect(&r, COLUMN_OF_REMOTE, "100.0");
	r.process.node_bytes[0] = 0;
	expect(&r, COLUMN_OF_NODES, "1:3.0M");
	r.s.node = 1;
	expect(&r, COLUMN_OF_REMOTE, "0.0");
	r.s.node = -1;
	expect(&r, COLUMN_OF_REMOTE, "-");
}

/* ---- between two readings ---- */

/* Two readings that lie 4 s apart. */
static struct session_row later(const struct counters_session *before)
{
	struct session_row r = row();

	r.before = before;
	set(&r, QUOIT_SESSION_AS_OF, before->value[QUOIT_SESSION_AS_OF].value + 4ull * HZ);
	return r;
}

Test(columns, means_are_since_the_reading_before)
{
	const struct session_row first = row();
	struct session_row r = later(&first.s);

	set(&r, QUOIT_SESSION_SUBMITTED, 1000 + 600);
	set(&r, QUOIT_SESSION_CORE_TICKS,
	    first.s.value[QUOIT_SESSION_CORE_TICKS].value + 2ull * HZ);
	cr_expect_float_eq(columns_span_ns(&r), 4e9, 1);
	expect(&r, COLUMN_OF_RATE, "150");
	expect(&r, COLUMN_OF_CPU, "50.0");
	expect(&r, COLUMN_OF_BUSY, "0.0");
	expect(&r, COLUMN_OF_SUBMITTED, "1600");
}

Test(columns, a_counter_or_a_clock_that_has_fallen_gives_no_mean)
{
	const struct session_row first = row();
	struct session_row r = later(&first.s);

	set(&r, QUOIT_SESSION_SUBMITTED, 999);
	expect(&r, COLUMN_OF_RATE, "-");
	r = later(&first.s);
	set(&r, QUOIT_SESSION_SUBMITTED, 1001);
	set(&r, QUOIT_SESSION_AS_OF, first.s.value[QUOIT_SESSION_AS_OF].value - 1);
	expect(&r, COLUMN_OF_RATE, "-");
	set(&r, QUOIT_SESSION_AS_OF, first.s.value[QUOIT_SESSION_AS_OF].value);
	expect(&r, COLUMN_OF_RATE, "-");
	set(&r, QUOIT_SESSION_SUBMITTED, 1000);
	expect(&r, COLUMN_OF_RATE, "0.0");
	r.s.origin.tsc_hz = 0;
	expect(&r, COLUMN_OF_CPU, "-");
}

/* ---- when it was opened ---- */

/* The clock may go on while a test runs: either of two texts is right. */
static void expect_opened(uint64_t seconds_ago, const char *format)
{
	struct session_row r = row();
	char text[FORMAT_CELL_BYTES], wanted[2][32];

	r.s.opened_ns = 5000000 * SECOND;
	r.now_ns = r.s.opened_ns + seconds_ago * SECOND;
	for (unsigned i = 0; i < 2; i++) {
		time_t then = time(NULL) - (time_t)seconds_ago;
		struct tm day;

		localtime_r(&then, &day);
		cr_assert(strftime(wanted[i], sizeof wanted[i], format, &day));
		if (!i)
			columns_text(&r, COLUMN_OF_START, text, sizeof text);
	}
	cr_expect(!strcmp(text, wanted[0]) || !strcmp(text, wanted[1]), "%s, not %s", text,
		  wanted[0]);
}

Test(columns, a_start_is_an_hour_a_day_or_a_year)
{
	const time_t now = time(NULL);
	struct tm today;

	localtime_r(&now, &today);
	expect_opened(0, "%H:%M");
	expect_opened(400 * 86400, "%Y");
	if (today.tm_yday >= 2)
		expect_opened(2 * 86400, "%b%d");
	else
		expect_opened(3 * 86400, "%Y");
}

/* ---- several sessions ---- */

static void expect_sum(const struct session_row *rows, size_t count, enum column column,
		       const char *wanted)
{
	char text[FORMAT_CELL_BYTES];
	struct figure f;

	columns_sum(rows, count, column, &f);
	columns_figure_text(&f, column, rows[0].now_ns, text, sizeof text);
	cr_expect_str_eq(text, wanted, "%s: %s, not %s", columns_key(column), text, wanted);
}

/* Two sessions of one process and one of another. */
Test(columns, sums_are_what_makes_sense_of_a_user)
{
	struct session_row rows[3] = {row(), row(), row()};

	rows[1].s.session = 8;
	rows[2].s.session = 9;
	rows[2].s.pid = 4321;
	rows[2].process.minor_faults = 100;
	rows[2].process.resident_bytes = 7 << 20;
	for (unsigned i = 0; i < 3; i++) {
		set(&rows[i], QUOIT_SESSION_DONE, 10 + i);
		set(&rows[i], QUOIT_SESSION_SQ_MOST, i == 1 ? 77 : 5);
		set(&rows[i], QUOIT_SESSION_BUSY_TICKS, (i == 0 ? 3ull : 1ull) * HZ);
		set(&rows[i], QUOIT_SESSION_CORE_TICKS, HZ);
		set(&rows[i], QUOIT_SESSION_HOST_PEAK, 1 << 20);
	}
	expect_sum(rows, 3, COLUMN_OF_DONE, "33");
	expect_sum(rows, 3, COLUMN_OF_CPU, "30.0");
	expect_sum(rows, 3, COLUMN_OF_SQ_MOST, "77");
	expect_sum(rows, 3, COLUMN_OF_BUSY, "30.0");
	expect_sum(rows, 3, COLUMN_OF_MINOR, "111");
	expect_sum(rows, 3, COLUMN_OF_RSS, "12.0M");
	expect_sum(rows, 3, COLUMN_OF_UID, "4000000");
	expect_sum(rows, 3, COLUMN_OF_PID, "-");
	expect_sum(rows, 2, COLUMN_OF_PID, "1234");
	expect_sum(rows, 3, COLUMN_OF_SESSION, "-");
	expect_sum(rows, 3, COLUMN_OF_PEAK, "1.0M");
	expect_sum(rows, 3, COLUMN_OF_COMMAND, "3 sessions");
	expect_sum(rows, 1, COLUMN_OF_COMMAND, "a job");
	set(&rows[1], QUOIT_SESSION_HOST_PEAK, 2 << 20);
	expect_sum(rows, 3, COLUMN_OF_PEAK, "-");
	rows[1].s.value[QUOIT_SESSION_DONE].known = false;
	expect_sum(rows, 3, COLUMN_OF_DONE, "22");
}

Test(columns, a_user_is_in_the_state_of_its_busiest_session)
{
	struct session_row rows[3] = {row(), row(), row()};

	rows[0].s.ended = true;
	set(&rows[1], QUOIT_SESSION_RUNNING, 0);
	set(&rows[1], QUOIT_SESSION_QUEUED, 0);
	set(&rows[1], QUOIT_SESSION_SERVING, 0);
	expect_sum(rows, 3, COLUMN_OF_STATE, "running");
	expect_sum(rows, 2, COLUMN_OF_STATE, "idle");
	expect_sum(rows, 1, COLUMN_OF_STATE, "closed");
	set(&rows[2], QUOIT_SESSION_RUNNING, 0);
	expect_sum(rows, 3, COLUMN_OF_STATE, "serving");
	set(&rows[2], QUOIT_SESSION_SERVING, 0);
	expect_sum(rows, 3, COLUMN_OF_STATE, "queued");
}

/* ---- choosing and sorting ---- */

static struct column_choices choose(const char *list, bool sorts)
{
	struct column_choices c = {0};

	cr_assert(columns_choose(&c, list, sorts, "test"));
	return c;
}

Test(columns, are_chosen_by_key_or_by_the_name_that_ps_has)
{
	struct column_choices c = choose("pid,comm=WHO  %cpu,rss=", false);

	cr_assert_eq(c.count, 4);
	cr_expect_eq(c.list[0].column, COLUMN_OF_PID);
	cr_expect_str_eq(c.list[0].title, "PID");
	cr_expect_eq(c.list[1].column, COLUMN_OF_COMMAND);
	cr_expect_str_eq(c.list[1].title, "WHO");
	cr_expect_eq(c.list[2].column, COLUMN_OF_CPU);
	cr_expect_str_eq(c.list[3].title, "");
	c = choose("-pid,+rss,user", true);
	cr_assert_eq(c.count, 3);
	cr_expect(c.list[0].descending && !c.list[1].descending && !c.list[2].descending);
}

Test(columns, at_most_twice_as_many_as_there_are_can_be_chosen)
{
	struct column_choices c = {0};

	for (unsigned i = 0; i < 2 * COLUMN_NR; i++)
		cr_assert(columns_choose(&c, "pid", false, "test"));
	cr_expect_not(columns_choose(&c, "pid", false, "test"));
	cr_expect_eq(c.count, 2 * COLUMN_NR);
}

Test(columns, an_unknown_key_is_named_with_the_place_where_all_are_told)
{
	FILE *const kept = stderr;
	struct column_choices c = {0};
	char *text = NULL;
	size_t size;

	stderr = open_memstream(&text, &size);
	cr_expect_not(columns_choose(&c, "pid,qqqqq,user", false, "test"));
	fclose(stderr);
	stderr = kept;
	cr_expect_str_eq(text, "quoit test: unknown column 'qqqqq' (see quoit ps --columns)\n");
	cr_expect_eq(c.count, 1);
	free(text);
}

Test(columns, ask_of_a_process_what_they_show_and_no_more)
{
	struct column_choices c = choose("pid,%cpu", false);

	cr_expect_eq(columns_need(&c), 0);
	cr_expect_not(columns_need_latency(&c));
	c = choose("rss,minflt", false);
	cr_expect_eq(columns_need(&c), PROCESS_NEED_RESIDENT | PROCESS_NEED_FAULTS);
	c = choose("pss,nodes", false);
	cr_expect_eq(columns_need(&c), PROCESS_NEED_SMAPS | PROCESS_NEED_NUMA);
	c = choose("p99,pid", false);
	cr_expect_eq(columns_need(&c), 0);
	cr_expect(columns_need_latency(&c));
}

/* Expect rows 0 to 3 in this order. */
static void expect_order(const char *by, const char *wanted)
{
	struct session_row rows[4];
	struct column_choices c = choose(by, true);
	char got[5] = "";

	for (unsigned i = 0; i < 4; i++) {
		rows[i] = row();
		rows[i].s.session = i;
		snprintf(rows[i].s.name, sizeof rows[i].s.name, "%c", "cbda"[i]);
		set(&rows[i], QUOIT_SESSION_DONE, i == 0 ? 5 : 9);
		set(&rows[i], QUOIT_SESSION_CORE_TICKS, (i == 3 ? 1ull : 2ull) * HZ);
	}
	rows[1].s.value[QUOIT_SESSION_DONE].known = false;
	columns_sort(&c, rows, 4);
	for (unsigned i = 0; i < 4; i++)
		got[i] = (char)('0' + rows[i].s.session);
	cr_expect_str_eq(got, wanted, "by %s: %s, not %s", by, got, wanted);
}

Test(columns, sort_by_the_first_and_then_by_the_next_and_last_by_session)
{
	expect_order("session", "0123");
	expect_order("-session", "3210");
	expect_order("command", "3102");
	expect_order("done", "1023"); /* an unknown figure is the least */
	expect_order("-done", "2301");
	expect_order("%cpu,-session", "3210");
	expect_order("-%cpu", "0123");
	expect_order("-%cpu,done", "1023");
}

/* ---- printing ---- */

static void expect_printed(const char *list, bool headers, unsigned width, const char *wanted)
{
	struct session_row rows[2] = {row(), row()};
	struct column_choices c = choose(list, false);
	FILE *const kept = stdout;
	char *text = NULL;
	size_t size;

	rows[1].s.session = 12345;
	stdout = open_memstream(&text, &size);
	columns_print(&c, rows, 2, headers, width);
	fclose(stdout);
	stdout = kept;
	cr_expect_str_eq(text, wanted, "printed:\n%swanted:\n%s", text, wanted);
	free(text);
}

Test(columns, are_printed_under_their_titles_unless_all_are_empty)
{
	expect_printed("session,command", true, 0,
		       "SESSION COMMAND\n      7 a job\n  12345 a job\n");
	expect_printed("session,command", true, 9, "SESSION C\n      7 a\n  12345 a\n");
	expect_printed("session,command", false, 0, "    7 a job\n12345 a job\n");
	expect_printed("session=,command=X", true, 0, "      X\n    7 a job\n12345 a job\n");
	expect_printed("session=,command=", true, 0, "    7 a job\n12345 a job\n");
}

Test(columns, a_key_in_json_ends_with_its_unit)
{
	static const struct {
		enum column column;
		const char *key;
	} cases[] = {
		{COLUMN_OF_CPU, "cpu_percent"},
		{COLUMN_OF_RATE, "rate_per_second"},
		{COLUMN_OF_MOVED, "bytes_per_second"},
		{COLUMN_OF_TIME, "time_seconds"},
		{COLUMN_OF_START, "start_time_seconds"},
		{COLUMN_OF_STALLED, "mem_wait_percent"},
		{COLUMN_OF_USED, "used_bytes"},
		{COLUMN_OF_P99, "p99_seconds"},
		{COLUMN_OF_DEPTH, "aqu"},
		{COLUMN_OF_PID, "pid"},
		{COLUMN_OF_USER, "user"},
		{COLUMN_OF_REMOTE, "remote_percent"},
		{COLUMN_OF_ELAPSED, "etime_seconds"},
	};
	char key[64];

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		figure_json_key(columns_key(cases[i].column), columns_kind(cases[i].column), key,
				sizeof key);
		cr_expect_str_eq(key, cases[i].key, "%s, not %s", key, cases[i].key);
	}
}
