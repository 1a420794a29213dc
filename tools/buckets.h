/* SPDX-License-Identifier: MIT */
/* buckets.h - what a histogram says (quoit_leg_bucket of quoit/stats.h), in ticks.  Pure. */
#ifndef QUOIT_TOOLS_BUCKETS_H
#define QUOIT_TOOLS_BUCKETS_H

#include <quoit/stats.h>

/* How many it has. */
uint64_t buckets_count(const uint64_t *count);

/* What a bucket stands for: its middle. */
double buckets_middle(unsigned bucket);

/* Of all together, by the middles. */
double buckets_sum(const uint64_t *count);

/* Within how many ticks so many in 100 were through; negative: it has none. */
double buckets_percentile(const uint64_t *count, double percent);

#endif
