/* SPDX-License-Identifier: MIT */
/* test_report_page.c - a report's figures, and that no part of a recording becomes HTML in it */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <jansson.h>

#include "recording_case.h"
#include "trace/page.h"
#include "trace/summary.h"

#define HOSTILE "</script>\"\\\x01\xff<!--"

static void put(struct recording_case *c, struct quoit_trace_record job)
{
	case_put(c, 1, &job);
}

/* ---- figures ---- */

Test(trace_summary, figures_of_an_operation_are_those_of_its_jobs)
{
	struct recording_case c;
	struct summary s;
	struct summary_operation *o;
	struct quoit_trace_record failed = case_job(100, 10, 20, 30);

	failed.place = QUOIT_TRACE_NOWHERE;
	failed.res = -22;
	case_begin(&c);
	case_session(&c, 1, "");
	for (uint32_t i = 0; i < 99; i++)
		put(&c, case_job(i, 0, 1000, 2000));
	put(&c, case_job(99, 0, 1000, 50000));
	put(&c, failed);
	cr_assert_eq(case_load(&c), 0);
	cr_assert_eq(summary_make(&s, &c.reader, &c.rec), 0);
	o = s.group[SUMMARY_ALL].operation[QUOIT_OP_GEMM];
	cr_assert(o);
	cr_expect_eq(o->jobs, 101);
	cr_expect_eq(o->ran, 100);
	cr_expect_eq(o->failed, 1);
	cr_expect_eq(o->most_ns, 49000);
	cr_expect_float_eq(o->run_ns, 99 * 1000.0 + 49000, 1);
	cr_expect_float_eq(o->turn_ns, 100 * 1000.0, 1);
	cr_expect_float_eq(summary_percentile(o, 50), 1000, 20);
	cr_expect_float_eq(summary_percentile(o, 99), 1000, 20);
	cr_expect_float_eq(summary_percentile(o, 100), 49000, 800);
	summary_free(&s);
	case_end(&c);
}

Test(trace_summary, waits_for_others_are_summed_up_by_what_they_are_for)
{
	struct quoit_trace_record call = {.kind = QUOIT_TRACE_NAMED,
					  .opcode = QUOIT_OP_CALL,
					  .named = {.kind = QUOIT_SYNC_QUEUE,
						    .function = QUOIT_SYNC_SEND,
						    .number = 7,
						    .asked = CASE_TSC + 1000,
						    .began = CASE_TSC + 4000,
						    .stalled = 2000}};
	struct recording_case c;
	struct summary s;

	case_begin(&c);
	case_session(&c, 1, "");
	case_session(&c, 2, "");
	case_put(&c, 1, &call);
	case_put(&c, 2, &call);
	call.named.stalled = 9000; /* more than it waited */
	call.named.function = QUOIT_SYNC_RECEIVE;
	case_put(&c, 1, &call);
	call.named.kind = QUOIT_SYNC_LOCK;
	call.named.function = QUOIT_SYNC_UNLOCK; /* that does not wait */
	case_put(&c, 1, &call);
	cr_assert_eq(case_load(&c), 0);
	cr_assert_eq(summary_make(&s, &c.reader, &c.rec), 0);
	cr_assert_eq(s.named, 2);
	cr_expect_eq(s.named_wait[0].first.function, QUOIT_SYNC_SEND);
	cr_expect_eq(s.named_wait[0].times, 2);
	cr_expect_eq(s.named_wait[0].waited_ns, 6000);
	cr_expect_eq(s.named_wait[0].stalled_ns, 4000);
	cr_expect_eq(s.named_wait[1].stalled_ns, 3000);
	summary_free(&s);
	case_end(&c);
}

