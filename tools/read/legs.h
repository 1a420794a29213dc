/* SPDX-License-Identifier: MIT */
/*
 * legs.h - read and evaluate a session's file of legs and operations (quoit/stats.h).
 *
 * The bytes are hostile, as in counters.h.  So are, even within a good file, the times that a
 * client tells of itself.  Pure but for legs_read; the parser is fuzzed
 * (tests/fuzz/fuzz_counters.c).
 */
#ifndef QUOIT_TOOLS_LEGS_H
#define QUOIT_TOOLS_LEGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quoit/stats.h>

struct legs_operation {
	uint64_t jobs, timed, ticks;
	double share;   /* 1, or less if the timed jobs stand for more jobs than there were */
	uint64_t bytes; /* moved, if legs.bytes_known */
};

/* A place in the program, on any ring that it waited on. */
struct legs_site {
	/* any bytes: escape them; "": not known */
	char name[sizeof((struct quoit_site *)NULL)->name + 1];
	uint64_t waits, ticks, longest;
};

/* Large: allocate it on the heap, or make it static. */
struct legs {
	uint64_t session;
	uint32_t daemon_pid;
	uint64_t started_ns; /* CLOCK_BOOTTIME when quoitd made the file */
	double tick_ns;      /* 0: not known */
	bool known[QUOIT_LEG_NR];
	uint64_t count[QUOIT_LEG_NR][QUOIT_LEG_BUCKETS];
	struct legs_operation operation[QUOIT_OP_NR];
	bool bytes_known; /* the operations' bytes are known */
	struct legs_site site[QUOIT_MAX_SITES];
	unsigned sites;
};

/*
 * 0; -EBADMSG: it is not such a file, or it contradicts itself; -EPROTONOSUPPORT: it is of another
 * version, or has other buckets.
 */
int legs_parse(const void *bytes, size_t size, struct legs *ret);

/* Read the tables of call sites as the file has them, ring by ring. */
int legs_parse_sites(const void *bytes, size_t size,
		     struct quoit_site ret[QUOIT_SITE_RINGS][QUOIT_MAX_SITES]);

/* Reads like counters_read_session. */
int legs_read(int directory, uint64_t session, struct legs *ret);
int legs_read_sites(int directory, uint64_t session,
		    struct quoit_site ret[QUOIT_SITE_RINGS][QUOIT_MAX_SITES]);

/* Reduce `to` to what came after `from`, a former reading of the same file; NULL: keep all. */
void legs_since(const struct legs *from, struct legs *to);

/* How many jobs a leg stands for. */
uint64_t legs_jobs(const struct legs *l, unsigned leg);

/*
 * The nanoseconds that `percent` of the jobs took at most: the middle of a bucket.  Negative: not
 * known.
 */
double legs_percentile(const struct legs *l, unsigned leg, double percent);

/* The nanoseconds of all its jobs together, by the middles of the buckets. */
double legs_sum(const struct legs *l, unsigned leg);

/* The nanoseconds that all jobs of an operation ran, estimated from the timed ones. */
double legs_operation_ns(const struct legs *l, unsigned operation);

/* The nanoseconds of one such job; negative: not known. */
double legs_operation_mean(const struct legs *l, unsigned operation);

const char *legs_label(unsigned leg);

#endif
