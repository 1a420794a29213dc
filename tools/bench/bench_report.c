/* SPDX-License-Identifier: MIT */
/* bench_report.c - measure the series of a plan in turn, keep the samples, and print them */
#include "bench_report.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_apart.h"
#include "read/format.h"

#define MOST_SERIES 64

struct report {
	const struct bench_plan *plan;
	struct report_settings set;
	unsigned series;
	bool left_out[MOST_SERIES]; /* not chosen by the user */
	bool missing[MOST_SERIES];  /* -ENOTSUP: this machine cannot measure it */
	double *samples;            /* by round, then by series; NAN: not measured */
};

struct summary {
	double median, least, most;
};

struct report *report_new(const struct bench_plan *plan, const struct report_settings *set)
{
	struct report *r = calloc(1, sizeof *r);
	size_t n;

	if (!r)
		return NULL;
	r->plan = plan;
	r->set = *set;
	while (plan->series[r->series].name)
		r->series++;
	assert(r->series <= MOST_SERIES);
	n = (size_t)set->rounds * r->series;
	r->samples = malloc(n * sizeof *r->samples);
	if (!r->samples) {
		free(r);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		r->samples[i] = NAN;
	return r;
}

void report_free(struct report *r)
{
	if (r)
		free(r->samples);
	free(r);
}

static unsigned find_series(const struct report *r, const char *name, size_t length)
{
	unsigned i = 0;

	while (i < r->series && (strncmp(r->plan->series[i].name, name, length) != 0 ||
				 r->plan->series[i].name[length]))
		i++;
	return i;
}

/* Series that are measured together are chosen together. */
static void choose(struct report *r, unsigned i)
{
	while (!r->plan->series[i].measure)
		i--;
	do
		r->left_out[i++] = false;
	while (i < r->series && !r->plan->series[i].measure);
}

const char *report_choose(struct report *r, const char *names)
{
	for (unsigned i = 0; i < r->series; i++)
		r->left_out[i] = true;
	for (const char *word = names;; word++) {
		size_t length = strcspn(word, ",");
		unsigned i = find_series(r, word, length);

		if (i == r->series)
			return word;
		choose(r, i);
		word += length;
		if (!*word)
			return NULL;
	}
}

/* ---- measuring ---- */

static double *sample(const struct report *r, unsigned round, unsigned series)
{
	return &r->samples[(size_t)round * r->series + series];
}

/* A measure fills its own series and the following ones that have no measure. */
static unsigned measured_together(const struct report *r, unsigned i)
{
	unsigned end = i + 1;

	while (end < r->series && !r->plan->series[end].measure)
		end++;
	return end - i;
}

/* Write a line for each sample at once, so that it is kept whatever happens later. */
static void keep_samples(const struct report *r, unsigned round, unsigned i, int err)
{
	const struct bench_series *s = r->plan->series;

	for (unsigned end = i + measured_together(r, i); r->set.kept && i < end; i++) {
		json_t *line = json_pack("{s:s, s:s, s:i, s:s}", "bench", r->plan->name, "series",
					 s[i].name, "round", (int)round, "unit", s[i].unit);

		if (err)
			json_object_set_new(line, "error", json_string(quoit_strerror(err)));
		else
			json_object_set_new(line, "value", json_real(*sample(r, round, i)));
		json_dumpf(line, r->set.kept, JSON_COMPACT);
		fputc('\n', r->set.kept);
		fflush(r->set.kept);
		json_decref(line);
	}
}

static void say_failure(const struct report *r, const char *name, int err)
{
	if (err == -ETIMEDOUT)
		fprintf(stderr, "quoit bench: %s took more than %u s and was stopped (--limit)\n",
			name, r->set.limit_s);
	else
		fprintf(stderr, "quoit bench: %s was not measured: %s\n", name,
			quoit_strerror(err));
}

static int measure_one(struct report *r, const struct bench *b, unsigned round, unsigned i)
{
	struct bench_series s = r->plan->series[i];
	const unsigned together = measured_together(r, i);
	int err;

	s.count *= r->set.length;
	err = bench_apart(b, &s, together, r->set.limit_s, sample(r, round, i));
	if (err == -ENOTSUP) {
		for (unsigned k = 0; k < together; k++)
			r->missing[i + k] = true;
		return 0;
	}
	keep_samples(r, round, i, err);
	if (err && err != -EINTR)
		say_failure(r, s.name, err);
	return err;
}

int report_measure(struct report *r, const struct bench *b)
{
	int err, first = 0;

	bench_apart_catch_signals();
	for (unsigned round = 0; round < r->set.rounds; round++)
		for (unsigned i = 0; i < r->series; i++) {
			if (!r->plan->series[i].measure || r->missing[i] || r->left_out[i])
				continue;
			err = measure_one(r, b, round, i);
			if (err == -EINTR)
				return err;
			first = first ? first : err;
		}
	return first;
}

/* ---- summing up ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sum up those of `n` values that were measured; false: none was. */
static bool sum_up(double *value, unsigned n, struct summary *ret)
{
	unsigned have = 0;

	for (unsigned i = 0; i < n; i++)
		if (!isnan(value[i]))
			value[have++] = value[i];
	if (!have)
		return false;
	qsort(value, have, sizeof *value, by_value);
	*ret = (struct summary){.median = have % 2 ? value[have / 2]
						   : (value[have / 2 - 1] + value[have / 2]) / 2,
				.least = value[0],
				.most = value[have - 1]};
	return true;
}

static bool sum_up_series(const struct report *r, unsigned series, struct summary *ret)
{
	double *value = calloc(r->set.rounds, sizeof *value);
	bool known;

	if (!value)
		return false;
	for (unsigned round = 0; round < r->set.rounds; round++)
		value[round] = *sample(r, round, series);
	known = sum_up(value, r->set.rounds, ret);
	free(value);
	return known;
}

static unsigned side(const struct report *r, const char *name)
{
	return find_series(r, name, strlen(name));
}

/* Was one side of the ratio left out? */
static bool is_left_out(const struct report *r, const struct bench_ratio *ratio)
{
	return r->left_out[side(r, ratio->ours)] || r->left_out[side(r, ratio->theirs)];
}

/*
 * Sum up the ratios of each round.  An event that changes the machine for seconds, such as a move
 * of the virtual cores, changes both sides of a round; the two medians may come from different
 * states.
 */
static bool sum_up_ratio(const struct report *r, const struct bench_ratio *ratio,
			 struct summary *ret)
{
	unsigned ours = side(r, ratio->ours), theirs = side(r, ratio->theirs);
	double *value = calloc(r->set.rounds, sizeof *value);
	bool known;

