/* SPDX-License-Identifier: MIT */
/* times.h - count times in memory that two processes share: one adds, the other asks */
#ifndef TORTURE_TIMES_H
#define TORTURE_TIMES_H

#include <stdint.h>

/* Parts for each power of two of nanoseconds. */
#define TIMES_PARTS 16u
#define TIMES_ALL   (40 * TIMES_PARTS)

struct times {
	_Atomic uint32_t count[TIMES_ALL];
};

uint64_t times_now_ns(void); /* CLOCK_MONOTONIC */

void times_clear(struct times *t);
void times_add(struct times *t, uint64_t ns);

/* The time within which 99 of 100 were done; 0: there were fewer than 1,000. */
uint64_t times_p99_ns(const struct times *t);

#endif
