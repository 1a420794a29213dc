/* SPDX-License-Identifier: MIT */
/* barriers.h - processes that meet at a barrier of POSIX threads in shared memory */
#ifndef BENCH_BARRIERS_H
#define BENCH_BARRIERS_H

#include <stdint.h>

/*
 * So many processes on these two CPUs meet so many times; *ret_ns: of one time.  0 or -errno.
 */
int barriers_run(const int cpu[2], unsigned processes, uint64_t rounds, double *ret_ns);

#endif
