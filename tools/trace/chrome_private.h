/* SPDX-License-Identifier: MIT */
/*
 * chrome_private.h - functions that the files behind chrome.h share.
 *
 *	chrome.c         jobs, counters, and the whole recording
 *	chrome_client.c  what clients noted about a ring, and what they held
 *	chrome_named.c   waits for others, and the threads of services
 *	chrome_put.c     an event, and names of tracks
 */
#ifndef QUOIT_TOOLS_TRACE_CHROME_PRIVATE_H
#define QUOIT_TOOLS_TRACE_CHROME_PRIVATE_H

#include <stdio.h>

#include "lanes.h"
#include "notes.h"
#include "work.h"

#define QUOITD       1u /* numbers of the processes */
#define FIRST        2u
#define TRACKS       256u /* the most tracks of quoitd */
#define TRACK_STEP   100u /* between numbers of tracks, which leaves room for lanes */
#define CLIENT_TRACK 50u  /* its number, behind a ring's lanes */
#define HELD_TRACK   60u  /* and those of the lanes of what the program held, */
#define OTHERS_TRACK 80u  /* and of waits for others */

/* A ring's notes that are not written yet. */
struct pending {
	bool waits, noted;
	int64_t wait_at, at;
	unsigned site, kind;
	uint32_t index, submitted, reaped;
};

struct ring_tracks {
	struct lanes lanes;
	struct lanes held, others;
	bool named[LANES], held_named[LANES], others_named[LANES], client_named, index_known[2];
	struct pending pending;
};

struct place_track {
	unsigned place, reactor;
	struct lanes lanes;
	bool named[LANES];
};

/* A process that serves a service, or did; its threads are lanes. */
struct service_track {
	uint64_t number;
	uint32_t pid;
	struct lanes lanes;
	bool named[LANES];
};

/* Calls that have come back, and whose job's record is still to come; of many, the last ones. */
#define ASKED 256u

struct asked {
	const struct recording_session *session;
	unsigned ring;
	uint32_t sq_index;
	char text[RECORDING_NAMED_BYTES];
};

struct chrome {
	FILE *out;
	struct recording *rec;
	struct notes notes;
	struct ring_tracks *(*ring)[QUOIT_MAX_RINGS]; /* by session */
	struct place_track place[TRACKS];
	unsigned places;
	struct service_track service[TRACKS];
	unsigned services;
	struct asked asked[ASKED];
	unsigned asked_next;
	struct work work;
	uint64_t flows;
	bool first, failed;
};

/* ---- chrome_put.c ---- */

/* Begin an event, fill it, and end it.  A slice then has its times and its name. */
void chrome_begin(struct chrome *c, char ph, unsigned process, unsigned track);
void chrome_begin_slice(struct chrome *c, unsigned process, unsigned track, int64_t from,
			int64_t to, const char *name);
void chrome_put_time(FILE *out, const char *key, int64_t ns); /* in microseconds */
void chrome_put_name(struct chrome *c, const char *name);
void chrome_end(struct chrome *c);

/*
 * Name a process ("process_name") in the same way; tracks are shown in the order of their indices.
 */
void chrome_name_one(struct chrome *c, const char *what, unsigned process, unsigned track,
		     const char *name);
void chrome_order_one(struct chrome *c, const char *what, unsigned process, unsigned track,
		      unsigned index);

/* Name the track if it is not named yet. */
void chrome_name_track(struct chrome *c, bool *named, unsigned process, unsigned track,
		       unsigned index, const char *name);

/* ---- chrome.c ---- */

unsigned chrome_process(const struct chrome *c, const struct recording_session *s);

/* NULL: out of memory, which is noted. */
struct ring_tracks *chrome_ring(struct chrome *c, const struct recording_session *s, unsigned ring);

/* ---- chrome_named.c ---- */

void chrome_put_named(const struct recording_named *n, void *arg);

/* What a job that is a call has asked for; NULL: not known. */
const char *chrome_asked(const struct chrome *c, const struct recording_job *job);

/* ---- chrome_client.c ---- */

void chrome_put_event(const struct recording_event *e, void *arg);
void chrome_put_hold(const struct recording_hold *h, void *arg);

/* Write the last notes, which no later one has completed. */
void chrome_put_last_events(struct chrome *c);

#endif
