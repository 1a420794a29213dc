/* SPDX-License-Identifier: MIT */
/*
 * counters.h - read counter files (quoit/stats.h) that somebody else wrote.
 *
 * The bytes are hostile: magic, version and every size are checked, numbers of
 * entries are clamped, counters go by their label, so that those of another version
 * are skipped, and those that are missing are not known.  The parsers are pure and
 * are fuzzed (tests/fuzz/fuzz_counters.c).
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
	uint64_t started_ns; /* CLOCK_BOOTTIME, as all *_ns here */
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
 * Parse a file's bytes (any alignment).  0; -EBADMSG: not such a file, or one that
 * contradicts itself; -EPROTONOSUPPORT: of another version.
 */
int counters_parse_session(const void *bytes, size_t size, struct counters_session *ret);
int counters_parse_totals(const void *bytes, size_t size, struct counters_totals *ret);

/*
 * Read and parse a file of a directory.  -errno of open and read as well; -EBADMSG
 * also for what is no regular file, or far too large.
 */
int counters_read_session(int directory, uint64_t session, struct counters_session *ret);
int counters_read_totals(int directory, struct counters_totals *ret);

/* Is it a session of the daemon with these totals, or was it left by one before? */
bool counters_is_of(const struct counters_session *s, const struct counters_totals *t);

/* Is this the name of a session's file? */
bool counters_session_number(const char *name, uint64_t *ret);

/* To read a session's file again and again: a descriptor or -errno; what is there now. */
int counters_open_session(int directory, uint64_t session);
int counters_reread_session(int fd, uint64_t session, struct counters_session *ret);

/*
 * Read a whole regular file of at most `size` bytes; the length or a negative errno.
 * A copy, not a mapping: a file that its writer cuts short cannot end us with SIGBUS.
 */
int64_t counters_read_file(int directory, const char *name, void *buffer, size_t size);

#endif
