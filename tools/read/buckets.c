/* SPDX-License-Identifier: MIT */
/* buckets.c - sums and percentiles of a histogram */
#include "buckets.h"

uint64_t buckets_count(const uint64_t *count)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < QUOIT_LATENCY_BUCKETS; i++)
		all += count[i];
	return all;
}

double buckets_middle(unsigned bucket)
{
	double least = (double)quoit_latency_least(bucket);
	double most = (double)quoit_latency_least(bucket + 1) - 1;

	return (least + most) / 2;
}

double buckets_sum(const uint64_t *count)
{
	double sum = 0;

	for (unsigned i = 0; i < QUOIT_LATENCY_BUCKETS; i++)
		sum += (double)count[i] * buckets_middle(i);
	return sum;
}

double buckets_percentile(const uint64_t *count, double percent)
{
	double all = (double)buckets_count(count), below = 0;

	if (all <= 0)
		return -1;
	for (unsigned i = 0; i < QUOIT_LATENCY_BUCKETS; i++) {
		below += (double)count[i];
		if (count[i] && below >= all * percent / 100)
			return buckets_middle(i);
	}
	return -1;
}
