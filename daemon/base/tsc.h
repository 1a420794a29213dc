/* SPDX-License-Identifier: MIT */
/*
 * tsc.h - the daemon's clock: the processor's time stamp counter, without what a suspend of the
 * machine added to it or took from it.
 *
 * Call tsc_init() once, before there are threads; then any thread may call everything here.
 * Elsewhere than on x86-64 a tick is a nanosecond of CLOCK_MONOTONIC.
 *
 * Other processes read the counter itself, which a suspend may change.  Convert what they report
 * with tsc_of_raw(), and what they are told with tsc_raw().
 */
#ifndef QUOITD_TSC_H
#define QUOITD_TSC_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
/* The state of tsc_now(). */
struct tsc_clock {
	uint64_t lag;  /* added to the counter */
	uint64_t seen; /* the counter when it was last compared with CLOCK_MONOTONIC */
	uint64_t look; /* ticks until the next comparison: a second */
};

extern struct tsc_clock tsc_clock;

/* As tsc_now(), with a comparison.  Called once a second, and first of all after a suspend. */
uint64_t tsc_look(void);

/*
 * Now, in ticks.  It is not ordered against the loads and stores around it (a few nanoseconds):
 * what quoitd times takes much longer, and a fence would cost more than the read.
 *
 * The first caller after a suspend sees a counter that is far off, and corrects the lag.  A caller
 * that was interrupted in between sees that the lag has changed, and asks again.
 */
static inline uint64_t tsc_now(void)
{
	uint64_t lag = __atomic_load_n(&tsc_clock.lag, __ATOMIC_ACQUIRE),
		 raw = __builtin_ia32_rdtsc();

	if (__builtin_expect(
		    raw - __atomic_load_n(&tsc_clock.seen, __ATOMIC_ACQUIRE) > tsc_clock.look, 0) ||
	    __builtin_expect(__atomic_load_n(&tsc_clock.lag, __ATOMIC_RELAXED) != lag, 0))
		return tsc_look();
	return raw + lag;
}

/*
 * Now, and not before the loads above it.  For moments that are compared with one that another core
 * noted before it wrote what was loaded: while a processor waits for a line from another core, it
 * would read its counter early, by some 200 ns.
 */
static inline uint64_t tsc_after_loads(void)
{
	__builtin_ia32_lfence();
	return tsc_now();
}

/* What the counter itself says at a moment of this clock.  0, for never, stays 0. */
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

/* A moment, limited to the span between two others. */
static inline uint64_t tsc_between(uint64_t from, uint64_t moment, uint64_t to)
{
	return moment < from ? from : moment > to ? to : moment;
}

/*
 * Finds the rate; takes about 5 ms.  The rate that the processor or the hypervisor tells is used if
 * a measurement agrees within 1%: a virtual machine that was moved may still be told the old one.
 */
void tsc_init(void);

/* Ticks in a second. */
uint64_t tsc_hz(void);

/* A span of ticks in nanoseconds, rounded down by at most 2 in 10^9; for spans below 500 years. */
uint64_t tsc_to_ns(uint64_t ticks);

/* A span of nanoseconds in ticks, rounded down; any span. */
uint64_t tsc_from_ns(uint64_t ns);

/* Does it tick at a constant rate, the same on all cores?  If not, spans are estimates. */
bool tsc_is_invariant(void);

/*
 * How far the counter has run ahead of CLOCK_MONOTONIC in suspends, or (negative) was set back, in
 * nanoseconds, as far as quoitd has seen it: to be logged when it changes.
 */
int64_t tsc_skipped_ns(void);

/* Where the rate comes from, for people; a constant string. */
const char *tsc_source(void);

#endif
