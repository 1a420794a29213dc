/* SPDX-License-Identifier: MIT */
/*
 * collect.h - read the metrics of a quoitd from its present counter files.
 *
 * Three things are kept between two scrapes: the last message on stderr, the offset of the wall
 * clock, and, for users and for the order of sessions, the counters of the last reading.
 */
#ifndef QUOIT_TOOLS_EXPORTER_COLLECT_H
#define QUOIT_TOOLS_EXPORTER_COLLECT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <quoit/socket.h>

/* Only the busiest sessions have series of their own; the others are counted. */
#define COLLECT_SESSIONS      16  /* default number */
#define COLLECT_MOST_SESSIONS 256 /* largest number */

/* Things with a name that have series of their own; the others are counted. */
#define COLLECT_SERVICES 128

struct user_sums;

/* Initialise the members up to `whole`, and the rest with zeros. */
struct collect {
	char socket[QUOIT_SOCKET_BYTES];
	bool sessions; /* series for single sessions that we may read */
	unsigned most; /* how many sessions; 0: COLLECT_SESSIONS */
	bool users;    /* series for each user of these sessions */
	bool services; /* series for services, locks and their kin that quoitd shows us */
	bool whole; /* users start with all that their sessions have done, for a single reading */

	struct user_sums *known; /* from the readings before */

	int64_t clock_ns;  /* CLOCK_REALTIME less CLOCK_BOOTTIME */
	uint32_t compared; /* PID of the quoitd that was compared last, by its version */
	int said;          /* the last message on stderr: enum daemon_state, or -errno */
};

/*
 * Write the metrics.  Returns 0, also without a quoitd: then it writes quoitd's last figures, or
 * none, and quoit_up is 0.  -errno: the counter files cannot be read, and the text is unusable.
 * Each problem is said on stderr once.
 */
int collect_write(struct collect *c, FILE *out, bool openmetrics);

/* Free the kept readings. */
void collect_free(struct collect *c);

#endif
