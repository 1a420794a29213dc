/* SPDX-License-Identifier: MIT */
/*
 * counters.h - read the counter files of a quoitd (quoit/stats.h).
 *
 * The bytes are hostile.  Magic, version and every size are checked, and numbers of entries are
 * clamped.  Counters are found by their labels: counters of another version are skipped, and
 * missing ones are not known.  The parsers are pure and are fuzzed (tests/fuzz/fuzz_counters.c).
 */
#ifndef QUOIT_TOOLS_COUNTERS_H
#define QUOIT_TOOLS_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quoit/stats.h>

struct counter {
	uint64_t value;
	bool known; /* false: the file does not have it; print "-", never 0 */
};

struct counters_origin {
	uint32_t daemon_pid, pid_namespace;
	uint64_t tsc_hz;     /* 0: not known */
	uint64_t started_ns; /* CLOCK_BOOTTIME, like all *_ns here */
};

struct counters_session {
	struct counters_origin origin;
	uint64_t session;
	uint32_t uid, pid, reactor;
	int32_t node;
	uint64_t opened_ns;
	bool ended;
	char name[33]; /* ended by a NUL; any bytes: escape them */
	struct counter value[QUOIT_SESSION_NR];
};

struct counters_reactor {
	int32_t cpu, node;
	struct counter value[QUOIT_REACTOR_NR];
};

struct counters_core {
	int32_t cpu, node;
	struct counter value[QUOIT_CORE_NR];
};

struct counters_totals {
	struct counters_origin origin;
	struct counter value[QUOIT_DAEMON_NR];
	unsigned reactors;
	struct counters_reactor reactor[QUOIT_MAX_REACTORS];
	unsigned cores;
	struct counters_core core[QUOIT_MAX_CORES];
};

/*
 * Parse a file's bytes, at any alignment.  0; -EBADMSG: it is not such a file, or it contradicts
 * itself; -EPROTONOSUPPORT: it is of another version.
 */
int counters_parse_session(const void *bytes, size_t size, struct counters_session *ret);
int counters_parse_totals(const void *bytes, size_t size, struct counters_totals *ret);

/*
 * Read and parse a file of a directory.  Errors also of open and read; -EBADMSG also for a file
 * that is not regular, or far too large.
 */
int counters_read_session(int directory, uint64_t session, struct counters_session *ret);
int counters_read_totals(int directory, struct counters_totals *ret);

/*
 * Does the session belong to the daemon with these totals, or did a former daemon leave its file?
 */
bool counters_is_of(const struct counters_session *s, const struct counters_totals *t);

/* Is this the name of a session's file? */
bool counters_session_number(const char *name, uint64_t *ret);

/*
 * To read a session's file again and again: open it (a descriptor or -errno), and read its present
 * contents.
 */
int counters_open_session(int directory, uint64_t session);
int counters_reread_session(int fd, uint64_t session, struct counters_session *ret);

/*
 * Read a whole regular file of at most `size` bytes; returns the length or a negative errno.  It
 * copies, and does not map: if the writer truncates the file, a mapping would end us with SIGBUS.
 */
int64_t counters_read_file(int directory, const char *name, void *buffer, size_t size);

#endif
