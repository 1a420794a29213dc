/* SPDX-License-Identifier: MIT */
/* tail.h - read what comes in a session's trace file (quoit/trace.h), and count what is missed */
#ifndef QUOIT_TOOLS_TRACE_TAIL_H
#define QUOIT_TOOLS_TRACE_TAIL_H

#include <stdbool.h>
#include <stddef.h>

#include "counters.h"
#include "trace/layout.h"

struct tail {
	uint64_t number; /* the session's */
	int fd;          /* -1: closed */
	uint32_t records, records_at;
	uint64_t next;                    /* the record to be read next */
	bool ended;                       /* the session is; there may be more to read */
	bool over;                        /* nothing comes any more */
	uint64_t dropped, events_dropped; /* in files of this session before this one */
	struct trace_session s;
};

/*
 * Open a session's file, if quoitd of this origin has written it.  What was there before `since`
 * (TSC) is passed over.  0 or -errno; -EBADMSG: it is no such file, or of another quoitd's.
 */
int tail_open(struct tail *t, int directory, uint64_t session, const struct counters_origin *origin,
	      uint64_t since);
void tail_close(struct tail *t);

/* It is of the same session as one that is over, whose counts it goes on with. */
void tail_go_on(struct tail *t, const struct tail *before);

/*
 * At most so many records that have come since the last call, and how many.  It counts in t->s
 * what was lost between, and copies what quoitd says that it has dropped.
 */
size_t tail_read(struct tail *t, struct quoit_trace_record *ret, size_t most);

/* Is this the name of such a file? */
bool tail_number(const char *name, uint64_t *ret);

#endif
