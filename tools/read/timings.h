/* SPDX-License-Identifier: MIT */
/*
 * timings.h - read quoitd's file of histograms and operations (quoit_histograms of quoit/stats.h).
 *
 * The bytes are hostile, as in counters.h.  Pure but for timings_read; the parser is fuzzed
 * (tests/fuzz/fuzz_counters.c).
 */
#ifndef QUOIT_TOOLS_TIMINGS_H
#define QUOIT_TOOLS_TIMINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quoit/stats.h>

struct timings {
	void *bytes; /* the file; NULL: there is none, or it is unusable */
	struct quoit_histograms head;
	double tick_ns; /* 0: not known */
};

/*
 * What a row is about.  Its label ends with a NUL and may have any bytes: compare it, or escape it.
 */
struct timings_row {
	uint32_t of, number, reactor;
	char label[QUOIT_LABEL_BYTES + 1];
};

/*
 * Parse a file's bytes, at any alignment.  0: they are usable, and are taken over; -EBADMSG: it is
 * not such a file, or it contradicts itself; -EPROTONOSUPPORT: it is of another version, or has
 * other buckets.
 */
int timings_parse(void *bytes, size_t size, struct timings *ret);

/* Reads like counters_read_totals; -errno: *ret is empty. */
int timings_read(int directory, struct timings *ret);

/* t may be all zero. */
void timings_free(struct timings *t);

/* Is it of the daemon with this PID and start time, and not left by a former one? */
bool timings_is_of(const struct timings *t, uint32_t daemon_pid, uint64_t started_ns);

/* What row i of t->head.rows is about. */
void timings_row(const struct timings *t, unsigned i, struct timings_row *ret);

/* Add the row's counts to these. */
void timings_add(const struct timings *t, unsigned i, uint64_t count[QUOIT_LATENCY_BUCKETS]);

/*
 * Add up all histograms of one kind; number: of one thing; negative: of all.  False: there is none.
 */
bool timings_sum(const struct timings *t, uint32_t of, int64_t number, const char *label,
		 uint64_t ret[QUOIT_LATENCY_BUCKETS]);

/*
 * The same for a phase (QUOIT_PHASE_*), counting between two readings; from NULL: since quoitd
 * started.
 */
bool timings_phase_since(const struct timings *from, const struct timings *to, uint32_t of,
			 int64_t number, unsigned phase, uint64_t ret[QUOIT_LATENCY_BUCKETS]);

/*
 * The nanoseconds within which `percent` of a reactor's jobs (negative: of all reactors') had ended
 * after their fetch, between two readings; from NULL: since quoitd started.  Negative: not known.
 */
double timings_percentile(const struct timings *from, const struct timings *to, int reactor,
			  double percent);

/* The totals of an operation over all reactors; false: the file has none. */
bool timings_operation(const struct timings *t, unsigned operation,
		       struct quoit_operation_totals *ret);

#endif
