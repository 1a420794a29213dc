/* SPDX-License-Identifier: MIT */
/*
 * columns.h - the columns of a session: one table (columns.def) for choosing, sorting, printing and
 * help.
 *
 *	columns.c         the table; choose columns, sort by them, print them
 *	columns_figure.c  the figure of a column in one session
 *	columns_sum.c     the figure of a column in several sessions together
 */
#ifndef QUOIT_TOOLS_COLUMNS_H
#define QUOIT_TOOLS_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters.h"
#include "format.h"
#include "limit.h"
#include "process.h"

/* The kind of a column's figure, and how it is computed from its counter, if it has one. */
enum column_kind {
	COLUMN_TEXT,
	COLUMN_COUNT, /* the counter */
	COLUMN_BYTES, /* the counter */
	COLUMN_PERCENT,
	COLUMN_SHARE, /* a counter of ticks, in percent of the time that the session is open */
	COLUMN_MEAN, /* a counter of ticks times a number: the mean of that number over this time */
	COLUMN_RATE, /* the counter's growth per second */
	COLUMN_FLOW, /* the counter's growth in bytes per second */
	COLUMN_TICKS, /* a counter of ticks, as ns */
	COLUMN_TIME,  /* ns */
	COLUMN_SPAN,  /* seconds, a real number */
	COLUMN_CLOCK, /* ns, CLOCK_BOOTTIME */
};

enum column {
#define QUOIT_COLUMN(NAME, key, alias, title, kind, from, help) COLUMN_OF_##NAME,
#include "columns.def"
#undef QUOIT_COLUMN
	COLUMN_NR
};

/* The figure of a column in one session. */
struct figure {
	bool known; /* false: print "-", never 0 */
	uint64_t count;
	double real;
	char text[FORMAT_CELL_BYTES];
};

/* One session, with what /proc says of its process. */
struct session_row {
	struct counters_session s;
	/*
	 * Means are since this reading; NULL: since the session was opened.  It must live as long
	 * as the row.
	 */
	const struct counters_session *before;
	struct process process;
	struct limits limits; /* from the session's latency, if that was read */
	bool daemon_lives;
	uint64_t now_ns; /* CLOCK_BOOTTIME of the reading */
};

/* A column that the user has chosen. */
struct column_choice {
	enum column column;
	char title[FORMAT_CELL_BYTES]; /* the column's title, or the user's */
	bool descending;               /* the direction when it is sorted by */
};

struct column_choices {
	struct column_choice list[2 * COLUMN_NR];
	unsigned count;
};

/*
 * Add columns by a list of keys, "key,key=TITLE ..."; with `sorts`, "+key,-key".  False after a
 * line on stderr, which names this command: a key is unknown, or there are too many.
 */
bool columns_choose(struct column_choices *c, const char *list, bool sorts, const char *command);

/* What process_look must find out for these columns: bits of enum process_need. */
unsigned columns_need(const struct column_choices *c);

/* Do these columns need the sessions' latency? */
bool columns_need_latency(const struct column_choices *c);

enum column_kind columns_kind(enum column column);

/* Is the column's figure in `real`?  Otherwise it is in `count`, or in `text`. */
bool columns_is_real(enum column_kind kind);

/* The counter that the column comes from; QUOIT_SESSION_NR: none. */
unsigned columns_counter(enum column column);

const char *columns_key(enum column column);
/* The column's key in JSON; it ends with the unit, if there is one. */
void columns_json_key(enum column column, char *ret, size_t size);

const char *columns_title(enum column column);
const char *columns_help(enum column column);

/* The nanoseconds that a row's means are over; negative: not known. */
double columns_span_ns(const struct session_row *row);

void columns_figure(const struct session_row *row, enum column column, struct figure *ret);

/*
 * The figure of several sessions of one user together.  It is a sum where sums make sense, and the
 * largest for figures such as the most SQEs in a ring.  For others it is the figure that all
 * sessions have in common, or not known.
 */
void columns_sum(const struct session_row *rows, size_t count, enum column column,
		 struct figure *ret);

/* Negative, 0 or positive, as figure a of this column is less than, equal to or more than b. */
int columns_compare(const struct figure *a, const struct figure *b, enum column column);

/* A figure as it is printed; now_ns: CLOCK_BOOTTIME of the reading. */
void columns_figure_text(const struct figure *f, enum column column, uint64_t now_ns, char *ret,
			 size_t size);

/* The figure of one session as it is printed. */
void columns_text(const struct session_row *row, enum column column, char *ret, size_t size);

/* Sort rows by these columns; equal rows are sorted by their sessions' numbers. */
void columns_sort(const struct column_choices *by, struct session_row *rows, size_t count);

/* Print the rows as a table, no line wider than `width` (0: no limit). */
void columns_print(const struct column_choices *c, const struct session_row *rows, size_t count,
		   bool headers, unsigned width);

/* Print every key with its help on stdout. */
void columns_print_help(void);

#endif
