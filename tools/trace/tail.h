/* SPDX-License-Identifier: MIT */
/*
 * tail.h - read new records of a session's trace file (quoit/trace.h), and count those that are
 * missed
 */
#ifndef QUOIT_TOOLS_TRACE_TAIL_H
#define QUOIT_TOOLS_TRACE_TAIL_H

#include <stdbool.h>
#include <stddef.h>

#include "layout.h"
#include "read/counters.h"

struct tail {
	uint64_t number; /* of the session */
	int fd;          /* -1: closed */
	uint32_t records, records_at;
	uint64_t next;                    /* number of the next record to read */
	bool ended;                       /* the session has ended; there may be more to read */
	bool over;                        /* no more records will come */
	uint64_t dropped, events_dropped; /* sums of the session's former files */
	struct trace_session s;
};

/*
 * Take over a session's file, open to read, or -errno, if the quoitd with this origin has written it.  Records from before
 * `since` (TSC) are skipped.  0 or -errno; -EBADMSG: it is not such a file, or another quoitd's.
 */
int tail_open(struct tail *t, int fd, uint64_t session, const struct counters_origin *origin,
	      uint64_t since);
void tail_close(struct tail *t);

/* Continue the counts of a former tail of the same session, which is over. */
void tail_go_on(struct tail *t, const struct tail *before);

/*
 * Read at most `most` records that have come since the last call; returns how many.  Counts in t->s
 * the records that were lost in between, and copies quoitd's own counts of dropped ones.
 */
size_t tail_read(struct tail *t, struct quoit_trace_record *ret, size_t most);

#endif
