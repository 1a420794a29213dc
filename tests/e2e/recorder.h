/* SPDX-License-Identifier: MIT */
/*
 * recorder.h - a recorder of sessions, and what their trace files have.
 *
 * What must not fail is asserted.
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

/* quoitd's answer to who asks for a session (0: for all) and so many records (0: the default). */
struct quoit_ctl recorder_ask(int fd, uint64_t session, uint32_t records);

/* Record all sessions, of which there is this one; its reactor has begun. */
int recorder_open(const struct daemon *d, struct quoit_session *s);

uint64_t recorder_number(struct quoit_session *s);

/* A session's file, to be freed. */
struct quoit_trace *recorder_read(const struct daemon *d, uint64_t session);

/* The same once nothing comes any more. */
struct quoit_trace *recorder_read_ended(const struct daemon *d, uint64_t session);

/* True once the file is there, or is not. */
bool recorder_file_is(const struct daemon *d, uint64_t session, bool there);

/* True once the session's reactor writes to its file. */
bool recorder_has_begun(const struct daemon *d, uint64_t session);

/* Record number i, of as many as there are and the file has. */
const struct quoit_trace_record *recorder_record(const struct quoit_trace *file, uint64_t i);
uint64_t recorder_records(const struct quoit_trace *file);

#endif
