/* SPDX-License-Identifier: MIT */
/*
 * floor.h - measure the least that the hardware needs: bare rings between two processes.
 *
 * Quoit's own path is compared with this floor in the same run, alternating, because machines
 * drift.  The floor shares no code with ring.h: head and tail words, 64-byte requests, 16-byte
 * completions, both sides awake and spinning, and no checks but of the results.
 *
 * One run gives one figure; callers take the median of several.
 */
#ifndef FLOOR_H
#define FLOOR_H

#include <stdint.h>

#define FLOOR_ANY_CPU (-1)

struct floor_params {
	uint32_t depth;    /* requests in flight: 1 to 4096; floor_write: slots of the ring */
	uint64_t requests; /* number of requests in all */
	int client_cpu;    /* the caller's CPU during the run; FLOOR_ANY_CPU: not pinned */
	int server_cpu;    /* CPU of the other process or kernel thread */
};

struct floor_result {
	double ns;   /* wall time per request */
	double rate; /* requests per second, 1e9 / ns */
};

/*
 * Send requests to a forked process and take its completions, `depth` in flight; each completion is
 * checked.  0; -EINVAL; -EBADMSG: a completion was wrong; -errno of mmap, fork or
 * sched_setaffinity.  It forks: call it only if that does no harm.
 */
int floor_run(const struct floor_params *p, struct floor_result *ret);

/*
 * Write 64-byte items one way to a forked process that reads and checks each of them, published 32
 * at a time.  ret->ns: the writer's cost per item while the ring has room; ret->rate includes the
 * waits for room.  Errors as above.
 */
int floor_write(const struct floor_params *p, struct floor_result *ret);

#endif
