/* SPDX-License-Identifier: MIT */
/* test_tsc.c - the daemon's clock agrees with the kernel's, also after a suspend. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/tsc.h"

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
	/* A given rate may be off by 1% before tsc_init() refuses it. */
	cr_expect_leq(ns, most * 1.02);
	cr_expect_geq(ns, least * 0.98);
}

#if defined(__x86_64__)
/* What our clock did in a process whose CLOCK_MONOTONIC suddenly is `by` seconds ahead. */
struct leap {
	int64_t ours, skipped, raw; /* ns; raw: between tsc_raw(tsc_now()) and the counter */
};

static struct leap leap_in_this_process(void)
{
	uint64_t before = tsc_now(), after;
	struct leap ret;

	tsc_clock.look = 0; /* as if a second had passed */
	after = tsc_now();
	ret.skipped = tsc_skipped_ns();
	ret.raw = (int64_t)tsc_to_ns(__builtin_ia32_rdtsc() - tsc_raw(after));
	ret.ours = after > before ? (int64_t)tsc_to_ns(after - before)
				  : -(int64_t)tsc_to_ns(before - after);
	return ret;
}

/*
 * For our clock a time namespace is like a suspend: CLOCK_MONOTONIC and the counter are further
 * apart than before.
 */
static struct leap leap_by(int seconds)
{
	int fd, out[2], length;
	struct leap ret;
	char line[32];

	length = snprintf(line, sizeof line, "monotonic %d 0", seconds);
	if (unshare(CLONE_NEWTIME) < 0 || (fd = open("/proc/self/timens_offsets", O_WRONLY)) < 0)
		cr_skip_test("no time namespace can be had");
	cr_assert_eq(write(fd, line, (size_t)length), length);
	close(fd);
	cr_assert_eq(pipe(out), 0);
	if (!fork()) {
		ret = leap_in_this_process();
		_exit(write(out[1], &ret, sizeof ret) != sizeof ret);
	}
	cr_assert_eq(read(out[0], &ret, sizeof ret), (ssize_t)sizeof ret);
	wait(NULL);
	return ret;
}

static void expect_near(int64_t ns, int seconds)
{
	cr_expect_leq(llabs(ns - seconds * INT64_C(1000000000)), 500000000, "%lld ns, not %d s",
		      (long long)ns, seconds);
}

Test(tsc, counter_that_stood_still_or_began_anew_is_set_right)
{
	struct leap leap = leap_by(1000);

	expect_near(leap.ours, 1000);
	expect_near(leap.skipped, -1000);
	expect_near(leap.raw, 0);
}

Test(tsc, counter_that_ran_on_is_set_right)
{
	struct leap leap = leap_by(-20);

	expect_near(leap.ours, -20);
	expect_near(leap.skipped, 20);
	expect_near(leap.raw, 0);
}

Test(tsc, look_without_a_suspend_changes_nothing)
{
	uint64_t before, after;

	tsc_clock.look = 0;
	before = tsc_now();
	usleep(300000);
	after = tsc_now();
	cr_expect_eq(tsc_clock.lag, 0);
	cr_expect_gt(after, before);
}
#endif
