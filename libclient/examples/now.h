/* SPDX-License-Identifier: MIT */
/* now.h - the time in seconds, for what the examples measure */
#ifndef EXAMPLES_NOW_H
#define EXAMPLES_NOW_H

#include <time.h>

static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
