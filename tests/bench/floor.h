/* SPDX-License-Identifier: MIT */
/*
 * floor.h - what the hardware allows: the barest rings between two processes.
 *
 * The floor is what Quoit's own path is measured against, in the same run and
 * alternating, for the machines drift.  It shares no code with ring.h: head and
 * tail words, 64-byte requests, 16-byte completions, both sides awake and
 * spinning, nothing checked but the results.
 *
 * One run gives one figure; callers take the median of several.
 */
#ifndef FLOOR_H
#define FLOOR_H

#include <stdint.h>

#define FLOOR_ANY_CPU (-1)

struct floor_params {
	uint32_t depth;    /* requests in flight: 1 to 4096; floor_write: slots of the ring */
	uint64_t requests; /* how many in all */
	int client_cpu;    /* where the caller runs meanwhile; FLOOR_ANY_CPU: not pinned */
	int server_cpu;    /* where the other process, or kernel thread, runs */
};

struct floor_result {
	double ns;   /* wall time per request */
	double rate; /* requests per second, 1e9 / ns */
};

/*
 * Requests to a forked process and completions back, `depth` in flight, each
 * completion checked.  0; -EINVAL; -EBADMSG: a completion was wrong; -errno of
 * mmap, fork or sched_setaffinity.  Forks: call it where that is harmless.
 */
int floor_run(const struct floor_params *p, struct floor_result *ret);

/*
 * One way: 64-byte writes to a forked process that reads and checks every one,
 * published 32 at a time.  ret->ns is what the writer pays per item while the
 * ring has room; ret->rate counts the waits for room as well.  Errors as above.
 */
int floor_write(const struct floor_params *p, struct floor_result *ret);

#endif
