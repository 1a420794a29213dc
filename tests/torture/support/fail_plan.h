/* SPDX-License-Identifier: MIT */
/*
 * fail_plan.h - which call of quoitd fails: the words between fail_calls.c and its module.
 *
 * tests/modules/fail_calls.c is preloaded into quoitd and maps the file that the
 * environment calls FAIL_CALLS.  The test changes the plan there at any time.
 */
#ifndef TORTURE_FAIL_PLAN_H
#define TORTURE_FAIL_PLAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* FAIL_CALL(function, the errno that it fails with) */
#define FAIL_CALLS(X)                                                                              \
	X(malloc, ENOMEM)                                                                          \
	X(calloc, ENOMEM)                                                                          \
	X(realloc, ENOMEM)                                                                         \
	X(aligned_alloc, ENOMEM)                                                                   \
	X(mmap, ENOMEM)                                                                            \
	X(memfd_create, EMFILE)                                                                    \
	X(ftruncate, EINVAL)                                                                       \
	X(fchmod, EPERM)                                                                           \
	X(fcntl, EPERM)                                                                            \
	X(fallocate, ENOSPC)                                                                       \
	X(open, EMFILE)                                                                            \
	X(openat, ENOSPC)                                                                          \
	X(fopen, ENOMEM)                                                                           \
	X(fdopen, ENOMEM)                                                                          \
	X(socket, EMFILE)                                                                          \
	X(socketpair, EMFILE)                                                                      \
	X(accept4, EMFILE)                                                                         \
	X(sendmsg, ENOBUFS)                                                                        \
	X(recvmsg, ENOMEM)                                                                         \
	X(epoll_create1, EMFILE)                                                                   \
	X(epoll_ctl, ENOSPC)                                                                       \
	X(eventfd, EMFILE)                                                                         \
	X(signalfd, EMFILE)                                                                        \
	X(pthread_create, EAGAIN)

#define FAIL_ENUM(name, error) FAIL_##name,
enum fail_call { FAIL_CALLS(FAIL_ENUM) FAIL_NR };
#undef FAIL_ENUM

#define FAIL_ALL ((UINT32_C(1) << FAIL_NR) - 1)

struct fail_plan {
	_Atomic uint32_t calls;  /* bit n: enum fail_call n counts; 0: disarmed */
	_Atomic uint32_t sticky; /* 1: the Nth and all after it fail */
	_Atomic uint64_t nth;    /* from 1 */
	_Atomic uint64_t count;  /* calls so far */
	_Atomic uint64_t failed;
	_Atomic uint32_t last; /* enum fail_call that failed last */
};

#endif
