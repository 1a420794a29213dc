/* SPDX-License-Identifier: MIT */
/*
 * fail_plan.h - choose the call of quoitd that fails: words shared by fail_calls.c and its module.
 *
 * tests/modules/fail_calls.c is preloaded into quoitd and maps the file that the variable
 * FAIL_CALLS names.  The test changes the plan there at any time.
 */
#ifndef TORTURE_FAIL_PLAN_H
#define TORTURE_FAIL_PLAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * X(function, how many of its errnos can last, its errnos).  Errnos that can last come first, and
 * only they are used for calls that fail from now on; functions without such errnos pass.  The
 * kernel or libc can return all of them there.  pidfd_open, futex (a wait) and mlock2 are calls of
 * syscall().
 */
#define FAIL_CALLS(X)                                                                              \
	X(malloc, 1, ENOMEM)                                                                       \
	X(calloc, 1, ENOMEM)                                                                       \
	X(realloc, 1, ENOMEM)                                                                      \
	X(aligned_alloc, 1, ENOMEM)                                                                \
	X(mmap, 2, ENOMEM, EAGAIN)                                                                 \
	X(memfd_create, 2, EMFILE, ENOMEM)                                                         \
	X(ftruncate, 1, EINVAL, EINTR)                                                             \
	X(fchmod, 1, EPERM)                                                                        \
	X(fcntl, 1, EPERM)                                                                         \
	X(fallocate, 2, ENOSPC, ENOMEM, EINTR)                                                     \
	X(madvise, 2, ENOMEM, EAGAIN, EINTR)                                                       \
	X(mlock, 2, ENOMEM, EAGAIN)                                                                \
	X(mlock2, 2, ENOMEM, EAGAIN)                                                               \
	X(mbind, 1, ENOMEM)                                                                        \
	X(open, 2, EMFILE, ENOMEM, EINTR)                                                          \
	X(openat, 3, ENOSPC, EMFILE, ENOMEM, EINTR)                                                \
	X(opendir, 2, EMFILE, ENOMEM)                                                              \
	X(fopen, 2, ENOMEM, EMFILE)                                                                \
	X(fdopen, 1, ENOMEM)                                                                       \
	X(mkdir, 2, ENOSPC, ENOMEM)                                                                \
	X(flock, 1, ENOLCK, EINTR)                                                                 \
	X(fstat, 1, ENOMEM, EINTR)                                                                 \
	X(fstatfs, 1, ENOMEM, EINTR)                                                               \
	X(pipe, 1, EMFILE)                                                                         \
	X(socket, 2, EMFILE, ENOMEM)                                                               \
	X(socketpair, 2, EMFILE, ENOMEM)                                                           \
	X(bind, 2, ENOSPC, ENOMEM)                                                                 \
	X(accept4, 2, EMFILE, ENOMEM, EAGAIN, EINTR)                                               \
	X(getsockopt, 2, EMFILE, ENOMEM)                                                           \
	X(sendmsg, 2, ENOBUFS, ENOMEM, EINTR)                                                      \
	X(recvmsg, 1, ENOMEM, EAGAIN, EINTR)                                                       \
	X(recv, 0, EAGAIN, EINTR)                                                                  \
	X(read, 0, EAGAIN, EINTR)                                                                  \
	X(write, 0, ENOSPC, EAGAIN, EINTR)                                                         \
	X(poll, 0, EINTR, ENOMEM)                                                                  \
	X(epoll_create1, 2, EMFILE, ENOMEM)                                                        \
	X(epoll_ctl, 2, ENOSPC, ENOMEM)                                                            \
	X(epoll_wait, 0, EINTR)                                                                    \
	X(epoll_pwait2, 0, EINTR)                                                                  \
	X(eventfd, 2, EMFILE, ENOMEM)                                                              \
	X(signalfd, 2, EMFILE, ENOMEM)                                                             \
	X(futex, 0, EAGAIN, EINTR)                                                                 \
	X(pthread_create, 1, EAGAIN)                                                               \
	X(fork, 2, EAGAIN, ENOMEM)                                                                 \
	X(posix_spawn, 2, EAGAIN, ENOMEM)                                                          \
	X(pidfd_open, 2, EMFILE, ENOMEM)                                                           \
	X(waitpid, 0, EINTR)                                                                       \
	X(io_uring_queue_init, 2, EMFILE, ENOMEM)                                                  \
	X(io_uring_register_buffers_sparse, 1, ENOMEM)                                             \
	X(io_uring_register_buffers_update_tag, 1, ENOMEM)                                         \
	X(io_uring_submit, 0, EAGAIN, EINTR)

#define FAIL_ENUM(name, lasting, ...) FAIL_##name,
enum fail_call { FAIL_CALLS(FAIL_ENUM) FAIL_NR };
#undef FAIL_ENUM

#define FAIL_ERRNOS 4 /* the most errnos of a function */

#define FAIL_BIT(call) (UINT64_C(1) << (call))
#define FAIL_ALL       (FAIL_BIT(FAIL_NR) - 1)

struct fail_plan {
	_Atomic uint64_t calls;  /* FAIL_BITs of the functions that count; 0: disarmed */
	_Atomic uint32_t sticky; /* 1: the Nth and all after it fail */
	_Atomic uint32_t pick;   /* chooses among a function's errnos: modulo their number */
	_Atomic uint64_t nth;    /* counted from 1 */
	_Atomic uint64_t count;  /* calls so far */
	_Atomic uint64_t failed;
	_Atomic uint32_t last; /* enum fail_call of the last failure */
	_Atomic int32_t error; /* its errno */
};

_Static_assert(FAIL_NR < 64, "a bit each");

#endif
