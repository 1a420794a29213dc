/* SPDX-License-Identifier: MIT */
/* collect_buckets.h - convert a histogram of quoitd's into Prometheus' form */
#ifndef QUOIT_TOOLS_EXPORTER_COLLECT_BUCKETS_H
#define QUOIT_TOOLS_EXPORTER_COLLECT_BUCKETS_H

#include <quoit/stats.h>

#include "exposition.h"

/*
 * Bounds from 10 ns to 100 s, made of hundreds of buckets that are narrow enough for either choice.
 * COARSE has 1, 2 and 5 times each power of ten.  FINE bounds are less than 1.3 times apart, so
 * that a percentile that Prometheus computes from them differs from `quoit stat` by less than that
 * factor, for every distribution of times.
 */
enum collect_bounds { COLLECT_COARSE, COLLECT_FINE };

/* Write into the present family; its unit is seconds. */
void collect_buckets(struct exposition *e, const struct exposition_label *labels,
		     const uint64_t count[QUOIT_LATENCY_BUCKETS], double tick_ns,
		     enum collect_bounds which);

#endif
