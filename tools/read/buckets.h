/* SPDX-License-Identifier: MIT */
/*
 * buckets.h - sums and percentiles of a histogram (quoit_latency_bucket of quoit/stats.h), in
 * ticks.  Pure.
 */
#ifndef QUOIT_TOOLS_BUCKETS_H
#define QUOIT_TOOLS_BUCKETS_H

#include <quoit/stats.h>

/* How many values it has. */
uint64_t buckets_count(const uint64_t *count);

/* The value that a bucket stands for: its middle. */
double buckets_middle(unsigned bucket);

/* The sum of all values, by the buckets' middles. */
double buckets_sum(const uint64_t *count);

/* The ticks that `percent` of the values do not exceed; negative: it has no values. */
double buckets_percentile(const uint64_t *count, double percent);

#endif
