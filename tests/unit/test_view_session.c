/* SPDX-License-Identifier: MIT */
/* test_view_session.c - quoit top's page of one session: its limit, phases, operations and waits */
#include <string.h>

#include <criterion/criterion.h>

#include "top/view_private.h"

static struct view v;
static struct session_row row;
static struct chosen chosen;
static struct latency latency;

/*
 * Session 7, whose latency is known and empty; a tick is a nanosecond, and the last look a second
 * ago.
 */
static void open_page(void)
{
	memset(&v, 0, sizeof v);
	v.width = 120;
	memset(&row, 0, sizeof row);
	row.s.session = 7;
	memset(&latency, 0, sizeof latency);
	latency.session = 7;
	latency.tick_ns = 1;
	latency.bytes_known = true;
	for (unsigned i = 0; i < QUOIT_PHASE_NR; i++)
		latency.known[i] = true;
	for (unsigned i = 0; i < QUOIT_OP_NR; i++)
		latency.operation[i].share = 1;
	chosen = (struct chosen){.session = 7, .since = &latency, .span_ns = 1e9, .known = true};
	chosen.limits.operation = QUOIT_OP_NR;
}

static void close_page(void)
{
	view_free(&v);
}

TestSuite(view_session, .init = open_page, .fini = close_page);

static void fill(unsigned height)
{
	v.count = 0;
	view_begin_line(&v);
	view_session(&v, &row, &chosen, height);
	cr_assert_not(v.failed);
}

/* The number of the line that begins with these words; -1: there is none. */
static int line_of(const char *start)
{
	for (unsigned i = 0; i < v.count; i++)
		if (!strncmp(v.lines[i].text, start, strlen(start)))
			return (int)i;
	return -1;
}

static void expect_line(const char *start, const char *wanted)
{
	int i = line_of(start);

	cr_assert_geq(i, 0, "no line begins with '%s'", start);
	cr_expect_str_eq(v.lines[i].text, wanted, "%s|\n%s|", v.lines[i].text, wanted);
}

static void count(unsigned phase, uint64_t ticks, uint64_t jobs)
{
	latency.count[phase][quoit_latency_bucket(ticks)] += jobs;
}

/* ---- the limit ---- */

Test(view_session, begins_with_its_limit_in_words)
{
	chosen.limits = (struct limits){.by = LIMIT_DATA,
					.percent = 80,
					.operation = QUOIT_OP_GEMM,
					.operation_percent = 70};
	fill(0);
	cr_expect_str_eq(v.lines[0].text, "Limited by data: jobs wait 80% of their time for data "
					  "that other jobs write");
	cr_expect_str_eq(v.lines[1].text, "           of what ran, gemm took 70%");
}

Test(view_session, of_another_session_or_without_a_reading_there_are_only_figures)
{
	fill(0);
	cr_expect_geq(line_of("PHASE"), 0);
	chosen.session = 8;
	fill(0);
	cr_expect_lt(line_of("PHASE"), 0);
	cr_expect_eq(v.count, COLUMN_NR);
	chosen.session = 7;
	chosen.known = false;
	fill(0);
	cr_expect_lt(line_of("PHASE"), 0);
}

/* ---- phases ---- */

Test(view_session, a_phase_has_its_percentiles_its_mean_and_its_part_of_the_time)
{
	count(QUOIT_PHASE_DATA, 100, 50);
	count(QUOIT_PHASE_DATA, 1000, 45);
	count(QUOIT_PHASE_DATA, 20000, 5);
	count(QUOIT_PHASE_RUN, 1500, 100);
	count(QUOIT_PHASE_WHOLE, 3000, 100);
	count(QUOIT_PHASE_POST, 3000, 100);
	count(QUOIT_PHASE_REAP, 3000, 100);
	fill(0);
	expect_line("PHASE", "PHASE                   P50     P90     P99    MOST    MEAN  %TIME ");
	expect_line("waiting_for_data",
		    "waiting_for_data       100n    1.0u   20.1u   20.1u    1.5u   50.2 ");
	expect_line("start_to_end",
		    "start_to_end           1.5u    1.5u    1.5u    1.5u    1.5u   49.8 ");
	expect_line("fetch_to_end", "fetch_to_end           3.0u    3.0u    3.0u    3.0u    3.0u");
	expect_line("end_to_post", "end_to_post            3.0u    3.0u    3.0u    3.0u    3.0u");
	expect_line("post_to_reap", "post_to_reap           3.0u    3.0u    3.0u    3.0u    3.0u");
	cr_expect_eq(v.lines[line_of("post_to_reap") + 1].length, 0, "it is the last one");
	expect_line("waiting_for_memory",
		    "waiting_for_memory        -       -       -       -       -");
}

