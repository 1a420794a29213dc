/* SPDX-License-Identifier: MIT */
/* recording_case.h - recordings made up by a test, written as `quoit trace record` writes them */
#ifndef TESTS_RECORDING_CASE_H
#define TESTS_RECORDING_CASE_H

#include <stddef.h>
#include <stdio.h>

#include "trace/reader.h"
#include "trace/recording.h"
#include "trace/writer.h"

#define CASE_TSC 1000000u /* when it begins; a tick is a nanosecond */

struct recording_case {
	struct trace_writer writer;
	int fd; /* what was written, to be read */
	struct trace_reader reader;
	struct recording rec;
};

/* An empty one, and its parts. */
void case_begin(struct recording_case *c);
void case_session(struct recording_case *c, uint64_t number, const char *name);
void case_put(struct recording_case *c, uint64_t session, const struct quoit_trace_record *record);

/* A job that was fetched at a time (ns since the beginning), started and ended. */
struct quoit_trace_record case_job(uint32_t index, uint64_t fetch, uint64_t start, uint64_t end);

/* Put one event of the client's. */
void case_event(struct recording_case *c, uint64_t session, unsigned kind, uint64_t at,
		uint32_t index, unsigned site);

/* Put how many jobs are open. */
void case_level(struct recording_case *c, uint64_t session, uint64_t at, uint32_t open);

/*
 * One of a session of that name with 40 jobs at a time, submitted and reaped together, which its
 * client waited for.
 */
void case_busy(struct recording_case *c, const char *name);

/* Complete it, and open it again; then load it.  What reading says. */
void case_write(struct recording_case *c);
int case_load(struct recording_case *c);

/* The same, and what is written of it; to be freed. */
typedef int case_write_fn(struct trace_reader *r, struct recording *rec, FILE *out);
char *case_text(struct recording_case *c, case_write_fn *write);

/* Its bytes, to be freed. */
uint8_t *case_bytes(struct recording_case *c, size_t *ret_size);

void case_end(struct recording_case *c);

#endif