Test(trace_summary, the_density_of_a_track_is_how_many_there_are_at_a_time)
{
	const struct trace_end end = {.tsc = CASE_TSC + SUMMARY_BINS * 1000};
	double bins[SUMMARY_BINS];
	struct recording_case c;
	struct summary s;
	int track = -1;

	case_begin(&c);
	case_session(&c, 1, "");
	put(&c, case_job(0, 0, 500, 10250)); /* bins of 1000 ns */
	put(&c, case_job(1, 0, 2000, 3000));
	trace_writer_put(&c.writer, TRACE_END, 0, &end, sizeof end);
	cr_assert_eq(case_load(&c), 0);
	cr_assert_eq(summary_make(&s, &c.reader, &c.rec), 0);
	for (unsigned i = 0; i < s.tracks; i++)
		if (s.track[i].kind == SUMMARY_PLACE)
			track = (int)i;
	cr_assert_geq(track, 0);
	summary_density(&s.track[track].density, bins);
	cr_expect_float_eq(bins[0], 0.5, 1e-6);
	cr_expect_float_eq(bins[1], 1, 1e-6);
	cr_expect_float_eq(bins[2], 2, 1e-6);
	cr_expect_float_eq(bins[9], 1, 1e-6);
	cr_expect_float_eq(bins[10], 0.25, 1e-6);
	cr_expect_float_eq(bins[11], 0, 1e-6);
	summary_free(&s);
	case_end(&c);
}

Test(trace_summary, a_level_stays_until_there_is_another)
{
	const struct trace_end end = {.tsc = CASE_TSC + SUMMARY_BINS * 1000};
	struct recording_case c;
	struct summary s;
	const double *open;

	case_begin(&c);
	case_session(&c, 1, "");
	case_session(&c, 2, "");
	case_level(&c, 1, 1500, 4);
	case_level(&c, 1, 1600, 2);
	case_level(&c, 2, 3500, 10);
	case_level(&c, 1, 5500, 0);
	trace_writer_put(&c.writer, TRACE_END, 0, &end, sizeof end);
	cr_assert_eq(case_load(&c), 0);
	cr_assert_eq(summary_make(&s, &c.reader, &c.rec), 0);
	open = s.group[SUMMARY_ALL].series[SUMMARY_OPEN];
	cr_expect_eq(open[0], 0);
	cr_expect_eq(open[1], 4, "the most within the bin");
	cr_expect_eq(open[2], 2);
	cr_expect_eq(open[3], 12, "of both together");
	cr_expect_eq(open[6], 10);
	cr_expect_eq(open[SUMMARY_BINS - 1], 10);
	summary_free(&s);
	case_end(&c);
}

Test(trace_summary, the_longest_are_chosen_and_no_more_than_asked_for)
{
	static uint32_t bucket[QUOIT_LATENCY_BUCKETS];
	struct summary_choice c;
	unsigned chosen = 0;

	for (int64_t ns = 0; ns < 10000; ns++)
		bucket[quoit_latency_bucket((uint64_t)ns)]++;
	summary_choose(&c, bucket, 1000);
	for (int64_t ns = 0; ns < 10000; ns++) {
		bool is = summary_is_chosen(&c, ns);

		chosen += is;
		cr_assert(!is || ns >= 8850, "%d", (int)ns);
	}
	cr_expect_eq(chosen, 1000);
	summary_choose(&c, bucket, 20000);
	chosen = 0;
	for (int64_t ns = 0; ns < 10000; ns++)
		chosen += summary_is_chosen(&c, ns);
	cr_expect_eq(chosen, 10000, "all of them");
}

Test(trace_summary, each_stream_of_a_device_is_a_track)
{
	struct recording_case c;
	struct summary s;
	unsigned streams = 0;

	case_begin(&c);
	case_session(&c, 1, "");
	for (uint32_t i = 0; i < 6; i++) {
		struct quoit_trace_record job = case_job(i, 0, 100 + 100 * i, 150 + 100 * i);

		job.place = (uint8_t)(QUOIT_TRACE_STREAM + 2 + i % 2);
		put(&c, job);
	}
	cr_assert_eq(case_load(&c), 0);
	cr_assert_eq(summary_make(&s, &c.reader, &c.rec), 0);
	for (unsigned i = 0; i < s.tracks; i++)
		streams += !strcmp(s.track[i].name, "device 1, stream 2") +
			   !strcmp(s.track[i].name, "device 1, stream 3");
	cr_expect_eq(streams, 2);
	summary_free(&s);
	case_end(&c);
}

/* ---- the page ---- */

