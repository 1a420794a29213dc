/* SPDX-License-Identifier: MIT */
/* spin.h - one look of a spin loop */
#ifndef QUOITD_SPIN_H
#define QUOITD_SPIN_H

/* Wait a moment, kindly to the other hardware thread; orders nothing. */
static inline void spin_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("isb");
#endif
}

#endif
