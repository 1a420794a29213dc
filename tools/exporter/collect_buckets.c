/* SPDX-License-Identifier: MIT */
/* collect_buckets.c - convert a histogram of quoitd's into Prometheus' form */
#include "collect_buckets.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "read/buckets.h"

#define LEAST_NS 1e1
#define DECADES  10

/* Bounds in each power of ten; neighbours are at most 1.28 apart, or 2.5. */
static const double fine[] = {1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8};
static const double coarse[] = {1, 2, 5};

#define FINE        (sizeof fine / sizeof fine[0])
#define COARSE      (sizeof coarse / sizeof coarse[0])
#define MOST_BOUNDS (DECADES * FINE + 1)
#define LE_BYTES    16

/* Write a number as OpenMetrics wants it: "1e-06", "1.0". */
static void write_bound(double ns, char ret[LE_BYTES])
{
	snprintf(ret, LE_BYTES, "%.4g", ns / 1e9);
	if (!strpbrk(ret, ".e"))
		strcat(ret, ".0");
}

static unsigned make_bounds(enum collect_bounds which, double ret[MOST_BOUNDS])
{
	const double *of = which == COLLECT_FINE ? fine : coarse;
	size_t each = which == COLLECT_FINE ? FINE : COARSE;
	unsigned n = 0;

	for (int decade = 0; decade < DECADES; decade++)
		for (size_t i = 0; i < each; i++)
			ret[n++] = LEAST_NS * pow(10, decade) * of[i];
	ret[n++] = LEAST_NS * pow(10, DECADES);
	return n;
}

/* A bucket that contains a bound counts for the side that has its larger part. */
void collect_buckets(struct exposition *e, const struct exposition_label *labels,
		     const uint64_t count[QUOIT_LATENCY_BUCKETS], double tick_ns,
		     enum collect_bounds which)
{
	struct exposition_bucket buckets[MOST_BOUNDS];
	char le[MOST_BOUNDS][LE_BYTES];
	double bound[MOST_BOUNDS];
	unsigned bounds = make_bounds(which, bound), i = 0;
	uint64_t below = 0;

	for (unsigned b = 0; b < bounds; b++) {
		for (; i < QUOIT_LATENCY_BUCKETS && buckets_middle(i) * tick_ns <= bound[b]; i++)
			below += count[i];
		write_bound(bound[b], le[b]);
		buckets[b] = (struct exposition_bucket){le[b], below};
	}
	exposition_histogram(e, labels, buckets, bounds, buckets_count(count),
			     buckets_sum(count) * tick_ns / 1e9);
}
