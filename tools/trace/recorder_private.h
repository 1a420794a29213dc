/* SPDX-License-Identifier: MIT */
/* recorder_private.h - what the files of the recorder have in common */
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

/* Has quoitd ended?  Then r->daemon_died says so. */
void recorder_look_at_connections(struct recorder *r);

/* End all that was asked for. */
void recorder_hang_up(struct recorder *r);

#endif
