/* SPDX-License-Identifier: MIT */
/*
 * tsc.h - the daemon's clock: the processor's time stamp counter, less what it ran on, or was set
 * back, while the machine was suspended.
 *
 * tsc_init() once, before there are threads; then everything here may be called by
 * any thread.  Elsewhere than on x86-64 a tick is a nanosecond of CLOCK_MONOTONIC.
 *
 * Other processes read the counter themselves, and it goes as it likes through a suspend: what they
 * told is taken with tsc_of_raw(), what they are told is given with tsc_raw().
 */
#ifndef QUOITD_TSC_H
#define QUOITD_TSC_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>

/* Its own, for tsc_now(). */
struct tsc_clock {
	uint64_t lag;  /* what is added to the counter */
	uint64_t seen; /* the counter when it was last held against CLOCK_MONOTONIC */
	uint64_t look; /* it is again after so many ticks: a second */
};

extern struct tsc_clock tsc_clock;

/* As tsc_now(), once in a second, and first of all after a suspend. */
uint64_t tsc_look(void);

/*
 * Now, in ticks.  Not ordered against the loads and stores around it (a few
 * nanoseconds): what is timed is longer by far, and a fence would cost more than the read.
 *
 * Whoever is the first to ask after a suspend sees a counter that is far off and takes the rest
 * out of it; who was interrupted in between sees another lag and asks again.
 */
static inline uint64_t tsc_now(void)
{
	uint64_t lag = __atomic_load_n(&tsc_clock.lag, __ATOMIC_ACQUIRE), raw = __rdtsc();

	if (__builtin_expect(
		    raw - __atomic_load_n(&tsc_clock.seen, __ATOMIC_ACQUIRE) > tsc_clock.look, 0) ||
	    __builtin_expect(__atomic_load_n(&tsc_clock.lag, __ATOMIC_RELAXED) != lag, 0))
		return tsc_look();
	return raw + lag;
}

/*
 * Now, and not before the loads above it: for a moment that is compared with one that another core
 * noted before it wrote what was loaded.  A processor that waits for a line from another core would
 * read its counter meanwhile, some 200 ns early.
 */
static inline uint64_t tsc_after_loads(void)
{
	_mm_lfence();
	return tsc_now();
}

/* What the counter itself says at a moment of ours.  0, for never, stays 0. */
static inline uint64_t tsc_raw(uint64_t moment)
{
	return moment ? moment - __atomic_load_n(&tsc_clock.lag, __ATOMIC_RELAXED) : 0;
}

/* The moment at which the counter says, or would have said, this.  0 stays 0. */
static inline uint64_t tsc_of_raw(uint64_t raw)
{
	return raw ? raw + __atomic_load_n(&tsc_clock.lag, __ATOMIC_RELAXED) : 0;
}
#else
static inline uint64_t tsc_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The kernel's own reading is ordered. */
static inline uint64_t tsc_after_loads(void)
{
	return tsc_now();
}

static inline uint64_t tsc_raw(uint64_t moment)
{
	return moment;
}

static inline uint64_t tsc_of_raw(uint64_t raw)
{
	return raw;
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

/*
 * How far the counter has run ahead of CLOCK_MONOTONIC in suspends, or been set back (negative),
 * nanoseconds, as far as it was seen yet: to be told to people when it changes.
 */
int64_t tsc_skipped_ns(void);

/* Where the rate comes from, for people; a constant string. */
const char *tsc_source(void);

#endif