	if (!value)
		return false;
	for (unsigned round = 0; round < r->set.rounds; round++)
		value[round] = *sample(r, round, ours) / *sample(r, round, theirs);
	known = sum_up(value, r->set.rounds, ret);
	free(value);
	return known;
}

/* ---- printing ---- */

/* Four significant digits, and never an exponent. */
static int digits(double x)
{
	return x >= 1000 ? 0 : x >= 100 ? 1 : x >= 10 ? 2 : 3;
}

static void add_line(struct format_table *t, const char *name, const struct summary *s,
		     const char *unit)
{
	format_cell(t, "%s", name);
	if (s) {
		format_cell(t, "%.*f", digits(s->median), s->median);
		format_cell(t, "%.*f-%.*f", digits(s->least), s->least, digits(s->most), s->most);
	} else {
		format_cell(t, "-");
		format_cell(t, "-");
	}
	format_cell(t, "%s", unit);
}

void report_print(const struct report *r)
{
	static const struct format_column columns[] = {
		{"NAME", true}, {"MEDIAN", false}, {"SPREAD", false}, {"UNIT", true}};
	struct format_table t = {.columns = columns, .count = sizeof columns / sizeof columns[0]};
	struct summary s;

	for (unsigned i = 0; i < r->series; i++)
		if (!r->left_out[i])
			add_line(&t, r->plan->series[i].name, sum_up_series(r, i, &s) ? &s : NULL,
				 r->plan->series[i].unit);
	for (const struct bench_ratio *ratio = r->plan->ratios; ratio->key; ratio++)
		if (!is_left_out(r, ratio))
			add_line(&t, ratio->key, sum_up_ratio(r, ratio, &s) ? &s : NULL, "ratio");
	format_print(&t, true);
}

static json_t *summary_json(bool known, const struct summary *s, const char *unit)
{
	if (!known)
		return json_null();
	return json_pack("{s:f, s:f, s:f, s:s}", "median", s->median, "least", s->least, "most",
			 s->most, "unit", unit);
}

static json_t *series_json(const struct report *r, unsigned i)
{
	struct summary s;
	json_t *json, *samples;

	if (!sum_up_series(r, i, &s))
		return json_null();
	json = summary_json(true, &s, r->plan->series[i].unit);
	samples = json_array();
	for (unsigned round = 0; round < r->set.rounds; round++)
		json_array_append_new(samples, isnan(*sample(r, round, i))
						       ? json_null()
						       : json_real(*sample(r, round, i)));
	json_object_set_new(json, "samples", samples);
	return json;
}

bool report_print_json(const struct report *r)
{
	json_t *series = json_object(), *ratios = json_object();
	struct summary s;

	for (unsigned i = 0; i < r->series; i++)
		if (!r->left_out[i])
			json_object_set_new(series, r->plan->series[i].name, series_json(r, i));
	for (const struct bench_ratio *ratio = r->plan->ratios; ratio->key; ratio++)
		if (!is_left_out(r, ratio))
			json_object_set_new(ratios, ratio->key,
					    summary_json(sum_up_ratio(r, ratio, &s), &s, "ratio"));
	return format_json_print(json_pack("{s:s, s:i, s:o, s:o}", "bench", r->plan->name, "rounds",
					   (int)r->set.rounds, "series", series, "ratios", ratios));
}
