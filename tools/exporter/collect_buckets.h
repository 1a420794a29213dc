/* SPDX-License-Identifier: MIT */
/* collect_buckets.h - a histogram of quoitd's as one of Prometheus' */
#ifndef QUOIT_TOOLS_EXPORTER_COLLECT_BUCKETS_H
#define QUOIT_TOOLS_EXPORTER_COLLECT_BUCKETS_H

#include <quoit/stats.h>

#include "exporter/exposition.h"

/*
 * From 10 ns to 100 s, out of hundreds of buckets that are narrow enough for either: COARSE at 1,
 * 2 and 5 times each power of ten.  FINE ones are less than 1.3 times apart, so that a percentile
 * that Prometheus makes of them is within 1.3 times of what `quoit stat` says, however times are
 * spread.
 */
enum collect_bounds { COLLECT_COARSE, COLLECT_FINE };

/* Of the family under way, whose unit is seconds. */
void collect_buckets(struct exposition *e, const struct exposition_label *labels,
		     const uint64_t count[QUOIT_LEG_BUCKETS], double tick_ns,
		     enum collect_bounds which);

#endif
