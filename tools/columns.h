/* SPDX-License-Identifier: MIT */
/*
 * columns.h - what can be shown of a session: one table (columns.def) for choosing, sorting,
 * printing and help.
 *
 *	columns.c         the table, and what is chosen, sorted by and printed
 *	columns_figure.c  what is known of a column in one session
 *	columns_sum.c     what is known of it in several together
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

/* What a column's figure is, and where it has a counter, what becomes of that. */
enum column_kind {
	COLUMN_TEXT,
	COLUMN_COUNT, /* it */
	COLUMN_BYTES, /* it */
	COLUMN_PERCENT,
	COLUMN_SHARE, /* ticks, in percent of the time that the session is open */
	COLUMN_MEAN,  /* ticks times how many: how many on average over that time */
	COLUMN_RATE,  /* how many a second of it */
	COLUMN_FLOW,  /* how many bytes a second of it */
	COLUMN_TICKS, /* ticks as ns */
	COLUMN_TIME,  /* ns */
	COLUMN_SPAN,  /* seconds, as real */
	COLUMN_CLOCK, /* ns, CLOCK_BOOTTIME */
};

enum column {
#define QUOIT_COLUMN(NAME, key, alias, title, kind, from, help) COLUMN_OF_##NAME,
#include "columns.def"
#undef QUOIT_COLUMN
	COLUMN_NR
};

/* What is known of a column in one session. */
struct figure {
	bool known; /* false: print "-", never 0 */
	uint64_t count;
	double real;
	char text[FORMAT_CELL_BYTES];
};

/* One session, with what was looked up of its process. */
struct session_row {
	struct counters_session s;
	/* What means are since; NULL: since it was opened.  It has to stay while the row does. */
	const struct counters_session *before;
	struct process process;
	struct limits limits; /* from its legs, if these were looked at */
	bool daemon_lives;
	uint64_t now_ns; /* CLOCK_BOOTTIME, when it was read */
};

/* A column that was asked for. */
struct column_choice {
	enum column column;
	char title[FORMAT_CELL_BYTES]; /* its own, or as the user wishes */
	bool descending;               /* when it is sorted by */
};

struct column_choices {
	struct column_choice list[2 * COLUMN_NR];
	unsigned count;
};

/*
 * Add columns by a list of keys, "key,key=TITLE ..."; with `sorts`, "+key,-key".  False: one is
 * unknown, or there are too many: said on stderr, for this command.
 */
bool columns_choose(struct column_choices *c, const char *list, bool sorts, const char *command);

/* What process_look is to find out for these columns: bits of enum process_need. */
unsigned columns_need(const struct column_choices *c);

/* Do they need what is in the sessions' legs? */
bool columns_need_legs(const struct column_choices *c);

enum column_kind columns_kind(enum column column);

/* Is its figure in `real`?  Else it is in `count`, or in `text`. */
bool columns_is_real(enum column_kind kind);

/* The counter that its figure comes from; QUOIT_SESSION_NR: none. */
unsigned columns_counter(enum column column);

const char *columns_key(enum column column);
/* Its key in JSON, which ends with its unit where it has one. */
void columns_json_key(enum column column, char *ret, size_t size);

const char *columns_title(enum column column);
const char *columns_help(enum column column);

/* Over how many nanoseconds a row's means are; negative: that is not known. */
double columns_span_ns(const struct session_row *row);

void columns_figure(const struct session_row *row, enum column column, struct figure *ret);

/*
 * The same of several sessions together, of one user: a sum; of what is a sum of nothing, as the
 * most that a ring had, the largest; of what can be neither, what all of them have, if they do.
 */
void columns_sum(const struct session_row *rows, size_t count, enum column column,
		 struct figure *ret);

/* Negative, 0 or positive, as the one figure of this column is less, equal or more. */
int columns_compare(const struct figure *a, const struct figure *b, enum column column);

/* A figure as it is printed; now_ns: CLOCK_BOOTTIME of when it was read. */
void columns_figure_text(const struct figure *f, enum column column, uint64_t now_ns, char *ret,
			 size_t size);

/* The figure of one session as it is printed. */
void columns_text(const struct session_row *row, enum column column, char *ret, size_t size);

/* Put rows in order by these columns, and by their sessions' numbers where these are equal. */
void columns_sort(const struct column_choices *by, struct session_row *rows, size_t count);

/* Print the rows as a table, no line wider than `width` (0: however wide). */
void columns_print(const struct column_choices *c, const struct session_row *rows, size_t count,
		   bool headers, unsigned width);

/* Print every key with its help on stdout. */
void columns_print_help(void);

#endif
