/* SPDX-License-Identifier: MIT */
/* times.c - count times by their logarithm */
#include "times.h"

#include <time.h>

#define PARTS  TIMES_PARTS
#define ENOUGH 1000u /* fewer do not tell what 99 of 100 took */

uint64_t times_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The number of a part, and where it ends. */
static unsigned part_of(uint64_t ns)
{
	unsigned power = 63u - (unsigned)__builtin_clzll(ns | PARTS);
	unsigned part = (power - 4) * PARTS + (unsigned)(ns >> (power - 4)) % PARTS;

	return part < TIMES_ALL ? part : TIMES_ALL - 1;
}

static uint64_t end_of(unsigned part)
{
	return (uint64_t)(PARTS + part % PARTS + 1) << part / PARTS;
}

void times_clear(struct times *t)
{
	for (unsigned i = 0; i < TIMES_ALL; i++)
		t->count[i] = 0;
}

void times_add(struct times *t, uint64_t ns)
{
	t->count[part_of(ns)]++;
}

uint64_t times_p99_ns(const struct times *t)
{
	uint32_t all = 0, slower = 0;
	unsigned i = TIMES_ALL;

	for (unsigned k = 0; k < TIMES_ALL; k++)
		all += t->count[k];
	if (all < ENOUGH)
		return 0;
	while (i > 0 && slower <= all / 100)
		slower += t->count[--i];
	return end_of(i);
}
