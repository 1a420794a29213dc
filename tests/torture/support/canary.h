/* SPDX-License-Identifier: MIT */
/*
 * canary.h - run a well-behaved client in a process of its own, which must not notice anything.
 *
 * It runs the same small program over and over, short jobs and tiled ones, and compares every bit
 * with the first time.  If asked to, it times small jobs between two rounds.
 */
#ifndef TORTURE_CANARY_H
#define TORTURE_CANARY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct canary_words;

struct canary {
	pid_t pid;
	struct canary_words *words; /* shared with the process */
};

/* Start it as this user (0: our own) and wait for its first round.  -errno. */
int canary_start(struct canary *c, const char *socket, uid_t uid);

/*
 * Wait until it has done a whole round that began after this call.  NULL: all was right; else what
 * was wrong.
 */
const char *canary_check(struct canary *c);

/*
 * canary_time_anew: time small jobs from now on.  canary_p99_ns: the time within which 99 of 100
 * ended.
 */
void canary_time_anew(struct canary *c);
uint64_t canary_p99_ns(const struct canary *c); /* 0: there were too few */

/* Stop it, or let it go on: it would also keep quoitd awake. */
void canary_hold(const struct canary *c, bool still);

void canary_stop(struct canary *c);

#endif
