/* SPDX-License-Identifier: MIT */
/* bench_report.c - measure the series of a plan in turn, keep the samples, print them */
#include "bench_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

#define MOST_SERIES 32

struct report {
	const struct bench_plan *plan;
	unsigned rounds;
	unsigned length;
	unsigned series;
	bool left_out[MOST_SERIES]; /* nobody asked for it */
	bool missing[MOST_SERIES];  /* -ENOTSUP: not to be had here */
	double *samples;            /* by round, then by series */
};

struct summary {
	double median, least, most;
};

struct report *report_new(const struct bench_plan *plan, unsigned rounds, unsigned length)
{
	struct report *r = calloc(1, sizeof *r);

	if (!r)
		return NULL;
	r->plan = plan;
	r->rounds = rounds;
	r->length = length;
	while (plan->series[r->series].name)
		r->series++;
	/* A measurement fills the series that follow it as well. */
	r->samples = calloc((size_t)rounds * r->series, sizeof *r->samples);
	if (r->samples)
		return r;
	free(r);
	return NULL;
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

/* What is measured together is chosen together. */
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

static int measure_one(struct report *r, const struct bench *b, unsigned round, unsigned i)
{
	struct bench_series s = r->plan->series[i];
	int err;

	if (!s.measure || r->missing[i] || r->left_out[i])
		return 0;
	s.count *= r->length;
	err = s.measure(b, &s, sample(r, round, i));
	if (err == -ENOTSUP) {
		do
			r->missing[i++] = true;
		while (i < r->series && !r->plan->series[i].measure);
		return 0;
	}
	if (err)
		fprintf(stderr, "quoit bench: %s was not measured\n", s.name);
	return err;
}

int report_measure(struct report *r, const struct bench *b)
{
	int err = 0;

	for (unsigned round = 0; !err && round < r->rounds; round++)
		for (unsigned i = 0; !err && i < r->series; i++)
			err = measure_one(r, b, round, i);
	return err;
}

/* ---- summing up ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of `n` values, which are sorted on the way. */
static struct summary sum_up(double *value, unsigned n)
{
	qsort(value, n, sizeof *value, by_value);
	return (struct summary){.median = n % 2 ? value[n / 2]
						: (value[n / 2 - 1] + value[n / 2]) / 2,
				.least = value[0],
				.most = value[n - 1]};
}

static bool sum_up_series(const struct report *r, unsigned series, struct summary *ret)
{
	double *value = r->missing[series] ? NULL : calloc(r->rounds, sizeof *value);

	for (unsigned round = 0; value && round < r->rounds; round++)
		value[round] = *sample(r, round, series);
	if (value)
		*ret = sum_up(value, r->rounds);
	free(value);
	return value != NULL;
}

static unsigned side(const struct report *r, const char *name)
{
	return find_series(r, name, strlen(name));
}

/* Was one of its sides left out? */
static bool is_left_out(const struct report *r, const struct bench_ratio *ratio)
{
	return r->left_out[side(r, ratio->ours)] || r->left_out[side(r, ratio->theirs)];
}

/*
 * Of the ratios within each round: what changes the machine for seconds, as a move of the virtual
 * cores does, changes both sides of a round.  The two medians may be of different machines.
 */
static bool sum_up_ratio(const struct report *r, const struct bench_ratio *ratio,
			 struct summary *ret)
{
	unsigned ours = side(r, ratio->ours), theirs = side(r, ratio->theirs);
	double *value;

	if (r->missing[ours] || r->missing[theirs])
		return false;
	value = calloc(r->rounds, sizeof *value);
	if (!value)
		return false;
	for (unsigned round = 0; round < r->rounds; round++)
		value[round] = *sample(r, round, ours) / *sample(r, round, theirs);
	*ret = sum_up(value, r->rounds);
	free(value);
	return true;
}

/* ---- printing ---- */

/* Four digits that matter, and never an exponent. */
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
	for (unsigned round = 0; round < r->rounds; round++)
		json_array_append_new(samples, json_real(*sample(r, round, i)));
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
					   (int)r->rounds, "series", series, "ratios", ratios));
}
