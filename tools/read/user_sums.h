/* SPDX-License-Identifier: MIT */
/*
 * user_sums.h - sum up the counters of sessions by user.
 *
 * When a session ends, its counters go with its file, and a sum over the present files would fall.
 * So each session's growth since the last reading is added to its user; a user's counts never fall.
 * They begin with the first reading, and miss what a session does between the last reading and its
 * end.
 */
#ifndef QUOIT_TOOLS_USER_SUMS_H
#define QUOIT_TOOLS_USER_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "sessions.h"

/* At most this many users; a further one takes the place of one without a session. */
#define USER_SUMS_MOST 256

struct user_sum {
	uint32_t uid;
	char name[FORMAT_CELL_BYTES];             /* escaped */
	unsigned sessions;                        /* open at the last reading */
	struct counter now[QUOIT_SESSION_NR];     /* sums over these sessions */
	struct counter counted[QUOIT_SESSION_NR]; /* growth since the first reading */
};

struct user_sums;

/*
 * Take a reading, with its sessions in the order of their numbers.  whole: sessions of the first
 * reading count from their begin, for a caller that reads only once.  0 or -ENOMEM: *sums, NULL at
 * first, stays as it was.
 */
int user_sums_take(struct user_sums **sums, const struct sessions *s, bool whole);
void user_sums_free(struct user_sums *sums);

unsigned user_sums_count(const struct user_sums *u);
const struct user_sum *user_sums_at(const struct user_sums *u, unsigned i);

/* How many open sessions belong to users that had no room. */
unsigned user_sums_left_out(const struct user_sums *u);

/* Ticks per second; 0: not known. */
uint64_t user_sums_tsc_hz(const struct user_sums *u);

/*
 * How busy a session of the last reading is: its mean number of cores and executor streams, with
 * more weight on recent readings.  NULL: 0.
 */
double user_sums_busy(const struct user_sums *u, uint64_t session);

#endif
