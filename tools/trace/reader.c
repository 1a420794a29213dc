/* SPDX-License-Identifier: MIT */
/* reader.c - read a recording, chunk by chunk */
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* With fewer ticks a second, a recording of a day would have times beyond 2^53 ns. */
#define LEAST_HZ 1000000u
#define MOST_HZ  UINT64_C(100000000000)

/* Copy bytes of the file; returns how many there were, or -errno. */
static int64_t copy(const struct trace_reader *r, uint64_t at, void *to, size_t bytes)
{
	size_t got = 0;
	ssize_t n = 1;

	if (r->fd < 0) {
		got = at >= r->size ? 0 : r->size - at < bytes ? (size_t)(r->size - at) : bytes;
		if (got)
			memcpy(to, r->bytes + at, got);
		return (int64_t)got;
	}
	while (got < bytes && n > 0) {
		n = pread(r->fd, (char *)to + got, bytes - got, (off_t)(at + got));
		if (n > 0)
			got += (size_t)n;
		else if (n < 0 && errno == EINTR)
			n = 1;
	}
	return n < 0 ? -errno : (int64_t)got;
}

static void end_texts(struct trace_header *h)
{
	h->machine[sizeof h->machine - 1] = '\0';
	h->system[sizeof h->system - 1] = '\0';
	h->cpu[sizeof h->cpu - 1] = '\0';
	h->command[sizeof h->command - 1] = '\0';
}

static int read_header(struct trace_reader *r)
{
	struct trace_header *h = &r->header;
	int64_t n = copy(r, 0, h, sizeof *h);

	if (n < 0)
		return (int)n;
	if (n < (int64_t)offsetof(struct trace_header, tsc_hz) || h->magic != TRACE_MAGIC) {
		snprintf(r->why, sizeof r->why,
			 "the file is not a recording of quoit trace record");
		return -EBADMSG;
	}
	if (h->version != TRACE_VERSION) {
		snprintf(r->why, sizeof r->why,
			 "the recording has version %" PRIu32 ", this tool reads version %u",
			 h->version, TRACE_VERSION);
		return -EPROTONOSUPPORT;
	}
	if (n < (int64_t)sizeof *h || h->header_bytes < sizeof *h || h->header_bytes % 8 ||
	    h->header_bytes > TRACE_MOST_CHUNK || h->tsc_hz < LEAST_HZ || h->tsc_hz > MOST_HZ) {
		snprintf(r->why, sizeof r->why, "the recording's header is damaged");
		return -EBADMSG;
	}
	end_texts(h);
	trace_reader_rewind(r);
	return 0;
}

static int begin(struct trace_reader *r)
{
	r->payload = malloc(TRACE_MOST_CHUNK);
	return r->payload ? read_header(r) : -ENOMEM;
}

int trace_reader_open(struct trace_reader *r, const char *path)
{
	struct stat st;

	*r = (struct trace_reader){.fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
	if (r->fd < 0 || fstat(r->fd, &st) < 0) {
		snprintf(r->why, sizeof r->why, "%s", strerror(errno));
		return -errno;
	}
	if (!S_ISREG(st.st_mode)) {
		snprintf(r->why, sizeof r->why, "the recording must be a regular file");
		return -EBADMSG;
	}
	return begin(r);
}

int trace_reader_take(struct trace_reader *r, const void *bytes, size_t size)
{
	*r = (struct trace_reader){.fd = -1, .bytes = bytes, .size = size};
	return begin(r);
}

void trace_reader_close(struct trace_reader *r)
{
	if (r->fd >= 0)
		close(r->fd);
	free(r->payload);
	*r = (struct trace_reader){.fd = -1};
}

void trace_reader_rewind(struct trace_reader *r)
{
	r->at = r->header.header_bytes;
	r->cut = false;
}

int trace_reader_next(struct trace_reader *r, struct trace_chunk *ret)
{
	int64_t n = copy(r, r->at, ret, sizeof *ret);

	if (n == (int64_t)sizeof *ret && (ret->bytes > TRACE_MOST_CHUNK || ret->bytes % 8)) {
		snprintf(r->why, sizeof r->why,
			 "the chunk at byte %" PRIu64 " has the impossible size of %" PRIu32
			 " bytes",
			 r->at, ret->bytes);
		return -EBADMSG;
	}
	if (n == (int64_t)sizeof *ret) {
		n = copy(r, r->at + sizeof *ret, r->payload, ret->bytes);
		if (n == (int64_t)ret->bytes) {
			r->at += sizeof *ret + ret->bytes;
			return 1;
		}
		n = n < 0 ? n : 1;
	}
	if (n < 0)
		snprintf(r->why, sizeof r->why, "%s", strerror((int)-n));
	r->cut = n > 0;
	return n < 0 ? (int)n : 0;
}
