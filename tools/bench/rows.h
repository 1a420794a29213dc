/* SPDX-License-Identifier: MIT */
/* rows.h - small messages between processes, of which one job sends or receives many */
#ifndef QUOIT_TOOLS_BENCH_ROWS_H
#define QUOIT_TOOLS_BENCH_ROWS_H

#include "bench.h"

#define BENCH_ROWS 256u /* messages that a job sends, or has room for */

/*
 * One process each: s->count messages of s->depth bytes, after a tenth of them as a warm-up.  The
 * receiver sets *go when it begins to measure, and the sender waits for that.  0 or a negative errno.
 */
int rows_send(const struct bench *b, const struct bench_series *s, const uint32_t *go);
int rows_receive(const struct bench *b, const struct bench_series *s, uint32_t *go, double *ret_ns);

#endif
