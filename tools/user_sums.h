/* SPDX-License-Identifier: MIT */
/*
 * user_sums.h - what users' sessions do, summed up by user.
 *
 * Sessions end, and what they have counted goes with their files; a sum of the files that are there
 * would fall then.  So what each session has counted since the reading before is added to its user,
 * whose counts never fall: they begin when the first reading is taken, and miss what a session does
 * between the last reading and its end.
 */
#ifndef QUOIT_TOOLS_USER_SUMS_H
#define QUOIT_TOOLS_USER_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "sessions.h"

/* Of so many users; beyond these one that has no session makes room. */
#define USER_SUMS_MOST 256

struct user_sum {
	uint32_t uid;
	char name[FORMAT_CELL_BYTES];             /* escaped */
	unsigned sessions;                        /* open at the last reading; so is */
	struct counter now[QUOIT_SESSION_NR];     /* the sum of what they have; */
	struct counter counted[QUOIT_SESSION_NR]; /* of what was counted since the first one */
};

struct user_sums;

/*
 * Take a reading, whose sessions are by their numbers.  whole: a session of the first reading
 * counts with all that it has done, as for a caller that reads only once.  0 or -ENOMEM: *sums,
 * NULL at first, is as it was.
 */
int user_sums_take(struct user_sums **sums, const struct sessions *s, bool whole);
void user_sums_free(struct user_sums *sums);

unsigned user_sums_count(const struct user_sums *u);
const struct user_sum *user_sums_at(const struct user_sums *u, unsigned i);

/* How many open sessions are of users for which there was no room. */
unsigned user_sums_left_out(const struct user_sums *u);

/* Of ticks; 0: not known. */
uint64_t user_sums_tsc_hz(const struct user_sums *u);

/*
 * How busy a session of the last reading is: cores and executors' streams that it had on average,
 * of late more than before.  NULL: 0.
 */
double user_sums_busy(const struct user_sums *u, uint64_t session);

#endif
