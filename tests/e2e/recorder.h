/* SPDX-License-Identifier: MIT */
/*
 * recorder.h - record sessions, and read their trace files.
 *
 * Calls that must succeed are asserted.
 */
#ifndef TESTS_RECORDER_H
#define TESTS_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit.h>
#include <quoit/ctl.h>
#include <quoit/trace.h>

#include "daemon.h"

#define RECORDER_PATIENCE 500 /* times 10 ms */

int recorder_connect(const struct daemon *d);

void recorder_send(int fd, uint64_t session, uint32_t records);

/* Ask quoitd to record a session (0: all) with this many records (0: the default); its answer. */
struct quoit_ctl recorder_ask(int fd, uint64_t session, uint32_t records);

/* Record all sessions, of which s is one; waits until its reactor has begun. */
int recorder_open(const struct daemon *d, struct quoit_session *s);

uint64_t recorder_number(struct quoit_session *s);

/* Read a session's file; the caller frees it. */
struct quoit_trace *recorder_read(const struct daemon *d, uint64_t session);

/* The same once no more records come. */
struct quoit_trace *recorder_read_ended(const struct daemon *d, uint64_t session);

/* Wait until the file is there, or is not there. */
bool recorder_file_is(const struct daemon *d, uint64_t session, bool there);

/* Wait until the session's reactor writes to its file. */
bool recorder_has_begun(const struct daemon *d, uint64_t session);

/* Record number i; asserts that it exists and is still in the file. */
const struct quoit_trace_record *recorder_record(const struct quoit_trace *file, uint64_t i);
uint64_t recorder_records(const struct quoit_trace *file);

#endif
