/* SPDX-License-Identifier: MIT */
/* recording_case.h - make up recordings, written as `quoit trace record` writes them */
#ifndef TESTS_RECORDING_CASE_H
#define TESTS_RECORDING_CASE_H

#include <stddef.h>
#include <stdio.h>

#include "trace/reader.h"
#include "trace/recording.h"
#include "trace/writer.h"

#define CASE_TSC 1000000u /* TSC at its begin; a tick is a nanosecond */

struct recording_case {
	struct trace_writer writer;
	int fd; /* the recording, to be read */
	struct trace_reader reader;
	struct recording rec;
};

/* Begin an empty one, and add its parts. */
void case_begin(struct recording_case *c);
void case_session(struct recording_case *c, uint64_t number, const char *name);
void case_put(struct recording_case *c, uint64_t session, const struct quoit_trace_record *record);

/* A job by the times of its fetch, start and end (ns since the begin). */
struct quoit_trace_record case_job(uint32_t index, uint64_t fetch, uint64_t start, uint64_t end);

/* Put one event of the client. */
void case_event(struct recording_case *c, uint64_t session, unsigned kind, uint64_t at,
		uint32_t index, unsigned site);

/* Put how many jobs are open. */
void case_level(struct recording_case *c, uint64_t session, uint64_t at, uint32_t open);

/*
 * Put a session of that name with 40 jobs at a time, which the client submits, reaps and waits for
 * together.
 */
void case_busy(struct recording_case *c, const char *name);

/* Complete it, open it again, and load it; returns the reader's result. */
void case_write(struct recording_case *c);
int case_load(struct recording_case *c);

/* The same, and convert it; the caller frees the result. */
typedef int case_write_fn(struct trace_reader *r, struct recording *rec, FILE *out);
char *case_text(struct recording_case *c, case_write_fn *write);

/* Its bytes; the caller frees them. */
uint8_t *case_bytes(struct recording_case *c, size_t *ret_size);

void case_end(struct recording_case *c);

#endif
