/* SPDX-License-Identifier: MIT */
/*
 * summary.h - sum up a recording of any size in figures of bounded size.
 *
 * Time is cut into bins.  The sessions with the most jobs have figures of their own; all others
 * form one group.  A page shows the longest jobs and waits one by one.
 *
 *	summary.c         groups of sessions, operations, longest items, levels, cores
 *	summary_named.c   waits for others at things with a name
 *	summary_tracks.c  tracks of rings, clients and places, and their density
 */
#ifndef QUOIT_TOOLS_TRACE_SUMMARY_H
#define QUOIT_TOOLS_TRACE_SUMMARY_H

#include "recording.h"
#include "work.h"

#define SUMMARY_BINS     600u
#define SUMMARY_SESSIONS 32u /* sessions with figures of their own: those with the most jobs */
#define SUMMARY_TRACKS   256u
#define SUMMARY_SLICES   40000u
#define SUMMARY_WAITS    10000u
#define SUMMARY_HELD     256u /* places that acquired */
#define SUMMARY_NAMED    256u /* things with a name at which calls waited */

/* Group 0 has all sessions together; then come the shown ones, then all others as one. */
#define SUMMARY_ALL    0u
#define SUMMARY_GROUPS (SUMMARY_SESSIONS + 2)

struct summary_operation {
	uint64_t jobs, failed, ran;
	double run_ns, data_ns, memory_ns, turn_ns; /* sums over all jobs */
	int64_t most_ns;
	uint32_t bucket[QUOIT_LATENCY_BUCKETS]; /* of run times in ns, by quoit_latency_bucket */
};

enum summary_series {
	SUMMARY_OPEN,
	SUMMARY_RUNNING,
	SUMMARY_SQ,
	SUMMARY_CQ,
	SUMMARY_HOST,
	SUMMARY_DEVICE,
	SUMMARY_SERIES,
};

struct summary_group {
	const struct recording_session *session; /* NULL: several sessions */
	unsigned sessions;
	uint64_t jobs, failed;
	struct summary_operation *operation[QUOIT_OP_NR]; /* NULL: none */
	double series[SUMMARY_SERIES][SUMMARY_BINS];
};

/* The mean number at a time, over each bin. */
struct summary_density {
	double part[SUMMARY_BINS + 1], change[SUMMARY_BINS + 1];
};

enum summary_track_kind { SUMMARY_RING, SUMMARY_CLIENT, SUMMARY_PLACE };

struct summary_track {
	enum summary_track_kind kind;
	const struct recording_session *session; /* NULL for a PLACE */
	unsigned ring, place, reactor;
	char name[RECORDING_PLACE_BYTES];
	struct summary_density density;
};

/* What was acquired at one place in a program. */
struct summary_held {
	const struct recording_session *session;
	unsigned ring, site;
	uint64_t holds;
	/* Each moment counts once, however many were held: held at all; held, and jobs waited. */
	int64_t held_ns, awaited_ns;
	int64_t held_until, awaited_until; /* counted up to here */
};

/* What calls of all sessions waited for at something with a name. */
struct summary_named {
	struct recording_named first; /* one of them */
	uint64_t times;
	int64_t waited_ns;  /* sum of all waits */
	int64_t stalled_ns; /* of these: nothing else went on in their sessions */
};

struct summary_cores {
	unsigned reactors, cores; /* by the last sample */
	double tiles[SUMMARY_BINS], reacting[SUMMARY_BINS], polling[SUMMARY_BINS];
	double time[SUMMARY_BINS]; /* the part of each bin that samples cover */
	int32_t cpu[QUOIT_MAX_CORES];
	float (*share)[SUMMARY_BINS]; /* for each core */
};

struct summary {
	struct recording *rec;
	double bin_ns;
	unsigned groups;
	struct summary_group *group;
	uint8_t *group_of; /* by session */
	unsigned tracks;
	struct summary_track *track;
	uint64_t trackless; /* jobs without a track */
	struct summary_cores cores;
	unsigned helds;
	struct summary_held held[SUMMARY_HELD];
	unsigned named;
	struct summary_named named_wait[SUMMARY_NAMED];
	/* Counts by total duration. */
	uint32_t job_bucket[QUOIT_LATENCY_BUCKETS], wait_bucket[QUOIT_LATENCY_BUCKETS];
	uint64_t waits;
	bool failed; /* out of memory */
};

/* 0, -ENOMEM or the reader's error; call summary_free in any case. */
int summary_make(struct summary *s, struct trace_reader *r, struct recording *rec);
void summary_free(struct summary *s);

/* A track's index, or -1: there is no such track. */
int summary_ring_track(const struct summary *s, const struct recording_session *session,
		       unsigned ring, enum summary_track_kind kind);
int summary_place_track(const struct summary *s, const struct recording_job *job);

/* The track's mean over each bin. */
void summary_density(const struct summary_density *d, double ret[SUMMARY_BINS]);

/* The ns that `percent` of the jobs ran at most. */
double summary_percentile(const struct summary_operation *o, double percent);

/*
 * Which items are shown one by one: the `most` longest.  Begin with summary_choose; then ask for
 * each item once, in any order.
 */
struct summary_choice {
	unsigned bucket; /* all items of later buckets are chosen */
	uint64_t left;   /* this many items of this bucket are chosen */
};
void summary_choose(struct summary_choice *c, const uint32_t bucket[QUOIT_LATENCY_BUCKETS],
		    uint64_t most);
bool summary_is_chosen(struct summary_choice *c, int64_t ns);

/* The waits of clients, assembled from their notes. */
struct summary_wait {
	int64_t at;
	unsigned site;
	bool begun;
};
struct summary_waits {
	struct summary_wait (*wait)[QUOIT_MAX_RINGS]; /* by session */
};

/* True: this event ended a wait; *ret says when and where the wait began. */
bool summary_wait(struct summary_waits *w, const struct recording *rec,
		  const struct recording_event *event, struct summary_wait *ret);

#endif
