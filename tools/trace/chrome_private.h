/* SPDX-License-Identifier: MIT */
/*
 * chrome_private.h - what the files behind chrome.h share.
 *
 *	chrome.c         jobs, counters, and all of it together
 *	chrome_client.c  what clients noted of a ring
 *	chrome_put.c     an event, and names of tracks
 */
#ifndef QUOIT_TOOLS_TRACE_CHROME_PRIVATE_H
#define QUOIT_TOOLS_TRACE_CHROME_PRIVATE_H

#include <stdio.h>

#include "trace/lanes.h"
#include "trace/notes.h"
#include "trace/work.h"

#define QUOITD       1u /* the processes' numbers */
#define FIRST        2u
#define TRACKS       256u /* of quoitd */
#define TRACK_STEP   100u /* of tracks' numbers: lanes are between */
#define CLIENT_TRACK 50u  /* behind a ring's lanes */

/* What was noted on a ring and is not written yet. */
struct pending {
	bool waits, noted;
	int64_t wait_at, at;
	unsigned site, kind;
	uint32_t index, submitted, reaped;
};

struct ring_tracks {
	struct lanes lanes;
	bool named[LANES], client_named, index_known[2];
	struct pending pending;
};

struct place_track {
	unsigned place, reactor;
	struct lanes lanes;
	bool named[LANES];
};

struct chrome {
	FILE *out;
	struct recording *rec;
	struct notes notes;
	struct ring_tracks *(*ring)[QUOIT_MAX_RINGS]; /* by session */
	struct place_track place[TRACKS];
	unsigned places;
	struct work work;
	uint64_t flows;
	bool first, failed;
};

/* ---- chrome_put.c ---- */

/* Events are begun, filled, and ended; a slice has its times and its name then. */
void chrome_begin(struct chrome *c, char ph, unsigned process, unsigned track);
void chrome_begin_slice(struct chrome *c, unsigned process, unsigned track, int64_t from,
			int64_t to, const char *name);
void chrome_put_time(FILE *out, const char *key, int64_t ns); /* in microseconds */
void chrome_put_name(struct chrome *c, const char *name);
void chrome_end(struct chrome *c);

/* The same of a process: "process_name"; tracks are shown in the order of their indices. */
void chrome_name_one(struct chrome *c, const char *what, unsigned process, unsigned track,
		     const char *name);
void chrome_order_one(struct chrome *c, const char *what, unsigned process, unsigned track,
		      unsigned index);

/* Unless it is named already. */
void chrome_name_track(struct chrome *c, bool *named, unsigned process, unsigned track,
		       unsigned index, const char *name);

/* ---- chrome.c ---- */

unsigned chrome_process(const struct chrome *c, const struct recording_session *s);

/* NULL: no memory, which is then noted. */
struct ring_tracks *chrome_ring(struct chrome *c, const struct recording_session *s, unsigned ring);

/* ---- chrome_client.c ---- */

void chrome_put_event(const struct recording_event *e, void *arg);

/* What came last has nothing behind it. */
void chrome_put_last_events(struct chrome *c);

#endif
