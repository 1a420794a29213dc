/* SPDX-License-Identifier: MIT */
/* collect_buckets.c - a histogram of quoitd's as one of Prometheus' */
#include "exporter/collect_buckets.h"

#include "buckets.h"

/* A few bounds out of hundreds of buckets, which are narrow enough for that. */
static const struct {
	const char *le;
	double ns;
} bounds[] = {{"1e-06", 1e3}, {"1e-05", 1e4}, {"0.0001", 1e5}, {"0.001", 1e6},
	      {"0.01", 1e7},  {"0.1", 1e8},   {"1.0", 1e9},    {"10.0", 1e10}};

#define BOUNDS (sizeof bounds / sizeof bounds[0])

/* A bucket on both sides of a bound is where its larger part is. */
void collect_buckets(struct exposition *e, const struct exposition_label *labels,
		     const uint64_t count[QUOIT_LEG_BUCKETS], double tick_ns)
{
	struct exposition_bucket buckets[BOUNDS];
	unsigned i = 0;
	uint64_t below = 0;

	for (unsigned b = 0; b < BOUNDS; b++) {
		for (; i < QUOIT_LEG_BUCKETS && buckets_middle(i) * tick_ns <= bounds[b].ns; i++)
			below += count[i];
		buckets[b] = (struct exposition_bucket){bounds[b].le, below};
	}
	exposition_histogram(e, labels, buckets, BOUNDS, buckets_count(count),
			     buckets_sum(count) * tick_ns / 1e9);
}
