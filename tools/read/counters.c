/* SPDX-License-Identifier: MIT */
/* counters.c - read the counter files of a quoitd (quoit/stats.h) */
#include "counters.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_COUNTERS      256u
#define MOST_FILE_BYTES    (1u << 20)
#define MOST_SESSION_BYTES (64u << 10)

#define LABEL(name, text) text,
static const char session_labels[QUOIT_SESSION_NR][QUOIT_LABEL_BYTES] = {
	QUOIT_SESSION_STATS(LABEL)};
static const char reactor_labels[QUOIT_REACTOR_NR][QUOIT_LABEL_BYTES] = {
	QUOIT_REACTOR_STATS(LABEL)};
static const char core_labels[QUOIT_CORE_NR][QUOIT_LABEL_BYTES] = {QUOIT_CORE_STATS(LABEL)};
static const char daemon_labels[QUOIT_DAEMON_NR][QUOIT_LABEL_BYTES] = {QUOIT_DAEMON_STATS(LABEL)};
#undef LABEL

struct bytes {
	const uint8_t *at;
	size_t size;
};

/* Copy out of the file; false: the file ends before. */
static bool take(struct bytes file, size_t offset, void *to, size_t size)
{
	if (offset > file.size || size > file.size - offset)
		return false;
	memcpy(to, file.at + offset, size);
	return true;
}

/* ---- labels and values ---- */

/* The index of our counter with this label; count: none has it. */
static unsigned find_label(const char label[QUOIT_LABEL_BYTES],
			   const char (*labels)[QUOIT_LABEL_BYTES], unsigned count)
{
	unsigned i = 0;

	while (i < count && strncmp(label, labels[i], QUOIT_LABEL_BYTES))
		i++;
	return i;
}

/* One table: `given` labels at one offset, their values at another. */
static bool take_values(struct bytes file, size_t label_at, size_t value_at, unsigned given,
			const char (*labels)[QUOIT_LABEL_BYTES], unsigned count,
			struct counter *ret)
{
	const size_t label_bytes = (size_t)given * QUOIT_LABEL_BYTES;
	bool ours; /* true for nearly all files: they are of our own version */

	if (label_at > file.size || label_bytes > file.size - label_at)
		return false;
	ours = given == count && !memcmp(file.at + label_at, labels, label_bytes);
	for (unsigned i = 0; i < given; i++) {
		const uint8_t *label = file.at + label_at + (size_t)i * QUOIT_LABEL_BYTES;
		uint64_t value;
		unsigned which = ours ? i : find_label((const char *)label, labels, count);

		if (!take(file, value_at + (size_t)i * sizeof value, &value, sizeof value))
			return false;
		if (which < count)
			ret[which] = (struct counter){.value = value, .known = true};
	}
	return true;
}

/* ---- header ---- */

static int take_header(struct bytes file, size_t label_at, struct quoit_stats_header *ret)
{
	if (!take(file, 0, ret, sizeof *ret) || ret->magic != QUOIT_STATS_MAGIC)
		return -EBADMSG;
	if (ret->version != QUOIT_STATS_VERSION || ret->label_bytes != QUOIT_LABEL_BYTES)
		return -EPROTONOSUPPORT;
	if (ret->file_bytes > file.size || ret->header_bytes > ret->file_bytes ||
	    ret->counters > MOST_COUNTERS || ret->reactor_counters > MOST_COUNTERS ||
	    ret->core_counters > MOST_COUNTERS || ret->header_bytes < label_at ||
	    ret->header_bytes - label_at <
		    (ret->counters + ret->reactor_counters + ret->core_counters) *
			    QUOIT_LABEL_BYTES)
		return -EBADMSG;
	return 0;
}

static struct counters_origin origin_of(const struct quoit_stats_header *h)
{
	return (struct counters_origin){.daemon_pid = h->daemon_pid,
					.pid_namespace = h->pid_namespace,
					.tsc_hz = h->tsc_hz,
					.started_ns = h->started_ns};
}

