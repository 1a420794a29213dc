/* SPDX-License-Identifier: MIT */
/*
 * rates.h - what happened between two readings of the totals.  Pure.
 *
 * How far a reactor's counters go, its heartbeat says: they are copied out now and then, and time
 * in which they were not is none in which nothing happened.
 */
#ifndef QUOIT_TOOLS_RATES_H
#define QUOIT_TOOLS_RATES_H

#include "counters.h"
#include "timings.h"

enum rate_kind {
	RATE_COUNT,   /* how many there are */
	RATE_SECOND,  /* how many a second */
	RATE_MEAN,    /* how many on average */
	RATE_PERCENT, /* of the time */
	RATE_TIME,    /* seconds */
};

/* RATE(NAME, "key", KIND, "help"), in the order in which they are shown */
#define RATES(X)                                                                                   \
	X(SESSIONS, "sess", COUNT, "open sessions")                                                \
	X(OPEN, "open", COUNT, "open jobs")                                                        \
	X(JOBS, "jobs/s", SECOND, "SQEs fetched a second")                                         \
	X(DEPTH, "aqu-sz", MEAN, "open jobs on average")                                           \
	X(AWAIT, "await", TIME, "for how long an SQE was open on average: aqu-sz / jobs/s")        \
	X(P50, "p50", TIME, "within this time half of the jobs were done after their fetch")       \
	X(P99, "p99", TIME, "and within this one 99 of 100 of them")                               \
	X(MOVED, "MB/s", MEAN, "10^6 bytes that jobs have moved, a second")                        \
	X(UTIL, "%util", PERCENT, "time with open jobs or work, of each reactor")                  \
	X(CORES, "cores", MEAN, "cores at work: reactors and tiles")                               \
	X(WORK, "%work", PERCENT, "time in which a reactor worked")                                \
	X(POLL, "%poll", PERCENT, "in which it looked for work and found none")                    \
	X(SLEEP, "%sleep", PERCENT, "in which it slept")                                           \
	X(SLEEPS, "slp/s", SECOND, "how often it went to sleep")                                   \
	X(EXEC, "exec/s", SECOND, "requests to executors")                                         \
	X(BELLS, "bell/s", SECOND, "executors woken")                                              \
	X(REFUSED, "refus", COUNT, "connections and sessions refused")                             \
	X(KILLED, "kill", COUNT, "sessions ended by quoitd; clients and executors that died")

enum rate {
#define RATE_ENUM(NAME, key, kind, help) RATE_##NAME##_OF,
	RATES(RATE_ENUM)
#undef RATE_ENUM
		RATE_NR
};

struct rates {
	bool known[RATE_NR];
	double value[RATE_NR];
};

const char *rates_key(enum rate rate);
enum rate_kind rates_kind(enum rate rate);
const char *rates_help(enum rate rate);

/* Are these readings of one daemon, so that the later one can be counted from the former? */
bool rates_are_of_one(const struct counters_totals *from, const struct counters_totals *to);

/*
 * Of one reactor, and of all together, between two readings of one daemon; from NULL: since it has
 * started.  now_ns: CLOCK_BOOTTIME of the later reading; 0: not known, nor are means since then.
 */
void rates_of_reactor(const struct counters_totals *from, const struct counters_totals *to,
		      unsigned reactor, uint64_t now_ns, struct rates *ret);
void rates_of_all(const struct counters_totals *from, const struct counters_totals *to,
		  uint64_t now_ns, struct rates *ret);

/* Those that the histograms of the same readings say; reactor negative: of all. */
void rates_add_timings(const struct timings *from, const struct timings *to, int reactor,
		       struct rates *r);

#endif
