/* SPDX-License-Identifier: MIT */
/*
 * recorder_private.h - functions that the files of the recorder share.
 *
 *	recorder.c           begin, look, end; records
 *	recorder_ask.c       requests to quoitd
 *	recorder_named.c     names of services, locks and their kin
 *	recorder_header.c    when, where, and of what
 *	recorder_sessions.c  which sessions are followed
 *	recorder_sites.c     names of call sites
 *	recorder_totals.c    reactors and cores
 */
#ifndef QUOIT_TOOLS_TRACE_RECORDER_PRIVATE_H
#define QUOIT_TOOLS_TRACE_RECORDER_PRIVATE_H

#include <time.h>

#include "recorder.h"

/* Nanoseconds of a clock; and the TSC, as libquoit and quoitd read it. */
uint64_t recorder_clock(clockid_t clock);
uint64_t recorder_ticks(void);

void recorder_fill_header(const struct recorder *r, struct trace_header *h);

/*
 * Ask quoitd to record a process's sessions, or all that we may record.  0, or -1 after a message.
 */
int recorder_ask_for_pid(struct recorder *r);
int recorder_ask_for_all(struct recorder *r);

/* Write a session's figures so far. */
void recorder_put_session(struct recorder *r, struct tail *t);

/* Add a session's losses to the sums of all, or subtract them (-1). */
void recorder_sum(struct recorder *r, const struct tail *t, int sign);

/* Follow new sessions; forget those that are over when their files have gone. */
void recorder_look_for_sessions(struct recorder *r, uint64_t now);

/*
 * Note the call sites in this record's waits; and write their names, as far as the client has given
 * them.
 */
void recorder_want_sites(struct recorder_tail *t, const struct quoit_trace_record *record);
void recorder_look_at_sites(struct recorder *r, struct recorder_tail *t, uint64_t now);

/* The same for services, locks and their kin, by the session's latency file. */
void recorder_want_name(struct recorder_tail *t, const struct quoit_trace_record *record);
void recorder_look_at_names(struct recorder *r, struct recorder_tail *t, uint64_t now);

void recorder_put_totals(struct recorder *r);

/* Sets r->daemon_died if quoitd has ended. */
void recorder_look_at_connections(struct recorder *r);

/* End all recordings that we asked for. */
void recorder_hang_up(struct recorder *r);

#endif
