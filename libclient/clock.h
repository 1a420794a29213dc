/* SPDX-License-Identifier: MIT */
/* clock.h - ticks for counters and stamps, nanoseconds for deadlines */
#ifndef LIBQUOIT_CLOCK_H
#define LIBQUOIT_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NEVER UINT64_MAX /* a deadline that never comes */

/* CLOCK_MONOTONIC in nanoseconds: what deadlines are counted in. */
static inline uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The unit of quoit_info.tsc_hz: the TSC where there is one, nanoseconds elsewhere. */
static inline uint64_t clock_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	return clock_ns();
#endif
}

/*
 * Ticks, read only after the loads above it: the time at which this thread saw quoitd's words.
 * Without this a processor that waits for a line from another core would read its counter too
 * early.
 */
static inline uint64_t clock_ticks_after_loads(void)
{
#if defined(__x86_64__)
	__builtin_ia32_lfence();
#endif
	return clock_ticks();
}

/* The deadline of a public timeout: milliseconds from now, negative for never. */
static inline uint64_t clock_deadline(int timeout_ms)
{
	return timeout_ms < 0 ? NEVER : clock_ns() + (uint64_t)timeout_ms * 1000000u;
}

#endif
