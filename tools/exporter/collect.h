/* SPDX-License-Identifier: MIT */
/*
 * collect.h - the metrics of a quoitd, read from its counter files at this moment.
 *
 * Kept between two times is what was said on stderr, where the wall clock was, and, for users and
 * the order of sessions, what these had done.
 */
#ifndef QUOIT_TOOLS_EXPORTER_COLLECT_H
#define QUOIT_TOOLS_EXPORTER_COLLECT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <quoit/socket.h>

/* So many sessions, the busiest, are told one by one; the others are counted. */
#define COLLECT_SESSIONS      16  /* unless told otherwise, */
#define COLLECT_MOST_SESSIONS 256 /* and so many at most */

struct user_sums;

/* All zero but the first ones. */
struct collect {
	char socket[QUOIT_SOCKET_BYTES];
	bool sessions; /* those that may be read, one by one: */
	unsigned most; /* so many; 0: COLLECT_SESSIONS */
	bool users;    /* their users, each in a line */
	bool whole;    /* users have all that their sessions have done: nothing is read again */

	struct user_sums *known; /* of the readings before */

	int64_t clock_ns;  /* CLOCK_REALTIME less CLOCK_BOOTTIME */
	uint32_t compared; /* PID of the quoitd whose version was compared last */
	int said;          /* what stderr was told last: enum daemon_state, or -errno */
};

/*
 * Write them.  0, also without a quoitd: then there are its last figures, or none, and quoit_up is
 * 0.  -errno: its counter files cannot be read, and what was written is of no use.  What is wrong
 * is said on stderr, once.
 */
int collect_write(struct collect *c, FILE *out, bool openmetrics);

/* What is kept. */
void collect_free(struct collect *c);

#endif
