/* SPDX-License-Identifier: MIT */
/*
 * rates.h - compute rates between two readings of the totals.  Pure.
 *
 * A reactor's heartbeat says up to when its counters are current: the reactor copies them out now
 * and then.  So time after the heartbeat does not count as idle.
 */
#ifndef QUOIT_TOOLS_RATES_H
#define QUOIT_TOOLS_RATES_H

#include "counters.h"
#include "timings.h"

enum rate_kind {
	RATE_COUNT,   /* a number of things */
	RATE_SECOND,  /* events per second */
	RATE_MEAN,    /* a mean number */
	RATE_PERCENT, /* of the time */
	RATE_TIME,    /* seconds */
};

/* RATE(NAME, "key", "key in JSON", KIND, "help"), in the order in which they are shown */
#define RATES(X)                                                                                   \
	X(SESSIONS, "sess", "sessions", COUNT, "open sessions")                                    \
	X(OPEN, "open", "jobs_open", COUNT, "open jobs")                                           \
	X(JOBS, "jobs/s", "jobs_per_second", SECOND, "jobs (SQEs) fetched a second")               \
	X(DEPTH, "aqu-sz", "jobs_open_mean", MEAN, "open jobs on average")                         \
	X(AWAIT, "await", "await_seconds", TIME, "mean time that a job was open: aqu-sz / jobs/s") \
	X(P50, "p50", "p50_seconds", TIME,                                                         \
	  "half of the jobs ended within this time after their fetch")                             \
	X(P99, "p99", "p99_seconds", TIME,                                                         \
	  "99 of 100 jobs ended within this time after their fetch")                               \
	X(MOVED, "MB/s", "moved_megabytes_per_second", MEAN,                                       \
	  "10^6 bytes that jobs read and wrote, a second")                                         \
	X(UTIL, "%util", "util_percent", PERCENT,                                                  \
	  "time in which a reactor had open jobs or work, mean of all")                            \
	X(CORES, "cores", "cores", MEAN,                                                           \
	  "cores at work, in reactors and in tiles (pieces of long jobs)")                         \
	X(WORK, "%work", "work_percent", PERCENT, "time in which a reactor worked")                \
	X(POLL, "%poll", "poll_percent", PERCENT,                                                  \
	  "time in which a reactor looked for work and found none")                                \
	X(SLEEP, "%sleep", "sleep_percent", PERCENT, "time in which a reactor slept")              \
	X(SLEEPS, "slp/s", "sleeps_per_second", SECOND, "how often reactors went to sleep")        \
	X(EXEC, "exec/s", "executor_requests_per_second", SECOND, "requests to executors")         \
	X(BELLS, "bell/s", "executor_wakes_per_second", SECOND, "wake-ups of executors")           \
	X(CALLS, "call/s", "calls_per_second", SECOND,                                             \
	  "calls of functions, services, locks and their kin that have come back, a second")       \
	X(NAMED, "named", "jobs_waiting_named", COUNT,                                             \
	  "jobs that wait for others, at a service, a lock or its kin")                            \
	X(REFUSED, "refus", "refused", COUNT, "connections and sessions refused")                  \
	X(KILLED, "kill", "killed", COUNT,                                                         \
	  "sessions ended by quoitd; clients and executors that died")

enum rate {
#define RATE_ENUM(NAME, key, json, kind, help) RATE_##NAME##_OF,
	RATES(RATE_ENUM)
#undef RATE_ENUM
		RATE_NR
};

struct rates {
	bool known[RATE_NR];
	double value[RATE_NR];
};

const char *rates_key(enum rate rate);
const char *rates_json_key(enum rate rate); /* ends with the unit */
enum rate_kind rates_kind(enum rate rate);
const char *rates_help(enum rate rate);

/* Are these readings of one daemon, so that rates can be computed from them? */
bool rates_are_of_one(const struct counters_totals *from, const struct counters_totals *to);

/*
 * Rates of one reactor, and of all together, between two readings of one daemon.  from NULL: since
 * quoitd started; now_ns: CLOCK_BOOTTIME of the later reading; 0: not known, and then means since
 * the start are not known either.
 */
void rates_of_reactor(const struct counters_totals *from, const struct counters_totals *to,
		      unsigned reactor, uint64_t now_ns, struct rates *ret);
void rates_of_all(const struct counters_totals *from, const struct counters_totals *to,
		  uint64_t now_ns, struct rates *ret);

/* Add the rates that come from the histograms of the same readings; reactor negative: of all. */
void rates_add_timings(const struct timings *from, const struct timings *to, int reactor,
		       struct rates *r);

#endif
