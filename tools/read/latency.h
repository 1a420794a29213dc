/* SPDX-License-Identifier: MIT */
/*
 * latency.h - read and evaluate a session's latency file: phases, operations and call sites
 * (quoit/stats.h).
 *
 * The bytes are hostile, as in counters.h.  So are, even within a good file, the times that a
 * client tells of itself.  Pure but for latency_read; the parser is fuzzed
 * (tests/fuzz/fuzz_counters.c).
 */
#ifndef QUOIT_TOOLS_LATENCY_H
#define QUOIT_TOOLS_LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quoit/stats.h>

#include "named_waits.h"
#include "session_files.h"

struct latency_operation {
	uint64_t jobs, timed, ticks;
	double share;   /* 1, or less if the timed jobs stand for more jobs than there were */
	uint64_t bytes; /* moved, if bytes_known of struct latency */
};

/* A place in the program, on any ring that it waited on, or acquired tensors by. */
struct latency_site {
	/* any bytes: escape them; "": not known */
	char name[sizeof((struct quoit_site *)NULL)->name + 1];
	uint64_t waits, ticks, longest;
	uint64_t held; /* ticks in which it held what jobs waited for (struct quoit_site_held) */
};

/* Large: allocate it on the heap, or make it static. */
struct latency {
	uint64_t session;
	uint32_t daemon_pid;
	uint64_t started_ns; /* CLOCK_BOOTTIME when quoitd made the file */
	double tick_ns;      /* 0: not known */
	bool known[QUOIT_PHASE_NR];
	uint64_t count[QUOIT_PHASE_NR][QUOIT_LATENCY_BUCKETS];
	struct latency_operation operation[QUOIT_OP_NR];
	bool bytes_known; /* the operations' bytes are known */
	struct latency_site site[QUOIT_MAX_SITES];
	unsigned sites;
	struct named_waits named;
};

/*
 * 0; -EBADMSG: it is not such a file, or it contradicts itself; -EPROTONOSUPPORT: it is of another
 * version, or has other buckets.
 */
int latency_parse(const void *bytes, size_t size, struct latency *ret);

/* Read the tables of call sites as the file has them, ring by ring. */
int latency_parse_sites(const void *bytes, size_t size,
			struct quoit_site ret[QUOIT_SITE_RINGS][QUOIT_MAX_SITES]);

/* Reads like session_files_read and counters_read_session. */
int latency_read(struct session_files *files, uint64_t session, struct latency *ret);
int latency_read_sites(struct session_files *files, uint64_t session,
		       struct quoit_site ret[QUOIT_SITE_RINGS][QUOIT_MAX_SITES]);

/* Reduce `to` to what came after `from`, a former reading of the same file; NULL: keep all. */
void latency_since(const struct latency *from, struct latency *to);

/* How many jobs a phase stands for. */
uint64_t latency_jobs(const struct latency *l, unsigned phase);

/*
 * The nanoseconds that `percent` of the jobs took at most: the middle of a bucket.  Negative: not
 * known.
 */
double latency_percentile(const struct latency *l, unsigned phase, double percent);

/* The nanoseconds of all its jobs together, by the middles of the buckets. */
double latency_sum(const struct latency *l, unsigned phase);

/* The nanoseconds that all jobs of an operation ran, estimated from the timed ones. */
double latency_operation_ns(const struct latency *l, unsigned operation);

/* The nanoseconds of one such job; negative: not known. */
double latency_operation_mean(const struct latency *l, unsigned operation);

const char *latency_label(unsigned phase);

#endif
