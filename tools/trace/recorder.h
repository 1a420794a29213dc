/* SPDX-License-Identifier: MIT */
/*
 * recorder.h - ask quoitd to record, and copy what comes into a file.
 *
 * Its memory is bounded whatever comes: two buffers, and a word or two for each of at most so many
 * sessions.  What finds no room is counted, in the file and for the user.
 */
#ifndef QUOIT_TOOLS_TRACE_RECORDER_H
#define QUOIT_TOOLS_TRACE_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "counters.h"
#include "trace/tail.h"
#include "trace/watch.h"
#include "trace/writer.h"

#define RECORDER_MOST_TAILS       512u /* at a time; each is a descriptor */
#define RECORDER_MOST_CONNECTIONS 64u

struct recorder_what {
	const char *socket, *path;
	uint64_t size;    /* of the file */
	uint32_t records; /* of a session's ring; a power of two */
	uint32_t pid;     /* 0: all sessions that one may record */
	char *const *command;
	bool alone; /* nobody else uses this quoitd */
};

struct recorder_tail {
	struct tail tail;
	bool present;                      /* its file was there at the last look */
	uint64_t wanted[QUOIT_SITE_RINGS]; /* call sites that were seen, */
	uint64_t known[QUOIT_SITE_RINGS];  /* and whose names are written; */
	uint64_t next_sites_ns;            /* look for others then, */
	uint64_t sites_pause_ns;           /* and so much later again */
};

struct recorder {
	struct recorder_what what;
	int directory;
	int watch; /* of it (watch.h) */
	int connection[RECORDER_MOST_CONNECTIONS];
	unsigned connections;
	struct counters_origin origin;
	struct trace_writer writer;
	struct recorder_tail *tail; /* RECORDER_MOST_TAILS */
	unsigned tails;
	struct quoit_trace_record *buffer; /* a chunk's */
	struct trace_end end;
	uint64_t begun_ns, begun_cpu_ns, next_scan_ns, next_totals_ns;
	uint64_t since;   /* TSC: files that are older are somebody else's */
	uint64_t opened;  /* sessions, by its totals, before we began */
	uint64_t missed;  /* sessions beyond the limit, at a time */
	unsigned strange; /* files that were not whole at the last look, or not for us; */
	unsigned unripe;  /* one has just come, and is looked at so often yet */
	bool daemon_died;
};

/* 0, or -1 after a message on stderr. */
int recorder_begin(struct recorder *r, const struct recorder_what *what);

/* Look once at everything; how many records came. */
uint64_t recorder_look(struct recorder *r);

/* How many milliseconds it may be until the next look, when so many records came at this one. */
unsigned recorder_pause_ms(const struct recorder *r, uint64_t records);

/* Has writing failed?  recorder_finish says why. */
bool recorder_has_failed(const struct recorder *r);

/* Is nothing left that could still come?  Of all sessions that are followed. */
bool recorder_is_over(const struct recorder *r);

/*
 * Stop quoitd's recording, complete the file, and say on stderr what there is and what it has
 * cost.  0, or -1 after a message: it could not be written.
 */
int recorder_finish(struct recorder *r);

#endif