/* ---- session ---- */

int counters_parse_session(const void *bytes, size_t size, struct counters_session *ret)
{
	const size_t label_at = offsetof(struct quoit_session_stats, label);
	struct bytes file = {bytes, size};
	struct quoit_stats_header header;
	struct quoit_session_stats stats;
	int err = take_header(file, label_at, &header);

	if (err)
		return err;
	if (!take(file, 0, &stats, label_at))
		return -EBADMSG;
	*ret = (struct counters_session){.origin = origin_of(&header),
					 .session = stats.session,
					 .uid = stats.uid,
					 .pid = stats.pid,
					 .reactor = stats.reactor,
					 .node = stats.node,
					 .opened_ns = stats.opened_ns,
					 .ended = stats.ended != 0};
	memcpy(ret->name, stats.name, sizeof stats.name);
	return take_values(file, label_at, header.header_bytes, header.counters, session_labels,
			   QUOIT_SESSION_NR, ret->value)
		       ? 0
		       : -EBADMSG;
}

/* ---- totals ---- */

static size_t whole_lines(size_t bytes)
{
	return (bytes + QUOIT_LINE - 1) / QUOIT_LINE * QUOIT_LINE;
}

/* The bytes of one block: blocks follow each other, each on lines of its own. */
static size_t block_bytes(size_t head, unsigned counters)
{
	return whole_lines(head + counters * sizeof(uint64_t));
}

static bool take_reactor(struct bytes file, size_t label_at, size_t block, unsigned given,
			 struct counters_reactor *ret)
{
	const size_t value_at = offsetof(struct quoit_reactor_block, value);
	struct quoit_reactor_block head;

	if (!take(file, block, &head, value_at))
		return false;
	ret->cpu = head.cpu;
	ret->node = head.node;
	return take_values(file, label_at, block + value_at, given, reactor_labels,
			   QUOIT_REACTOR_NR, ret->value);
}

static bool take_core(struct bytes file, size_t label_at, size_t block, unsigned given,
		      struct counters_core *ret)
{
	const size_t value_at = offsetof(struct quoit_core_block, value);
	struct quoit_core_block head;

	if (!take(file, block, &head, value_at))
		return false;
	ret->cpu = head.cpu;
	ret->node = head.node;
	return take_values(file, label_at, block + value_at, given, core_labels, QUOIT_CORE_NR,
			   ret->value);
}

static bool take_reactors(struct bytes file, const struct quoit_stats_header *h, size_t label_at,
			  struct counters_totals *ret)
{
	size_t bytes =
		block_bytes(offsetof(struct quoit_reactor_block, value), h->reactor_counters);
	size_t block = whole_lines(h->header_bytes + (size_t)h->counters * sizeof(uint64_t));

	for (; ret->reactors < h->reactors; ret->reactors++, block += bytes)
		if (!take_reactor(file, label_at, block, h->reactor_counters,
				  &ret->reactor[ret->reactors]))
			return false;
	return true;
}

static bool take_cores(struct bytes file, const struct quoit_stats_header *h, size_t label_at,
		       struct counters_totals *ret)
{
	size_t bytes = block_bytes(offsetof(struct quoit_core_block, value), h->core_counters);
	size_t block = h->cores_at;

	for (; ret->cores < h->cores; ret->cores++, block += bytes)
		if (!take_core(file, label_at, block, h->core_counters, &ret->core[ret->cores]))
			return false;
	return true;
}

