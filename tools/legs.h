/* SPDX-License-Identifier: MIT */
/*
 * legs.h - read a session's file of legs and operations (quoit/stats.h), and what they say.
 *
 * The bytes are hostile, as in counters.h; so are, within a good file, the times that a client
 * tells of itself.  Pure but for legs_read; the parser is fuzzed (tests/fuzz/fuzz_counters.c).
 */
#ifndef QUOIT_TOOLS_LEGS_H
#define QUOIT_TOOLS_LEGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quoit/stats.h>

struct legs_operation {
	uint64_t jobs, timed, ticks;
	double share;   /* what those that were timed stand for too much, where there are few */
	uint64_t bytes; /* moved; legs.bytes_known */
};

/* A place in the program, on whichever ring it waited. */
struct legs_site {
	char name[sizeof((struct quoit_site *)NULL)->name +
		  1]; /* any bytes: escape them; "": not known */
	uint64_t waits, ticks, longest;
};

/* Large: for the heap, or static. */
struct legs {
	uint64_t session;
	uint32_t daemon_pid;
	uint64_t started_ns; /* CLOCK_BOOTTIME: when quoitd has made the file */
	double tick_ns;      /* 0: not known */
	bool known[QUOIT_LEG_NR];
	uint64_t count[QUOIT_LEG_NR][QUOIT_LEG_BUCKETS];
	struct legs_operation operation[QUOIT_OP_NR];
	bool bytes_known; /* of the operations */
	struct legs_site site[QUOIT_MAX_SITES];
	unsigned sites;
};

/*
 * 0; -EBADMSG: not such a file, or one that contradicts itself; -EPROTONOSUPPORT: of another
 * version, or with other buckets.
 */
int legs_parse(const void *bytes, size_t size, struct legs *ret);

/* The tables of call sites as they are in the file, ring by ring. */
int legs_parse_sites(const void *bytes, size_t size,
		     struct quoit_site ret[QUOIT_SITE_RINGS][QUOIT_MAX_SITES]);

/* As counters_read_session. */
int legs_read(int directory, uint64_t session, struct legs *ret);
int legs_read_sites(int directory, uint64_t session,
		    struct quoit_site ret[QUOIT_SITE_RINGS][QUOIT_MAX_SITES]);

/* What has come since `from`, a former reading of the same file; NULL: all. */
void legs_since(const struct legs *from, struct legs *to);

/* How many jobs a leg stands for. */
uint64_t legs_jobs(const struct legs *l, unsigned leg);

/*
 * Within how many nanoseconds so many in 100 of them were through: the middle of a bucket.
 * Negative: nobody knows.
 */
double legs_percentile(const struct legs *l, unsigned leg, double percent);

/* Of all of its jobs together, nanoseconds: by the middles of the buckets. */
double legs_sum(const struct legs *l, unsigned leg);

/* How long the jobs of an operation ran, by those that were timed; nanoseconds. */
double legs_operation_ns(const struct legs *l, unsigned operation);

/* And one of them; negative: not known. */
double legs_operation_mean(const struct legs *l, unsigned operation);

const char *legs_label(unsigned leg);

#endif
