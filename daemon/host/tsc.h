/* SPDX-License-Identifier: MIT */
/*
 * tsc.h - the daemon's clock: the processor's time stamp counter.
 *
 * tsc_init() once, before there are threads; then everything here may be called by
 * any thread.  Elsewhere than on x86-64 a tick is a nanosecond of CLOCK_MONOTONIC.
 */
#ifndef QUOITD_TSC_H
#define QUOITD_TSC_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>

/*
 * Now, in ticks.  Not ordered against the loads and stores around it (a few
 * nanoseconds): what is timed is longer by far, and a fence would cost more than the read.
 */
static inline uint64_t tsc_now(void)
{
	return __rdtsc();
}
#else
static inline uint64_t tsc_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
#endif

/* A moment between two others, as far as it is known. */
static inline uint64_t tsc_between(uint64_t from, uint64_t moment, uint64_t to)
{
	return moment < from ? from : moment > to ? to : moment;
}

/*
 * Finds the rate; takes about 5 ms.  A rate that the processor or the hypervisor
 * tells is taken if measuring agrees within 1%: a virtual machine that was moved to
 * another host may still be told the old one.
 */
void tsc_init(void);

/* Ticks in a second. */
uint64_t tsc_hz(void);

/* A span of ticks in nanoseconds, rounded down by at most 2 in 10^9; any span under 500 years. */
uint64_t tsc_to_ns(uint64_t ticks);

/* A span of nanoseconds in ticks, rounded down; any span. */
uint64_t tsc_from_ns(uint64_t ns);

/* Does it tick at one rate, and on all cores, whatever they do?  If not, spans are estimates. */
bool tsc_is_invariant(void);

/* Where the rate comes from, for people; a constant string. */
const char *tsc_source(void);

#endif
