/* SPDX-License-Identifier: MIT */
/* bench_count.h - count the system calls of processes, by counters of the kernel (perf) */
#ifndef QUOIT_TOOLS_BENCH_COUNT_H
#define QUOIT_TOOLS_BENCH_COUNT_H

#include <stdint.h>
#include <sys/types.h>

#define BENCH_COUNT_PROCESSES 3u

struct bench_count;

/*
 * Prepare to count the calls of all threads of these processes; 0: there is none.  The first one is
 * the caller's own.  0, and *ret is for bench_count_close; -ENOTSUP: the kernel does not let us, which
 * takes CAP_PERFMON and tracefs; -errno.
 */
int bench_count_open(const pid_t pid[BENCH_COUNT_PROCESSES], struct bench_count **ret);

/* Count from now on. */
void bench_count_begin(void);

/*
 * Count no more: what each process has called.  0; -EBADMSG: the counters are wrong.  They must have
 * seen one call that this makes to try them; it is not among those returned.
 */
int bench_count_end(struct bench_count *c, uint64_t ret_calls[BENCH_COUNT_PROCESSES]);

/* c may be NULL. */
void bench_count_close(struct bench_count *c);

#endif
