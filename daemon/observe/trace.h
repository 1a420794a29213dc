/* SPDX-License-Identifier: MIT */
/*
 * trace.h - records of what happens to a session's jobs, written while it is recorded.
 *
 * The control thread makes the file (recorder.h) and lends it to the session's reactor, which alone
 * writes to it until it gives it back.  Jobs and notes per second are limited, so that a reader can
 * follow and no other session waits for long; after a pause, more may come at a time.
 */
#ifndef QUOITD_TRACE_H
#define QUOITD_TRACE_H

#include <quoit/trace.h>

#include "session/session.h"

#define TRACE_TICK_NS 1000000u /* interval at which room is made and clients' notes are taken */
#define TRACE_JOBS    256u     /* room made for so many more jobs */
#define TRACE_NOTES   512u     /* at most so many notes taken */
#define TRACE_AT_ONCE 16384u   /* most room for jobs, or half of the file */

struct trace {
	uint32_t id;
	uint64_t session;
	uid_t uid; /* the user that pays for it */
	struct quoit_trace *file;
	struct quoit_trace_record *record;
	uint64_t bytes;
	int fd;
	/* For the reactor: */
	uint64_t head, events_dropped;
	uint64_t dropped;        /* jobs of the table that found no room */
	uint64_t at_fetch;       /* other jobs: fetched before it began, or recorded */
	uint64_t head_published; /* head when counts were last put there */
	uint32_t room, most;     /* for so many jobs; at most */
	uint64_t next_tick;      /* TSC of the next tick */
	uint64_t tick;           /* TRACE_TICK_NS in ticks */
	uint32_t allowance;      /* the last one given to the rings' clients; not 0 */
	uint32_t first_ring;     /* notes of this ring are taken first */
};

/* Bytes of a file with so many records. */
uint64_t trace_bytes(uint32_t records);

/* Make the session's file, which its user and quoitd can read.  0 or -errno.  Control thread. */
int trace_new(const struct session *s, int directory, const struct reactor *home, uint32_t records,
	      struct trace **ret);

/* Mark the file as ended; remove it.  Control thread, after the reactor. */
void trace_end(struct trace *t);
void trace_free(struct trace *t, int directory);

/* Get the next record, zeroed, and fill it in; trace_put publishes it. */
struct quoit_trace_record *trace_next(struct trace *t, uint8_t kind, uint32_t ring);
void trace_put(struct trace *t);

#endif
