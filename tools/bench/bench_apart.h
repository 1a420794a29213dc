/* SPDX-License-Identifier: MIT */
/* bench_apart.h - run one measurement in a process of its own, with a time limit */
#ifndef QUOIT_TOOLS_BENCH_APART_H
#define QUOIT_TOOLS_BENCH_APART_H

#include "bench.h"

/* A measure fills at most this many values: those of its series and of the series behind it. */
#define BENCH_APART_VALUES 8u

/*
 * From now on SIGINT and SIGTERM end the running measurement, and are remembered.  The program goes
 * on, so that it can print the results so far.
 */
void bench_apart_catch_signals(void);
/* The signal that came; 0: none. */
int bench_apart_signal(void);

/*
 * Run s->measure in a child process and take its values.  A crash or an endless wait there costs
 * only this measurement.
 *
 * values: how many values it fills, at most BENCH_APART_VALUES.  limit_s: the child is killed after
 * this many seconds.  0, or a negative errno: the measure's own; -ETIMEDOUT: it was killed at the
 * limit; -EINTR: a signal came; -ECHILD: the child died.  ret is written only if 0 is returned.
 */
int bench_apart(const struct bench *b, const struct bench_series *s, unsigned values,
		unsigned limit_s, double *ret);

#endif
