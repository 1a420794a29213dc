/* SPDX-License-Identifier: MIT */
/* peer_hypot.h - a loop that OpenMP divides */
#ifndef BENCH_PEER_HYPOT_H
#define BENCH_PEER_HYPOT_H

#include <stdint.h>

/*
 * out = hypot(x, y) over 10^6 doubles, `count` times, with a thread on each of the two CPUs;
 * *ret_ns: of one time.  0; -ENOMEM; -ENOTSUP: it was compiled without OpenMP.
 */
int peer_hypot_run(const int cpu[2], uint64_t count, double *ret_ns);

#endif
