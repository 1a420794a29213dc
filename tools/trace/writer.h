/* SPDX-License-Identifier: MIT */
/* writer.h - write a recording: one buffer, one limit */
#ifndef QUOIT_TOOLS_TRACE_WRITER_H
#define QUOIT_TOOLS_TRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/layout.h"

struct trace_writer {
	int fd;
	uint8_t *buffer; /* TRACE_WRITER_BYTES */
	size_t used;
	uint64_t bytes, limit; /* of the file */
	int error;             /* the first -errno of writing: nothing is written any more */
};

#define TRACE_WRITER_BYTES (2u << 20)

/* Takes a descriptor that is open for writing, and puts the header there.  0 or -ENOMEM. */
int trace_writer_open(struct trace_writer *w, int fd, uint64_t limit,
		      const struct trace_header *header);

/* Is there room within the limit for so much more of what may be left out? */
bool trace_writer_has_room(const struct trace_writer *w, size_t bytes);

/* One chunk; at most TRACE_MOST_CHUNK bytes, a multiple of 8. */
void trace_writer_put(struct trace_writer *w, enum trace_chunk_type type, uint64_t session,
		      const void *payload, size_t bytes);

/* Write what is in the buffer. */
void trace_writer_flush(struct trace_writer *w);

/* Flush, and close the descriptor; the first error, or 0. */
int trace_writer_close(struct trace_writer *w);

#endif
