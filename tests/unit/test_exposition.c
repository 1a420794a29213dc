/* SPDX-License-Identifier: MIT */
/* test_exposition.c - metrics as text, in both formats */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "exporter/exposition.h"

static const struct exposition_label none[] = {{0}};
static const struct exposition_family counter = {"q_work_seconds", EXPOSITION_COUNTER, "seconds",
						 "Time at work."};
static const struct exposition_family gauge = {"q_open", EXPOSITION_GAUGE, NULL, "How many."};

/* ---- the output ---- */

struct text {
	struct exposition e;
	char *bytes;
	size_t size;
};

static void begin(struct text *t, bool openmetrics)
{
	*t = (struct text){.e = {.openmetrics = openmetrics}};
	t->e.out = open_memstream(&t->bytes, &t->size);
	cr_assert(t->e.out);
}

static void expect(struct text *t, const char *text)
{
	exposition_end(&t->e);
	fclose(t->e.out);
	cr_expect_str_eq(t->bytes, text);
	free(t->bytes);
}

/* ---- the text ---- */

Test(exposition, openmetrics_names_the_family_and_its_unit_and_ends)
{
	struct text t;

	begin(&t, true);
	exposition_family(&t.e, &counter);
	exposition_real(&t.e, none, 1.5);
	expect(&t, "# TYPE q_work_seconds counter\n"
		   "# UNIT q_work_seconds seconds\n"
		   "# HELP q_work_seconds Time at work.\n"
		   "q_work_seconds_total 1.500000000\n"
		   "# EOF\n");
}

Test(exposition, the_old_format_names_the_sample_and_has_no_end)
{
	struct text t;

	begin(&t, false);
	exposition_family(&t.e, &counter);
	exposition_count(&t.e, none, UINT64_MAX);
	expect(&t, "# TYPE q_work_seconds_total counter\n"
		   "# HELP q_work_seconds_total Time at work.\n"
		   "q_work_seconds_total 18446744073709551615\n");
}

Test(exposition, an_info_is_a_gauge_in_the_old_format)
{
	static const struct exposition_family info = {"q_build", EXPOSITION_INFO, NULL, "Version."};
	struct text t;

	begin(&t, true);
	exposition_family(&t.e, &info);
	exposition_count(&t.e, none, 1);
	expect(&t, "# TYPE q_build info\n# HELP q_build Version.\nq_build_info 1\n# EOF\n");
	begin(&t, false);
	exposition_family(&t.e, &info);
	exposition_count(&t.e, none, 1);
	expect(&t, "# TYPE q_build_info gauge\n# HELP q_build_info Version.\nq_build_info 1\n");
}

Test(exposition, a_family_has_its_header_once_and_none_without_samples)
{
	struct text t;

	begin(&t, false);
	exposition_family(&t.e, &counter);
	for (unsigned i = 0; i < 2; i++) {
		exposition_family(&t.e, &gauge);
		exposition_count(&t.e, none, i);
	}
	expect(&t, "# TYPE q_open gauge\n# HELP q_open How many.\nq_open 0\nq_open 1\n");
}

Test(exposition, label_values_are_escaped_and_those_that_are_null_left_out)
{
	const struct exposition_label labels[] = {
		{"left", NULL}, {"a", "x\\y\"z\n"}, {"out", NULL}, {"b", ""}, {0}};
	struct text t;

	begin(&t, false);
	exposition_family(&t.e, &gauge);
	exposition_count(&t.e, labels, 1);
	exposition_count(&t.e, (struct exposition_label[]){{"left", NULL}, {0}}, 2);
	expect(&t, "# TYPE q_open gauge\n# HELP q_open How many.\n"
		   "q_open{a=\"x\\\\y\\\"z\\n\",b=\"\"} 1\n"
		   "q_open 2\n");
}

Test(exposition, a_histogram_has_buckets_up_to_infinity_a_count_and_a_sum)
{
	static const struct exposition_family family = {"q_latency_seconds", EXPOSITION_HISTOGRAM,
							"seconds", "Time."};
	const struct exposition_bucket buckets[] = {{"0.1", 3}, {"1.0", 4}};
	const struct exposition_label labels[] = {{"phase", "run"}, {0}};
	struct text t;

	begin(&t, true);
	exposition_family(&t.e, &family);
	exposition_histogram(&t.e, labels, buckets, 2, 6, 7.25);
	expect(&t, "# TYPE q_latency_seconds histogram\n"
		   "# UNIT q_latency_seconds seconds\n"
		   "# HELP q_latency_seconds Time.\n"
		   "q_latency_seconds_bucket{phase=\"run\",le=\"0.1\"} 3\n"
		   "q_latency_seconds_bucket{phase=\"run\",le=\"1.0\"} 4\n"
		   "q_latency_seconds_bucket{phase=\"run\",le=\"+Inf\"} 6\n"
		   "q_latency_seconds_count{phase=\"run\"} 6\n"
		   "q_latency_seconds_sum{phase=\"run\"} 7.250000000\n"
		   "# EOF\n");
}

/* ---- the choice of a format ---- */

struct accept {
	char accept[120];
	bool taken;
};

ParameterizedTestParameters(exposition, openmetrics_is_for_who_takes_it)
{
	static struct accept rows[] = {
		{"application/openmetrics-text", true},
		{"application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5", true},
		{"text/plain;q=0.5, application/openmetrics-text; version=1.0.0; q=0.8", true},
		{"Application/OpenMetrics-Text ; Q=1", true},
		{"application/openmetrics-text;q=0", false},
		{"application/openmetrics-text; version=1.0.0; q=0.000, text/plain", false},
		{"application/openmetrics-textual", false},
		{"application/openmetrics", false},
		{"text/plain;version=0.0.4", false},
		{"text/plain;x=application/openmetrics-text", false},
		{"*/*", false},
		{"", false},
		{",,;;,", false},
	};

	return cr_make_param_array(struct accept, rows, sizeof rows / sizeof rows[0]);
}

ParameterizedTest(struct accept *row, exposition, openmetrics_is_for_who_takes_it)
{
	cr_expect_eq(exposition_accepts_openmetrics(row->accept), row->taken, "%s", row->accept);
}

Test(exposition, who_says_nothing_gets_the_old_format)
{
	cr_expect_not(exposition_accepts_openmetrics(NULL));
	cr_expect(strstr(exposition_content_type(false), "text/plain; version=0.0.4;"));
	cr_expect(strstr(exposition_content_type(true),
			 "application/openmetrics-text; version=1.0.0;"));
}
