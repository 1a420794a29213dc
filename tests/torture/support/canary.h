/* SPDX-License-Identifier: MIT */
/*
 * canary.h - a well-behaved client in a process of its own, that must not notice anything.
 *
 * It does the same small program over and over, short jobs and tiled ones, and compares
 * every bit with the first time.  If asked to, it times small jobs between two rounds.
 */
#ifndef TORTURE_CANARY_H
#define TORTURE_CANARY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct canary_words;

struct canary {
	pid_t pid;
	struct canary_words *words; /* shared with it */
};

/* Start it as this user (0: as we are) and wait for its first round.  -errno. */
int canary_start(struct canary *c, const char *socket, uid_t uid);

/*
 * Wait until it has done a whole round that began after this call.  NULL: it has, and all
 * was right; else what was not.
 */
const char *canary_check(struct canary *c);

/* Time small jobs from now on; and within which time 99 of 100 were done. */
void canary_time_anew(struct canary *c);
uint64_t canary_p99_ns(const struct canary *c); /* 0: there were too few to say */

/* Keep it still, or let it go on: it also keeps quoitd awake. */
void canary_hold(const struct canary *c, bool still);

void canary_stop(struct canary *c);

#endif
