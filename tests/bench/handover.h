/* SPDX-License-Identifier: MIT */
/* handover.h - two processes that wake each other */
#ifndef BENCH_HANDOVER_H
#define BENCH_HANDOVER_H

#include <stdint.h>

/*
 * This process on one CPU and another one on the other pass a word there and back `turns` times,
 * each asleep meanwhile; *ret_ns: of one turn, which has two hand-overs.  0 or -errno.
 */
int handover_run(int client_cpu, int server_cpu, uint64_t turns, double *ret_ns);

#endif
