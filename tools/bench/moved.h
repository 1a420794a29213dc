/* SPDX-License-Identifier: MIT */
/*
 * moved.h - messages between processes that are not copied: slots of a tensor with a name, whose
 * numbers go through queues (docs/howto/tensor.md)
 */
#ifndef QUOIT_TOOLS_BENCH_MOVED_H
#define QUOIT_TOOLS_BENCH_MOVED_H

#include "bench.h"

/*
 * One process each: hand on s->count messages of s->depth bytes, after a tenth of them as a warm-up.
 * The receiver sets *go when it begins to measure, and the sender waits for that.  0 or a negative
 * errno.
 */
int moved_send(const struct bench *b, const struct bench_series *s, const uint32_t *go);
int moved_receive(const struct bench *b, const struct bench_series *s, uint32_t *go,
		  double *ret_ns);

#endif
