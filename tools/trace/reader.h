/* SPDX-License-Identifier: MIT */
/*
 * reader.h - read a recording, chunk by chunk.
 *
 * The file's bytes are hostile: every size is checked, and a chunk is copied before it is examined.
 * The reader and its users are fuzzed (tests/fuzz/fuzz_trace.c).
 */
#ifndef QUOIT_TOOLS_TRACE_READER_H
#define QUOIT_TOOLS_TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "layout.h"

struct trace_reader {
	int fd;               /* -1: reads `bytes` instead */
	const uint8_t *bytes; /* `size` bytes in memory */
	uint64_t size;
	uint64_t at;
	struct trace_header header; /* its texts all end with a NUL here */
	uint64_t *payload;          /* of the last chunk that was read */
	bool cut;                   /* the file ends within a chunk */
	char why[96];               /* why the file is bad */
};

/*
 * Open a file, or read bytes that stay in place.  0; -errno of the file; -EBADMSG: it is not a
 * recording; -EPROTONOSUPPORT: it is of another version; `why` says more.  Call trace_reader_close
 * in any case.
 */
int trace_reader_open(struct trace_reader *r, const char *path);
int trace_reader_take(struct trace_reader *r, const void *bytes, size_t size);
void trace_reader_close(struct trace_reader *r);

/*
 * Read the next chunk.  1: its bytes are at r->payload; 0: there are no more; -EBADMSG or -errno.
 */
int trace_reader_next(struct trace_reader *r, struct trace_chunk *ret);

/* Start again at the first chunk. */
void trace_reader_rewind(struct trace_reader *r);

#endif
