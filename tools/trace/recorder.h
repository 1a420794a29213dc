/* SPDX-License-Identifier: MIT */
/*
 * recorder.h - ask quoitd to record, and copy its records into a file.
 *
 * The recorder's memory is bounded: two buffers, and a few words for each of a limited number of
 * sessions.  Records without room are counted, in the file and for the user.
 */
#ifndef QUOIT_TOOLS_TRACE_RECORDER_H
#define QUOIT_TOOLS_TRACE_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "read/counters.h"
#include "read/session_files.h"
#include "tail.h"
#include "watch.h"
#include "writer.h"

#define RECORDER_MOST_TAILS       512u /* at a time; each takes a descriptor */
#define RECORDER_MOST_CONNECTIONS 64u

struct recorder_what {
	const char *socket, *path;
	uint64_t size;    /* of the recording's file */
	uint32_t records; /* in a session's ring; a power of two */
	uint32_t pid;     /* 0: all sessions that we may record */
	char *const *command;
	bool alone; /* no other program uses this quoitd */
};

/* Services, locks and their kin in a session's records; of many, the last ones. */
#define RECORDER_THINGS 128u

struct recorder_things {
	uint64_t number[RECORDER_THINGS];
	bool known[RECORDER_THINGS]; /* it has had its name written */
	unsigned count;              /* it may be more than there is room for */
	unsigned lacking;            /* so many are not known */
	uint64_t next_ns, pause_ns;  /* when to look for names; how much later to look again */
};

struct recorder_tail {
	struct tail tail;
	bool present;                      /* the session's file was there at the last look */
	uint64_t wanted[QUOIT_SITE_RINGS]; /* call sites that were seen */
	uint64_t known[QUOIT_SITE_RINGS];  /* call sites that have had their names written */
	uint64_t next_sites_ns;            /* when to look for further names */
	uint64_t sites_pause_ns;           /* how much later to look again */
	struct recorder_things things;
};

struct recorder {
	struct recorder_what what;
	struct session_files files;
	int watch; /* of their folder (watch.h) */
	int connection[RECORDER_MOST_CONNECTIONS];
	unsigned connections;
	struct counters_origin origin;
	struct trace_writer writer;
	struct recorder_tail *tail; /* RECORDER_MOST_TAILS */
	unsigned tails;
	struct quoit_trace_record *buffer; /* for one chunk */
	struct trace_end end;
	uint64_t begun_ns, begun_cpu_ns, next_scan_ns, next_totals_ns;
	uint64_t since;   /* TSC: older files belong to other recordings */
	uint64_t opened;  /* how many sessions quoitd's totals had before we began */
	uint64_t missed;  /* the most sessions beyond the limit at a time */
	unsigned strange; /* files that were not whole at the last look, or not ours */
	unsigned unripe;  /* looks left in which a new file may become whole */
	bool daemon_died;
};

/* 0, or -1 after a message on stderr. */
int recorder_begin(struct recorder *r, const struct recorder_what *what);

/* Look once at everything; returns how many records came. */
uint64_t recorder_look(struct recorder *r);

/* How many milliseconds may pass until the next look, if this one brought `records`. */
unsigned recorder_pause_ms(const struct recorder *r, uint64_t records);

/* Has a write failed?  recorder_finish says why. */
bool recorder_has_failed(const struct recorder *r);

/* Have all sessions that are followed told everything? */
bool recorder_is_over(const struct recorder *r);

/*
 * Stop quoitd's recording, complete the file, and print on stderr what it contains and what it
 * cost. 0, or -1 after a message: the file could not be written.
 */
int recorder_finish(struct recorder *r);

#endif
