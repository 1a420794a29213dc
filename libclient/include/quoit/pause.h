/* SPDX-License-Identifier: MIT */
/* pause.h - short waits inside of spin loops; for libquoit, quoitd and the tools */
#ifndef QUOIT_PAUSE_H
#define QUOIT_PAUSE_H

/* Wait a moment, and leave the core to its other hardware thread; orders nothing. */
static inline void quoit_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("isb"); /* most cores ignore `yield` */
#endif
}

/*
 * Between two looks of a loop that is in a hurry, this many times: begin no load before the earlier
 * ones have ended.  Otherwise the processor has begun further looks when the word changes, and must
 * throw away these and all work behind them, which takes longer than this wait.
 */
static inline void quoit_await_loads(unsigned times)
{
	for (; times; times--) {
#if defined(__x86_64__)
		__builtin_ia32_lfence();
#else
		quoit_pause();
#endif
	}
}

#endif
