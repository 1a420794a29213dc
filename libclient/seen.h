/* SPDX-License-Identifier: MIT */
/*
 * seen.h - tells ThreadSanitizer of the order that quoitd keeps between threads of this process.
 *
 * A function that reads what another one has written, or what the program has, runs after that: quoitd
 * has seen the one end before it let the other begin.  ThreadSanitizer sees this process alone.
 */
#ifndef LIBQUOIT_SEEN_H
#define LIBQUOIT_SEEN_H

#if defined(__SANITIZE_THREAD__)
void __tsan_acquire(void *of);
void __tsan_release(void *of);
#define seen_acquire(session) __tsan_acquire(session)
#define seen_release(session) __tsan_release(session)
#else
#define seen_acquire(session) ((void)0)
#define seen_release(session) ((void)0)
#endif

#endif
