/* SPDX-License-Identifier: MIT */
/* test_tsc.c - the daemon's clock agrees with the kernel's. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "host/tsc.h"

TestSuite(tsc, .init = tsc_init);

Test(tsc, rate_is_one_of_a_real_clock_and_has_a_source)
{
	cr_expect_geq(tsc_hz(), UINT64_C(1000000));
	cr_expect_leq(tsc_hz(), UINT64_C(10000000000));
	cr_expect_gt(strlen(tsc_source()), 0);
}

Test(tsc, span_is_converted_to_two_in_a_billion)
{
	static const uint64_t seconds[] = {0, 1, 3600, 86400 * 365, UINT64_C(86400) * 365 * 100};
	size_t i;

	for (i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
		uint64_t exact = seconds[i] * 1000000000, got = tsc_to_ns(seconds[i] * tsc_hz());

		if (seconds[i] > UINT64_MAX / tsc_hz())
			continue; /* more ticks than the counter has */
		cr_expect_leq(got, exact);
		cr_expect_leq(exact - got, exact / 500000000 + 1, "%lu s",
			      (unsigned long)seconds[i]);
	}
}

Test(tsc, span_lies_between_two_spans_of_the_kernels_clock)
{
	struct timespec outer[2], inner[2], pause = {.tv_nsec = 50000000};
	uint64_t start, ticks;
	double ns, most, least;

	clock_gettime(CLOCK_MONOTONIC, &outer[0]);
	start = tsc_now();
	clock_gettime(CLOCK_MONOTONIC, &inner[0]);
	nanosleep(&pause, NULL);
	clock_gettime(CLOCK_MONOTONIC, &inner[1]);
	ticks = tsc_now() - start;
	clock_gettime(CLOCK_MONOTONIC, &outer[1]);

	ns = (double)tsc_to_ns(ticks);
	most = (double)(outer[1].tv_sec - outer[0].tv_sec) * 1e9 +
	       (double)(outer[1].tv_nsec - outer[0].tv_nsec);
	least = (double)(inner[1].tv_sec - inner[0].tv_sec) * 1e9 +
		(double)(inner[1].tv_nsec - inner[0].tv_nsec);
	/* A rate that was told may be off by 1% before tsc_init() refuses it. */
	cr_expect_leq(ns, most * 1.02);
	cr_expect_geq(ns, least * 0.98);
}
