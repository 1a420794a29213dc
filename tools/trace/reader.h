/* SPDX-License-Identifier: MIT */
/*
 * reader.h - read a recording, chunk by chunk.
 *
 * Its bytes are hostile: every size is checked, and a chunk is copied before anybody looks at it.
 * Fuzzed, with what stands on it (tests/fuzz/fuzz_trace.c).
 */
#ifndef QUOIT_TOOLS_TRACE_READER_H
#define QUOIT_TOOLS_TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/layout.h"

struct trace_reader {
	int fd;               /* -1: bytes */
	const uint8_t *bytes; /* of so many */
	uint64_t size;
	uint64_t at;
	struct trace_header header; /* its texts ended by a NUL */
	uint64_t *payload;          /* of the chunk that was read last */
	bool cut;                   /* the file ends within a chunk */
	char why[96];               /* what is wrong with it */
};

/*
 * Open a file, or take bytes that stay where they are.  0; -errno of the file; -EBADMSG: it is no
 * recording, -EPROTONOSUPPORT: one of another version; `why` says more.  trace_reader_close it in
 * any case.
 */
int trace_reader_open(struct trace_reader *r, const char *path);
int trace_reader_take(struct trace_reader *r, const void *bytes, size_t size);
void trace_reader_close(struct trace_reader *r);

/* The next chunk: 1, and its bytes are at r->payload; 0: that was all; -EBADMSG, or -errno. */
int trace_reader_next(struct trace_reader *r, struct trace_chunk *ret);

/* From the first chunk again. */
void trace_reader_rewind(struct trace_reader *r);

#endif
