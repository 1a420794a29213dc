/* SPDX-License-Identifier: MIT */
/* clock.h - the time, for tests that compare what passed */
#ifndef TESTS_CLOCK_H
#define TESTS_CLOCK_H

#include <time.h>

/* CLOCK_MONOTONIC in milliseconds. */
static inline double clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

#endif
