/* SPDX-License-Identifier: MIT */
/* line.h - ask for a line of the cache before it is written; for libquoit and quoitd */
#ifndef QUOIT_LINE_H
#define QUOIT_LINE_H

/*
 * A store to the line at `at` will follow: get it from the core that has it, and go on meanwhile.
 * Orders nothing.  (For x86 the builtin asks for reading only, unless it may use what newer
 * processors have.)
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
