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
	void *bytes; /* the file; NULL: there is none, or it cannot be used */
	struct quoit_histograms head;
	double tick_ns; /* 0: not known */
};

/* A row's name; its label is ended by a NUL, and any bytes: compare it, or escape it. */
struct timings_row {
	uint32_t of, number, reactor;
	char label[QUOIT_LABEL_BYTES + 1];
};

/*
 * The file's bytes, of any alignment, are taken over where they can be used: 0; -EBADMSG: not such
 * a file, or one that contradicts itself; -EPROTONOSUPPORT: of another version, or with other
 * buckets.
 */
int timings_parse(void *bytes, size_t size, struct timings *ret);

/* As counters_read_totals; -errno: *ret has nothing. */
int timings_read(int directory, struct timings *ret);

/* All zero is fine. */
void timings_free(struct timings *t);

/* Is it of the daemon with these figures, and not left by one before? */
bool timings_is_of(const struct timings *t, uint32_t daemon_pid, uint64_t started_ns);

/* Row i of t->head.rows. */
void timings_row(const struct timings *t, unsigned i, struct timings_row *ret);

/* Add its counts to these. */
void timings_add(const struct timings *t, unsigned i, uint64_t count[QUOIT_LEG_BUCKETS]);

/*
 * Add up all histograms of these things: number of one, or negative: of any.  False: it has none.
 */
bool timings_sum(const struct timings *t, uint32_t of, int64_t number, const char *label,
		 uint64_t ret[QUOIT_LEG_BUCKETS]);

/*
 * The same of a leg (QUOIT_LEG_*), of what was counted between two readings; from NULL: since
 * quoitd has started.
 */
bool timings_leg_since(const struct timings *from, const struct timings *to, uint32_t of,
		       int64_t number, unsigned leg, uint64_t ret[QUOIT_LEG_BUCKETS]);

/*
 * Within how many nanoseconds so many in 100 jobs of a reactor (negative: of all) had ended after
 * their fetch, of those between two readings; from NULL: since quoitd has started.  Negative:
 * nobody knows.
 */
double timings_percentile(const struct timings *from, const struct timings *to, int reactor,
			  double percent);

/* What was done of an operation, by all reactors; false: the file does not say. */
bool timings_operation(const struct timings *t, unsigned operation,
		       struct quoit_operation_totals *ret);

#endif
