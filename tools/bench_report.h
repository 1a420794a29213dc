/* SPDX-License-Identifier: MIT */
/* bench_report.h - measure the series of a plan in turn, keep the samples, print them */
#ifndef QUOIT_TOOLS_BENCH_REPORT_H
#define QUOIT_TOOLS_BENCH_REPORT_H

#include <stdbool.h>

#include "bench.h"

struct report;

/* length: each measurement of quoit's own has so many times its jobs.  NULL: out of memory. */
struct report *report_new(const struct bench_plan *plan, unsigned rounds, unsigned length);
void report_free(struct report *r);

/*
 * Measure and print no series but these, by commas, and those that are measured with them.  NULL,
 * or where the first name is that the plan does not have.
 */
const char *report_choose(struct report *r, const char *names);

/* Measure everything that was chosen.  0, or a negative errno after the name of the series on
 * stderr. */
int report_measure(struct report *r, const struct bench *b);

/*
 * A line per series: name, median, "least-most", unit; then a line per ratio: the same of the
 * rounds' own ratios, which need not be the ratio of the medians.  "-": not to be had here.
 */
void report_print(const struct report *r);
bool report_print_json(const struct report *r);

#endif