/* ---- operations ---- */

Test(view_session, operations_come_by_their_time_at_most_six)
{
	static const unsigned order[] = {QUOIT_OP_GEMM, QUOIT_OP_ADD, QUOIT_OP_MUL, QUOIT_OP_DIV,
					 QUOIT_OP_EXP,  QUOIT_OP_MAX, QUOIT_OP_MIN};

	for (unsigned i = 0; i < 7; i++)
		latency.operation[order[i]] = (struct latency_operation){
			.jobs = 10, .timed = 10, .ticks = 1000000 * (9 - i), .share = 1};
	fill(0);
	for (unsigned i = 0; i + 1 < 6; i++)
		cr_expect_eq(line_of(limits_operation(order[i + 1])),
			     line_of(limits_operation(order[i])) + 1, "%u", i);
	cr_expect_eq(line_of("gemm"), line_of("OPERATION") + 1);
	cr_expect_lt(line_of("min"), 0, "the seventh is not shown");
}

Test(view_session, an_operation_has_its_jobs_its_mean_its_part_and_its_bytes)
{
	latency.operation[QUOIT_OP_GEMM] = (struct latency_operation){4, 4, 9000, 1, 5120};
	latency.operation[QUOIT_OP_ADD] = (struct latency_operation){640, 10, 1000, 1, 0};
	latency.operation[QUOIT_OP_MUL] = (struct latency_operation){3, 0, 0, 1, 1024};
	chosen.span_ns = 2e9;
	fill(0);
	expect_line("OPERATION", "OPERATION                  JOBS    EACH    %RUN  BYTES/S ");
	expect_line("gemm", "gemm                          4    2.2u    90.0     2.5K ");
	expect_line("add", "add                         640    100n    10.0       0B ");
	expect_line("mul", "mul                           3       -       -     512B ");
	latency.bytes_known = false;
	fill(0);
	expect_line("gemm", "gemm                          4    2.2u    90.0        - ");
	latency.bytes_known = true;
	chosen.span_ns = -1;
	fill(0);
	expect_line("gemm", "gemm                          4    2.2u    90.0        - ");
}

/* ---- waits ---- */

Test(view_session, places_come_by_their_time_and_their_names_are_escaped)
{
	latency.sites = 4;
	latency.site[0] =
		(struct latency_site){.name = "short", .waits = 10, .ticks = 100, .longest = 20};
	latency.site[1] = (struct latency_site){
		.name = "l\xf6ng", .waits = 4, .ticks = 8000000, .longest = 5000000};
	latency.site[2] =
		(struct latency_site){.name = "", .waits = 1, .ticks = 3000, .longest = 3000};
	latency.site[3] = (struct latency_site){.name = "never", .waits = 0, .ticks = 9000000};
	fill(0);
	expect_line("WAITED AT",
		    "WAITED AT                          TIMES  IN ALL    MEAN    MOST ");
	expect_line("l\\xf6ng",
		    "l\\xf6ng                                4    8.0m    2.0m    5.0m");
	expect_line("(somewhere)",
		    "(somewhere)                            1    3.0u    3.0u    3.0u");
	expect_line("short", "short                                 10    100n     10n     20n");
	cr_expect_eq(line_of("l\\xf6ng"), line_of("WAITED AT") + 1);
	cr_expect_eq(line_of("short"), line_of("(somewhere)") + 1);
	cr_expect_lt(line_of("never"), 0);
}

Test(view_session, without_waits_there_is_no_table_of_them_and_six_at_most)
{
	fill(0);
	cr_expect_lt(line_of("WAITED AT"), 0);
	latency.sites = 10;
	for (unsigned i = 0; i < 10; i++)
		latency.site[i] = (struct latency_site){.name = "here", .waits = 1, .ticks = i};
	fill(0);
	cr_expect_eq(v.lines[line_of("WAITED AT") + 6].text[0], 'h');
	cr_expect_eq(v.lines[line_of("WAITED AT") + 7].length, 0);
}

/* ---- figures ---- */

Test(view_session, figures_are_a_line_each_with_their_meaning_where_there_is_room)
{
	chosen.known = false;
	fill(COLUMN_NR);
	cr_expect_eq(v.count, COLUMN_NR);
	expect_line("SESSION",
		    "SESSION   7               number of the session, as quoit kill takes it");
	fill(COLUMN_NR - 1);
	cr_expect_eq(v.count, (COLUMN_NR + 3) / 4, "four in 120 columns");
	cr_expect(strstr(v.lines[0].text, columns_title((enum column)v.count)), "%s",
		  v.lines[0].text);
	v.width = 40;
	fill(COLUMN_NR - 1);
	cr_expect_eq(v.count, COLUMN_NR);
}