static char *text;

/* The text between the two; the caller frees it. */
static char *between(const char *begin, const char *end)
{
	const char *from = strstr(text, begin), *to;

	cr_assert(from, "%s", begin);
	from += strlen(begin);
	to = strstr(from, end);
	cr_assert(to, "%s", end);
	return strndup(from, (size_t)(to - from));
}

static unsigned times(const char *what)
{
	unsigned n = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

Test(trace_page, nothing_of_a_recording_is_html_in_it)
{
	struct recording_case c;
	json_error_t error;
	json_t *json;
	char *data;

	case_busy(&c, HOSTILE);
	text = case_text(&c, page_write);
	cr_expect_eq(times("</script>"), 2, "those of the page itself");
	cr_expect_eq(times("<!--"), 0);
	data = between("id=\"data\">", "</script>");
	json = json_loads(data, 0, &error);
	cr_assert(json, "%s at line %d", error.text, error.line);
	cr_expect_str_eq(json_string_value(json_object_get(
				 json_array_get(json_object_get(json, "groups"), 1), "name")),
			 "</script>\"\\x5c\\x01\\xff<!--");
	cr_expect_eq(json_array_size(json_object_get(json, "slices")), 40 * 8);
	cr_expect_eq(json_array_size(json_object_get(json, "waits")), 4);
	cr_expect(strstr(text, "<title>program --of=&#34;words&#34;"));
	json_decref(json);
	free(data);
	free(text);
	case_end(&c);
}

Test(trace_page, it_needs_nothing_from_elsewhere)
{
	struct recording_case c;

	case_busy(&c, HOSTILE);
	text = case_text(&c, page_write);
	cr_expect_eq(times("http"), 2, "the policy's name, and that of SVG");
	cr_expect(strstr(text, "default-src 'none'"));
	cr_expect_eq(times(" src="), 0);
	cr_expect_eq(times("@import"), 0);
	cr_expect_eq(times("url("), 0);
	cr_expect_eq(times("{{"), 0, "nothing is left to be put in");
	free(text);
	case_end(&c);
}

Test(trace_page, a_recording_of_nothing_is_a_page)
{
	struct recording_case c;
	json_t *json;
	char *data;

	case_begin(&c);
	text = case_text(&c, page_write);
	data = between("id=\"data\">", "</script>");
	json = json_loads(data, 0, NULL);
	cr_expect(json);
	json_decref(json);
	free(data);
	free(text);
	case_end(&c);
}

Test(trace_page, of_many_jobs_the_longest_are_shown)
{
	struct recording_case c;
	json_t *json;
	char *data;

	case_begin(&c);
	case_session(&c, 1, "");
	for (uint32_t i = 0; i < SUMMARY_SLICES + 1000; i++)
		put(&c, case_job(i, i, i + 1, i + (i % 2 ? 20 : 500)));
	text = case_text(&c, page_write);
	data = between("id=\"data\">", "</script>");
	json = json_loads(data, 0, NULL);
	cr_assert(json);
	cr_expect_eq(json_array_size(json_object_get(json, "slices")), SUMMARY_SLICES * 8);
	cr_expect_eq(json_integer_value(json_object_get(json, "jobs")), SUMMARY_SLICES + 1000);
	json_decref(json);
	free(data);
	free(text);
	case_end(&c);
}

/* JSON readers have 63 bits, and the bytes of two sessions together may be more. */
Test(trace_page, no_figure_is_too_large_for_a_reader)
{
	struct recording_case c;
	json_t *json;
	char *data;

	case_begin(&c);
	for (uint64_t session = 1; session <= 2; session++) {
		struct quoit_trace_record r = {
			.kind = QUOIT_TRACE_COUNTS,
			.counts = {.tsc = CASE_TSC + 10, .host_used = UINT64_MAX}};

		case_session(&c, session, "");
		case_put(&c, session, &r);
	}
	text = case_text(&c, page_write);
	data = between("id=\"data\">", "</script>");
	json = json_loads(data, 0, NULL);
	cr_expect(json, "%s", data);
	json_decref(json);
	free(data);
	free(text);
	case_end(&c);
}
