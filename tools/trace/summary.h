/* SPDX-License-Identifier: MIT */
/*
 * summary.h - a recording in figures of bounded size, whatever its own is.
 *
 * Time is cut into bins; sessions beyond the first so many are one group together.  Jobs and waits
 * that a page shows one by one are the longest ones.
 *
 *	summary.c         groups of sessions, operations, what is longest, levels, cores
 *	summary_tracks.c  rings, clients and places that have a track, and how dense it is
 */
#ifndef QUOIT_TOOLS_TRACE_SUMMARY_H
#define QUOIT_TOOLS_TRACE_SUMMARY_H

#include "trace/recording.h"
#include "trace/work.h"

#define SUMMARY_BINS     600u
#define SUMMARY_SESSIONS 32u /* that have figures of their own: those with the most jobs */
#define SUMMARY_TRACKS   256u
#define SUMMARY_SLICES   40000u
#define SUMMARY_WAITS    10000u

/* Of all together, of each session shown, and of all others. */
#define SUMMARY_ALL    0u
#define SUMMARY_GROUPS (SUMMARY_SESSIONS + 2)

struct summary_operation {
	uint64_t jobs, failed, ran;
	double run_ns, data_ns, memory_ns, turn_ns; /* all of them together */
	int64_t most_ns;
	uint32_t bucket[QUOIT_LEG_BUCKETS]; /* of run times in ns, by quoit_leg_bucket */
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
	const struct recording_session *session; /* NULL: of more than one */
	unsigned sessions;
	uint64_t jobs, failed;
	struct summary_operation *operation[QUOIT_OP_NR]; /* NULL: none */
	double series[SUMMARY_SERIES][SUMMARY_BINS];
};

/* How many at a time, on average over each bin. */
struct summary_density {
	double part[SUMMARY_BINS + 1], change[SUMMARY_BINS + 1];
};

enum summary_track_kind { SUMMARY_RING, SUMMARY_CLIENT, SUMMARY_PLACE };

struct summary_track {
	enum summary_track_kind kind;
	const struct recording_session *session; /* PLACE: NULL */
	unsigned ring, place, reactor;
	char name[RECORDING_PLACE_BYTES];
	struct summary_density density;
};

struct summary_cores {
	unsigned reactors, cores; /* as in the last sample */
	double tiles[SUMMARY_BINS], reacting[SUMMARY_BINS], polling[SUMMARY_BINS];
	double time[SUMMARY_BINS]; /* of a bin that samples tell of, in bins */
	int32_t cpu[QUOIT_MAX_CORES];
	float (*share)[SUMMARY_BINS]; /* of each core */
};

struct summary {
	struct recording *rec;
	double bin_ns;
	unsigned groups;
	struct summary_group *group;
	uint8_t *group_of; /* by session */
	unsigned tracks;
	struct summary_track *track;
	uint64_t trackless; /* jobs for which there was no track */
	struct summary_cores cores;
	/* By the time that they take as a whole. */
	uint32_t job_bucket[QUOIT_LEG_BUCKETS], wait_bucket[QUOIT_LEG_BUCKETS];
	uint64_t waits;
	bool failed; /* out of memory */
};

/* 0, -ENOMEM or the reader's error; summary_free it in any case. */
int summary_make(struct summary *s, struct trace_reader *r, struct recording *rec);
void summary_free(struct summary *s);

/* A track's index, or -1: there is none. */
int summary_ring_track(const struct summary *s, const struct recording_session *session,
		       unsigned ring, enum summary_track_kind kind);
int summary_place_track(const struct summary *s, const struct recording_job *job);

/* Its mean over a bin. */
void summary_density(const struct summary_density *d, double ret[SUMMARY_BINS]);

/* The time that so many in 100 of the jobs ran for at most, ns. */
double summary_percentile(const struct summary_operation *o, double percent);

/*
 * Which are shown one by one: the longest, `most` of them.  Asked for each once, in any order;
 * begin with summary_choose.
 */
struct summary_choice {
	unsigned bucket; /* all that are in later ones, */
	uint64_t left;   /* and so many of this one */
};
void summary_choose(struct summary_choice *c, const uint32_t bucket[QUOIT_LEG_BUCKETS],
		    uint64_t most);
bool summary_is_chosen(struct summary_choice *c, int64_t ns);

/* The waits of clients, put together from their notes. */
struct summary_wait {
	int64_t at;
	unsigned site;
	bool begun;
};
struct summary_waits {
	struct summary_wait (*wait)[QUOIT_MAX_RINGS]; /* by session */
};

/* True: a wait has ended with this event; *ret is when and where it began. */
bool summary_wait(struct summary_waits *w, const struct recording *rec,
		  const struct recording_event *event, struct summary_wait *ret);

#endif
