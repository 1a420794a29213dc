/* SPDX-License-Identifier: MIT */
/* pause.h - between the looks of a spin loop; for libquoit, quoitd and the tools */
#ifndef QUOIT_PAUSE_H
#define QUOIT_PAUSE_H

/* Wait a moment, kindly to the core's other hardware thread; orders nothing. */
static inline void quoit_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("isb"); /* `yield` is nothing on most cores */
#endif
}

/*
 * Between two looks of a loop that is in a hurry: begin no load before those so far have ended, so
 * many times.  Else looks that are under way when the word changes, and all that the processor has
 * begun behind them, would be thrown away, which takes longer than this.
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
