/* SPDX-License-Identifier: MIT */
/* bench_report.h - measure the series of a plan in turn, keep the samples, print them */
#ifndef QUOIT_TOOLS_BENCH_REPORT_H
#define QUOIT_TOOLS_BENCH_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "bench.h"

struct report;

struct report_settings {
	unsigned rounds;  /* how often each series is measured */
	unsigned length;  /* each measurement of quoit's own has so many times its jobs */
	unsigned limit_s; /* a measurement that takes longer is given up */
	FILE *kept;       /* gets a line of JSON for each sample at once; NULL: none */
};

/* The plan and set->kept stay the caller's, and must last as long.  NULL: out of memory. */
struct report *report_new(const struct bench_plan *plan, const struct report_settings *set);
void report_free(struct report *r);

/*
 * Measure and print no series but these, by commas, and those that are measured with them.  NULL,
 * or where the first name is that the plan does not have.
 */
const char *report_choose(struct report *r, const char *names);

/*
 * Measure everything that was chosen.  A series that fails, or takes longer than the limit, is
 * named on stderr, and the next one goes on.  0; -EINTR: SIGINT or SIGTERM ended it; else the
 * negative errno of the first failure.  What was measured until then is there in each case.
 */
int report_measure(struct report *r, const struct bench *b);

/*
 * A line per series: name, median, "least-most", unit; then a line per ratio: the same of the
 * rounds' own ratios, which need not be the ratio of the medians.  "-": there is no sample.
 */
void report_print(const struct report *r);
bool report_print_json(const struct report *r);

#endif
