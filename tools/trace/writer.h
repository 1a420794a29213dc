/* SPDX-License-Identifier: MIT */
/* writer.h - write a recording, with one buffer and one limit */
#ifndef QUOIT_TOOLS_TRACE_WRITER_H
#define QUOIT_TOOLS_TRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "layout.h"

struct trace_writer {
	int fd;
	uint8_t *buffer; /* TRACE_WRITER_BYTES */
	size_t used;
	uint64_t bytes, limit; /* of the file */
	int error;             /* the first -errno of a write; nothing is written after it */
};

#define TRACE_WRITER_BYTES (2u << 20)

/* Take over a descriptor that is open for writing, and write the header.  0 or -ENOMEM. */
int trace_writer_open(struct trace_writer *w, int fd, uint64_t limit,
		      const struct trace_header *header);

/* Does an optional chunk of this size fit within the limit? */
bool trace_writer_has_room(const struct trace_writer *w, size_t bytes);

/* Write one chunk of at most TRACE_MOST_CHUNK bytes, a multiple of 8. */
void trace_writer_put(struct trace_writer *w, enum trace_chunk_type type, uint64_t session,
		      const void *payload, size_t bytes);

/* Write out the buffer. */
void trace_writer_flush(struct trace_writer *w);

/* Write out the buffer, and close the descriptor; returns the first error, or 0. */
int trace_writer_close(struct trace_writer *w);

#endif