int counters_parse_totals(const void *bytes, size_t size, struct counters_totals *ret)
{
	const size_t label_at = offsetof(struct quoit_totals, daemon_label);
	struct bytes file = {bytes, size};
	struct quoit_stats_header h;
	size_t reactor_label_at, core_label_at;
	int err = take_header(file, label_at, &h);

	if (err)
		return err;
	*ret = (struct counters_totals){.origin = origin_of(&h)};
	reactor_label_at = label_at + (size_t)h.counters * QUOIT_LABEL_BYTES;
	core_label_at = reactor_label_at + (size_t)h.reactor_counters * QUOIT_LABEL_BYTES;
	if (h.reactors > QUOIT_MAX_REACTORS || h.cores > QUOIT_MAX_CORES ||
	    !take_values(file, label_at, h.header_bytes, h.counters, daemon_labels, QUOIT_DAEMON_NR,
			 ret->value) ||
	    !take_reactors(file, &h, reactor_label_at, ret) ||
	    !take_cores(file, &h, core_label_at, ret))
		return -EBADMSG;
	return 0;
}

/* ---- files ---- */

/* Open a regular file; O_NONBLOCK, because a FIFO may lie there instead. */
static int open_file(int directory, const char *name)
{
	int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EBADMSG;
	}
	return fd;
}

/* Read the whole file by one call: a shorter result means the end of a regular file. */
static int64_t read_all(int fd, void *buffer, size_t size)
{
	ssize_t n = pread(fd, buffer, size, 0);
	struct stat st;

	if (n == (ssize_t)size && (fstat(fd, &st) < 0 || (uint64_t)st.st_size > size))
		return -EBADMSG;
	return n < 0 ? -errno : n;
}

int64_t counters_read_file(int directory, const char *name, void *buffer, size_t size)
{
	int fd = open_file(directory, name);
	int64_t n;

	if (fd < 0)
		return fd;
	n = read_all(fd, buffer, size);
	close(fd);
	return n;
}

bool counters_session_number(const char *name, uint64_t *ret)
{
	char again[32];

	if (sscanf(name, "session.%20" SCNu64, ret) != 1)
		return false;
	snprintf(again, sizeof again, QUOIT_STATS_SESSION, (unsigned long long)*ret);
	/* one file for each number: a sign or a leading zero is refused */
	return !strcmp(name, again);
}

bool counters_is_of(const struct counters_session *s, const struct counters_totals *t)
{
	return s->origin.daemon_pid == t->origin.daemon_pid && s->opened_ns >= t->origin.started_ns;
}

int counters_open_session(int directory, uint64_t session)
{
	char name[32];

	snprintf(name, sizeof name, QUOIT_STATS_SESSION, (unsigned long long)session);
	return open_file(directory, name);
}

/* quoitd writes the magic last. */
static bool is_being_made(const char *file, int64_t size)
{
	uint64_t magic = 1;

	if (size >= (int64_t)sizeof magic)
		memcpy(&magic, file, sizeof magic);
	return magic == 0;
}

int counters_reread_session(int fd, uint64_t session, struct counters_session *ret)
{
	char buffer[MOST_SESSION_BYTES];
	int64_t n = read_all(fd, buffer, sizeof buffer);

	if (!n || is_being_made(buffer, n))
		/*
		 * the session has ended, and its file was emptied; or the file is not complete yet
		 */
		return -ENOENT;
	if (n > 0)
		n = counters_parse_session(buffer, (size_t)n, ret);
	if (!n && ret->session != session)
		n = -EBADMSG;
	return (int)n;
}

int counters_read_session(int directory, uint64_t session, struct counters_session *ret)
{
	int fd = counters_open_session(directory, session), err;

	if (fd < 0)
		return fd;
	err = counters_reread_session(fd, session, ret);
	close(fd);
	return err;
}

int counters_read_totals(int directory, struct counters_totals *ret)
{
	char *buffer = malloc(MOST_FILE_BYTES);
	int64_t n;

	if (!buffer)
		return -ENOMEM;
	n = counters_read_file(directory, QUOIT_STATS_TOTALS, buffer, MOST_FILE_BYTES);
	if (n >= 0)
		n = counters_parse_totals(buffer, (size_t)n, ret);
	free(buffer);
	return (int)n;
}
