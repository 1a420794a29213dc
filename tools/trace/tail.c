/* SPDX-License-Identifier: MIT */
/* tail.c - read new records of a session's trace file, and count those that are missed */
#include "tail.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The parts of a file's head that change. */
struct state {
	uint64_t head, dropped, events_dropped, ended;
};
QUOIT_STATIC_ASSERT(offsetof(struct quoit_trace, ended) ==
			    offsetof(struct quoit_trace, head) + offsetof(struct state, ended),
		    "as they are in the file");

/*
 * It copies, and does not map: if the writer truncates the file, a mapping would end us with
 * SIGBUS.
 */
static bool read_all(int fd, void *to, size_t bytes, uint64_t at)
{
	return pread(fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

bool tail_number(const char *name, uint64_t *ret)
{
	char again[32];

	if (sscanf(name, "trace.%20" SCNu64, ret) != 1)
		return false;
	snprintf(again, sizeof again, QUOIT_STATS_TRACE, (unsigned long long)*ret);
	return !strcmp(name, again);
}

/* ---- opening ---- */

static bool is_sound(const struct quoit_trace *f, uint64_t session, uint64_t size)
{
	const uint64_t bytes = (uint64_t)f->records * sizeof(struct quoit_trace_record);

	return f->begun && f->header.magic == QUOIT_STATS_MAGIC &&
	       f->header.version == QUOIT_STATS_VERSION && f->session == session &&
	       f->records >= QUOIT_TRACE_LEAST && f->records <= QUOIT_TRACE_MOST &&
	       !(f->records & (f->records - 1)) &&
	       f->record_bytes == sizeof(struct quoit_trace_record) && f->records_at >= sizeof *f &&
	       f->records_at <= size && bytes <= size - f->records_at;
}

static int take_head(struct tail *t, const struct counters_origin *origin, uint64_t since)
{
	struct quoit_trace f;
	struct stat st;

	if (fstat(t->fd, &st) < 0 || !S_ISREG(st.st_mode) || !read_all(t->fd, &f, sizeof f, 0) ||
	    !is_sound(&f, t->number, (uint64_t)st.st_size) ||
	    f.header.daemon_pid != origin->daemon_pid || f.header.started_ns < origin->started_ns)
		return -EBADMSG;
	t->records = f.records;
	t->records_at = f.records_at;
	t->next = f.begun < since ? f.head : 0; /* the file was made for another recorder */
	t->s = (struct trace_session){.uid = f.uid,
				      .pid = f.pid,
				      .reactor = f.reactor,
				      .cpu = f.cpu,
				      .node = f.node,
				      .begun = f.begun};
	memcpy(t->s.name, f.name, sizeof t->s.name);
	return 0;
}

int tail_open(struct tail *t, int directory, uint64_t session, const struct counters_origin *origin,
	      uint64_t since)
{
	char name[32];
	int err;

	snprintf(name, sizeof name, QUOIT_STATS_TRACE, (unsigned long long)session);
	*t = (struct tail){
		.number = session,
		.fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
	if (t->fd < 0)
		return -errno;
	err = take_head(t, origin, since);
	if (err)
		tail_close(t);
	return err;
}

void tail_close(struct tail *t)
{
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
	t->over = true;
}

void tail_go_on(struct tail *t, const struct tail *before)
{
	t->dropped = before->s.dropped;
	t->events_dropped = before->s.events_dropped;
	t->s.lost = before->s.lost;
	t->s.unwritten = before->s.unwritten;
}

/* ---- reading ---- */

static bool read_state(const struct tail *t, struct state *ret)
{
	return read_all(t->fd, ret, sizeof *ret, offsetof(struct quoit_trace, head)) &&
	       ret->head >= t->next;
}

/* Copy `count` records from t->next on; they may wrap around the ring's end. */
static bool copy(const struct tail *t, struct quoit_trace_record *ret, size_t count)
{
	size_t from = t->next & (t->records - 1);
	size_t first = count < t->records - from ? count : t->records - from;

	return read_all(t->fd, ret, first * sizeof *ret, t->records_at + from * sizeof *ret) &&
	       (first == count ||
		read_all(t->fd, ret + first, (count - first) * sizeof *ret, t->records_at));
}

/*
 * The oldest record that is valid: older ones are overwritten, and `margin` of them may be at this
 * moment.
 */
static uint64_t oldest(const struct tail *t, uint64_t head, uint64_t margin)
{
	return head + margin > t->records ? head + margin - t->records : 0;
}

static void pass_over(struct tail *t, uint64_t until)
{
	if (until > t->next) {
		t->s.lost += until - t->next;
		t->next = until;
	}
}

size_t tail_read(struct tail *t, struct quoit_trace_record *ret, size_t most)
{
	struct state before, after;
	size_t count, spoilt;
	uint64_t first, whole;

	if (t->over || !read_state(t, &before)) {
		tail_close(t);
		return 0;
	}
	t->s.dropped = t->dropped + before.dropped;
	t->s.events_dropped = t->events_dropped + before.events_dropped;
	if (before.head == t->next) {
		t->over = t->ended; /* `ended` was set when all records were there */
		t->ended = before.ended != 0;
		return 0;
	}
	t->ended = before.ended != 0;
	pass_over(t, oldest(t, before.head, 0));
	count = before.head - t->next < most ? (size_t)(before.head - t->next) : most;
	if (!copy(t, ret, count) || !read_state(t, &after)) {
		t->s.lost += before.head - t->next; /* the file was emptied before it was read */
		tail_close(t);
		return 0;
	}
	first = t->next;
	whole = oldest(t, after.head, QUOIT_TRACE_MARGIN);
	pass_over(t, whole < first + count ? whole : first + count);
	spoilt = (size_t)(t->next - first);
	memmove(ret, ret + spoilt, (count - spoilt) * sizeof *ret);
	t->next = first + count;
	return count - spoilt;
}
