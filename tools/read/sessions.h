/* SPDX-License-Identifier: MIT */
/* sessions.h - read the sessions of a quoitd from their counter files */
#ifndef QUOIT_TOOLS_SESSIONS_H
#define QUOIT_TOOLS_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "columns.h"
#include "counters.h"
#include "daemon_state.h"
#include "session_files.h"

struct sessions {
	struct session_row *list;
	size_t count;
	unsigned unreadable; /* sessions of other users */
	int asked;           /* -errno: quoitd could not be asked for our own sessions */
	unsigned damaged;    /* files without session counters of this version */
	struct counters_totals totals;
	enum daemon_state state;
	bool daemon_lives; /* up or silent */
};

/*
 * Read the totals, and all sessions that we may read, in the order of their numbers.  0 or -errno:
 * the directory has no counters.  Call sessions_free in either case.
 */
int sessions_read(struct session_files *files, struct sessions *ret);
void sessions_free(struct sessions *s);

/* How many sessions there are, by quoitd's count, besides these that are ours; 0: not known. */
unsigned sessions_of_others(const struct counters_totals *t, size_t own);

/* Keep those for which `keep` is true. */
void sessions_filter(struct sessions *s, bool (*keep)(const struct session_row *row, void *arg),
		     void *arg);

/*
 * Look up their processes: bits of enum process_need.  In another PID namespace nothing is found.
 */
void sessions_look(struct sessions *s, unsigned needs);

/* Read the latency of sessions. */
void sessions_look_at_latency(struct session_row *rows, size_t count, struct session_files *files);

/* Say on stderr what is wrong with the daemon or its files. */
void sessions_warn(const struct sessions *s, const char *command);

#endif
