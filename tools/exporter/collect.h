/* SPDX-License-Identifier: MIT */
/*
 * collect.h - the metrics of a quoitd, read from its counter files at this moment.
 *
 * Nothing is kept between two times but what was said on stderr, and where the wall clock was.
 */
#ifndef QUOIT_TOOLS_EXPORTER_COLLECT_H
#define QUOIT_TOOLS_EXPORTER_COLLECT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <quoit/socket.h>

/* So many sessions, those with the lowest numbers, are told one by one; the others are counted. */
#define COLLECT_MOST_SESSIONS 256

/* All zero but the first two. */
struct collect {
	char socket[QUOIT_SOCKET_BYTES];
	bool sessions; /* those that may be read, one by one */

	int64_t clock_ns; /* CLOCK_REALTIME less CLOCK_BOOTTIME */
	int said;         /* what stderr was told last: enum in collect.c, or -errno */
};

/*
 * Write them.  0, also without a quoitd: then there are its last figures, or none, and quoit_up is
 * 0.  -errno: its counter files cannot be read, and what was written is of no use.  What is wrong
 * is said on stderr, once.
 */
int collect_write(struct collect *c, FILE *out, bool openmetrics);

/* Why it failed. */
const char *collect_reason(int err);

#endif
