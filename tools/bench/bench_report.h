/* SPDX-License-Identifier: MIT */
/* bench_report.h - measure the series of a plan in turn, keep the samples, and print them */
#ifndef QUOIT_TOOLS_BENCH_REPORT_H
#define QUOIT_TOOLS_BENCH_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "bench.h"

struct report;

struct report_settings {
	unsigned rounds;  /* how often each series is measured */
	unsigned length;  /* factor for the number of jobs in each of quoit's own measurements */
	unsigned limit_s; /* a measurement that takes longer is given up */
	FILE *kept;       /* receives a line of JSON for each sample at once; NULL: none */
};

/*
 * The plan and set->kept stay the caller's, and must last as long as the report.  NULL: out of
 * memory.
 */
struct report *report_new(const struct bench_plan *plan, const struct report_settings *set);
void report_free(struct report *r);

/*
 * Choose series by their names, separated by commas; series that are measured together with them
 * are chosen, too.  NULL, or the first name that the plan does not have.
 */
const char *report_choose(struct report *r, const char *names);

/*
 * Measure everything that was chosen.  A series that fails, or takes longer than the limit, is
 * named on stderr, and the next one follows.  0; -EINTR: SIGINT or SIGTERM ended it; else the
 * negative errno of the first failure.  The samples so far stay in each case.
 */
int report_measure(struct report *r, const struct bench *b);

/*
 * Print a line for each series: name, median, "least-most", unit; then a line for each ratio, with
 * the same figures of the rounds' own ratios, which may differ from the ratio of the medians.  "-":
 * there is no sample.
 */
void report_print(const struct report *r);
bool report_print_json(const struct report *r);

#endif
