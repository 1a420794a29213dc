/* SPDX-License-Identifier: MIT */
/*
 * follow.h - a quoitd's counters, read again and again.
 *
 * Descriptors are kept, and the directory is read only when it has changed: at ten readings a
 * second, opening a hundred sessions' files and asking for their processes anew would be most of
 * the work.
 */
#ifndef QUOIT_TOOLS_TOP_FOLLOW_H
#define QUOIT_TOOLS_TOP_FOLLOW_H

#include <dirent.h>
#include <time.h>

#include "chosen.h"
#include "columns.h"
#include "counters.h"
#include "timings.h"

struct followed {
	uint64_t session;
	int fd;    /* -1: it could not be opened */
	int statm; /* of its process; -1: not known */
	bool seen; /* in this reading */
	unsigned readings;
	struct counters_session reading[2]; /* the last one is [readings % 2] */
	struct process process;
	uint64_t read_ns, process_ns; /* when the counters were read, and the process asked */
	struct legs *legs;            /* as of the last look at them, */
	unsigned legs_reading;        /* when this was the number of readings of all */
};

/* More than a quoitd has. */
#define FOLLOW_DEVICES 32u

/* Of jobs on a device: negative, nobody knows. */
struct device_figures {
	double jobs;     /* a second */
	double at_once;  /* on average */
	double p50, p99; /* within so many nanoseconds so many in 100 had run */
};

/* A line of the table: a session, or all of a user's. */
struct table_line {
	uint64_t id;         /* a session's number; FOLLOW_USER and the user's */
	size_t first, count; /* of the rows */
	bool last;           /* of those below their user's */
};

#define FOLLOW_USER (UINT64_C(1) << 63)

struct follow {
	int directory;
	const char *socket; /* of quoitd, the caller's */
	DIR *entries;
	struct timespec changed; /* the directory's time when it was last read, */
	bool settled;            /* which was long enough ago to be trusted */
	bool here;               /* in quoitd's PID namespace */
	int statm;               /* of quoitd; -1: not known */

	struct followed *list;
	size_t count, room;
	unsigned unreadable, damaged;

	unsigned readings;
	struct counters_totals totals[2]; /* the last one is [readings % 2] */
	uint64_t read_ns;                 /* CLOCK_BOOTTIME, of the last one */
	bool daemon_lives;
	bool waiting; /* it does not live, and its socket waits for the next client */
	int want;     /* -errno: what we lacked for the last reading, which tells nothing new; 0 */

	struct session_row *rows; /* of the last reading */
	size_t row_count, row_room;
	size_t shown; /* of these, those that view_table.c has put first, in */
	struct table_line *lines;
	size_t line_count, line_room;
	struct chosen chosen;

	/* What tiles took of each core, in percent, when that was last told; < 0: it never was. */
	double tiles[QUOIT_MAX_CORES];

	struct timings timings; /* as of the last look at devices, */
	uint64_t timings_ns;    /* which was then */
	unsigned devices;
	struct device_figures device[FOLLOW_DEVICES]; /* number n is at n - 1 */
};

/* directory: as runtime_open_directory of this socket; it is taken over.  0 or -errno. */
int follow_open(struct follow *f, const char *socket, int directory);
void follow_close(struct follow *f);

/*
 * Read everything once more, and what of the processes is wanted (process_look).  0; -errno: the
 * totals cannot be read any more, and what was last read stays.
 */
int follow_read(struct follow *f, unsigned needs);

/* Look what jobs did on devices, since the last look that told. */
void follow_look_at_devices(struct follow *f);

/* Look at the legs of all sessions: what limits each, since the last reading if it was looked at
 * then, too. */
void follow_look_at_legs(struct follow *f);

/* Look closer at one of the last reading's sessions; also at what costs the kernel a walk through
 * its pages. */
void follow_choose(struct follow *f, uint64_t session);

/* The last totals, and those before; NULL: they are another daemon's, or there are none. */
const struct counters_totals *follow_now(const struct follow *f);
const struct counters_totals *follow_before(const struct follow *f);

#endif
