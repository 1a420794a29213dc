/* SPDX-License-Identifier: MIT */
/*
 * trace.h - what happens to a session's jobs, record by record, while somebody records it.
 *
 * The control thread makes the file (recorder.h) and lends it to the session's reactor, which
 * alone writes to it until it gives it back.  So many jobs and notes come a second at most that who
 * reads them can follow, and that nobody else waits for long; a pause lets more come at a time.
 */
#ifndef QUOITD_TRACE_H
#define QUOITD_TRACE_H

#include <quoit/trace.h>

#include "session.h"

#define TRACE_TICK_NS 1000000u /* so often there is room for more, and clients' notes are taken */
#define TRACE_JOBS    256u     /* so many more jobs, */
#define TRACE_NOTES   512u     /* and at most so many notes */
#define TRACE_AT_ONCE 16384u   /* or half of the file */

struct trace {
	uint32_t id;
	uint64_t session;
	uid_t uid; /* who pays for it */
	struct quoit_trace *file;
	struct quoit_trace_record *record;
	uint64_t bytes;
	int fd;
	/* the reactor's: */
	uint64_t head, events_dropped;
	uint64_t dropped;    /* jobs of the table */
	uint64_t at_fetch;   /* so many others were fetched before it began, or are in it */
	uint64_t told;       /* head when counts were last put there */
	uint32_t room, most; /* for so many jobs, until */
	uint64_t next_tick;  /* TSC */
	uint64_t tick;       /* in ticks */
	uint32_t allowance;  /* the last that rings' clients were given; not 0 */
	uint32_t first_ring; /* whose notes are taken first */
};

/* Bytes of a file with so many records. */
uint64_t trace_bytes(uint32_t records);

/* Make the session's file, for its user and us to read; -errno: there is none.  Control thread. */
int trace_new(const struct session *s, int directory, const struct reactor *home, uint32_t records,
	      struct trace **ret);

/* Say that nothing comes any more; remove the file.  Control thread, after the reactor. */
void trace_end(struct trace *t);
void trace_free(struct trace *t, int directory);

/* The next record, zeroed, to be filled in; it is there for others with the next trace_put. */
struct quoit_trace_record *trace_next(struct trace *t, uint8_t kind, uint32_t ring);
void trace_put(struct trace *t);

#endif
