/* SPDX-License-Identifier: MIT */
/* pause.h - one look of a spin loop; for libquoit, quoitd and the tools */
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

#endif
