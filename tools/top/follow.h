/* SPDX-License-Identifier: MIT */
/*
 * follow.h - read a quoitd's counters again and again.
 *
 * Descriptors stay open, and sessions are looked for only when some may have come: at ten readings a
 * second, opening a hundred sessions' files and looking up their processes each time would be most
 * of the work.
 */
#ifndef QUOIT_TOOLS_TOP_FOLLOW_H
#define QUOIT_TOOLS_TOP_FOLLOW_H

#include "chosen.h"
#include "read/columns.h"
#include "read/counters.h"
#include "read/session_files.h"
#include "read/timings.h"

struct followed {
	uint64_t session;
	int fd;    /* -1: it could not be opened */
	int statm; /* of its process; -1: not known */
	bool seen; /* found in the last list */
	unsigned readings;
	struct counters_session reading[2]; /* the last one is [readings % 2] */
	struct process process;
	/* when the counters were read, and when the process was looked up */
	uint64_t read_ns, process_ns;
	struct latency *latency;  /* as last read by follow_look_at_latency */
	unsigned latency_reading; /* `readings` of struct follow at that time */
};

/* More than a quoitd has. */
#define FOLLOW_DEVICES 32u

/* Figures of jobs on a device; negative: not known. */
struct device_figures {
	double jobs;     /* per second */
	double at_once;  /* mean number that ran at a time */
	double p50, p99; /* ns that half, and 99 in 100, of the jobs ran at most */
};

/* A line of the table: a session, or a user with all sessions. */
struct table_line {
	uint64_t id;         /* a session's number; or FOLLOW_USER and the user's uid */
	size_t first, count; /* its rows: the first one, and how many */
	bool last;           /* the last session of its user, in a tree */
};

#define FOLLOW_USER (UINT64_C(1) << 63)

struct follow {
	struct session_files files;
	bool here; /* we are in quoitd's PID namespace */
	int statm; /* of quoitd; -1: not known */

	struct followed *list;
	size_t count, room;
	unsigned unreadable, damaged;
	int asked; /* -errno: quoitd could not be asked for our own sessions */

	unsigned readings;
	struct counters_totals totals[2]; /* the last one is [readings % 2] */
	uint64_t read_ns;                 /* CLOCK_BOOTTIME of the last one */
	bool daemon_lives;
	bool waiting; /* quoitd does not live, and its socket waits for the next client */
	/* 0, or -errno: we lacked resources for the last reading, so it has nothing new */
	int want;

	struct session_row *rows; /* of the last reading */
	size_t row_count, row_room;
	size_t shown; /* how many rows are shown: view_order.c has put them first */
	struct table_line *lines;
	size_t line_count, line_room;
	struct chosen chosen;

	/*
	 * Percent of each core that tiles took, by the core's last report; < 0: it has never
	 * reported.
	 */
	double tiles[QUOIT_MAX_CORES];

	struct timings timings; /* as of the last look at devices */
	uint64_t timings_ns;    /* when that was */
	unsigned devices;
	struct device_figures device[FOLLOW_DEVICES]; /* device n is at n - 1 */
};

/* Open the directory of this socket; 0 or -errno. */
int follow_open(struct follow *f, const char *socket);
void follow_close(struct follow *f);

/*
 * Read everything once more; needs: what to look up of processes (process_look).  0; -errno: the
 * totals can no longer be read, and the last reading stays.
 */
int follow_read(struct follow *f, unsigned needs);

/* Find out what jobs did on devices since the last look that gave figures. */
void follow_look_at_devices(struct follow *f);

/*
 * Read the latency of all sessions, and find each one's limit since the last reading, if its
 * latency was read then, too; else since it was opened.
 */
void follow_look_at_latency(struct follow *f);

/*
 * Read the details of one session of the last reading, and figures of its process that cost the
 * kernel a walk through its pages.
 */
void follow_choose(struct follow *f, uint64_t session);

/* The last totals, and those before; NULL: there are none, or they are another daemon's. */
const struct counters_totals *follow_now(const struct follow *f);
const struct counters_totals *follow_before(const struct follow *f);

#endif
