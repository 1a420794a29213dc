/* SPDX-License-Identifier: MIT */
/*
 * recorder_private.h - what the files of the recorder have in common.
 *
 *	recorder.c           begin, look, end; records
 *	recorder_ask.c       what quoitd is asked for
 *	recorder_header.c    when, where, and of what
 *	recorder_sessions.c  which sessions are followed
 *	recorder_sites.c     names of call sites
 *	recorder_totals.c    reactors and cores
 */
#ifndef QUOIT_TOOLS_TRACE_RECORDER_PRIVATE_H
#define QUOIT_TOOLS_TRACE_RECORDER_PRIVATE_H

#include <time.h>

#include "trace/recorder.h"

/* Nanoseconds; and the TSC, as libquoit and quoitd read it. */
uint64_t recorder_clock(clockid_t clock);
uint64_t recorder_ticks(void);

void recorder_fill_header(const struct recorder *r, struct trace_header *h);

/*
 * Ask for the sessions that a process has, or for all that one may record.  0, or -1 after a
 * message.
 */
int recorder_ask_for_pid(struct recorder *r);
int recorder_ask_for_all(struct recorder *r);

/* What a session has told so far. */
void recorder_put_session(struct recorder *r, struct tail *t);

/* Add what is missing of a session to what is of all, or take it back (-1). */
void recorder_sum(struct recorder *r, const struct tail *t, int sign);

/* Follow those that have come; forget those that are over and gone. */
void recorder_look_for_sessions(struct recorder *r, uint64_t now);

/* The call sites of this record's waits; and their names, as the client has written them by now. */
void recorder_want_sites(struct recorder_tail *t, const struct quoit_trace_record *record);
void recorder_look_at_sites(struct recorder *r, struct recorder_tail *t, uint64_t now);

void recorder_put_totals(struct recorder *r);

/* Has quoitd ended?  Then r->daemon_died says so. */
void recorder_look_at_connections(struct recorder *r);

/* End all that was asked for. */
void recorder_hang_up(struct recorder *r);

#endif
