/* SPDX-License-Identifier: MIT */
/* writer.c - write a recording, with one buffer and one limit */
#include "writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add(struct trace_writer *w, const void *from, size_t bytes)
{
	if (w->error)
		return;
	if (w->used + bytes > TRACE_WRITER_BYTES)
		trace_writer_flush(w);
	memcpy(w->buffer + w->used, from, bytes);
	w->used += bytes;
	w->bytes += bytes;
}

int trace_writer_open(struct trace_writer *w, int fd, uint64_t limit,
		      const struct trace_header *header)
{
	*w = (struct trace_writer){.fd = fd, .limit = limit, .buffer = malloc(TRACE_WRITER_BYTES)};
	if (!w->buffer)
		return -ENOMEM;
	add(w, header, sizeof *header);
	return 0;
}

bool trace_writer_has_room(const struct trace_writer *w, size_t bytes)
{
	return !w->error && w->bytes + sizeof(struct trace_chunk) + bytes <= w->limit;
}

void trace_writer_put(struct trace_writer *w, enum trace_chunk_type type, uint64_t session,
		      const void *payload, size_t bytes)
{
	const struct trace_chunk head = {
		.type = type, .bytes = (uint32_t)bytes, .session = session};

	add(w, &head, sizeof head);
	add(w, payload, bytes);
}

void trace_writer_flush(struct trace_writer *w)
{
	size_t done = 0;

	while (!w->error && done < w->used) {
		ssize_t n = write(w->fd, w->buffer + done, w->used - done);

		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			w->error = n == 0 ? -EIO : -errno;
	}
	w->used = 0;
}

int trace_writer_close(struct trace_writer *w)
{
	trace_writer_flush(w);
	if (close(w->fd) < 0 && !w->error)
		w->error = -errno;
	free(w->buffer);
	w->buffer = NULL;
	return w->error;
}
