/* SPDX-License-Identifier: MIT */
/* line.h - ask for a line of the cache before it is written; for libquoit and quoitd */
#ifndef QUOIT_LINE_H
#define QUOIT_LINE_H

/*
 * Fetch the line at `at` from the core that has it, because a store to it will follow; does not
 * wait, and orders nothing.  (On x86 the builtin fetches for reading only, unless the compiler may
 * use newer instructions.)
 */
static inline void quoit_ask_to_write(const void *at)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)at));
#else
	__builtin_prefetch(at, 1);
#endif
}

#endif
