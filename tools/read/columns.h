/* SPDX-License-Identifier: MIT */
/*
 * columns.h - the columns of a session: one table (columns.def) for choosing, sorting, printing and
 * help.
 *
 *	columns.c         the table, for table.h; what its columns need
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
#include "table.h"

enum column {
#define QUOIT_COLUMN(NAME, key, alias, title, kind, from, help) COLUMN_OF_##NAME,
#include "columns.def"
#undef QUOIT_COLUMN
	COLUMN_NR
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

/* As table_choose. */
bool columns_choose(struct column_choices *c, const char *list, bool sorts, const char *command);

/* What process_look must find out for these columns: bits of enum process_need. */
unsigned columns_need(const struct column_choices *c);

/* Do these columns need the sessions' latency? */
bool columns_need_latency(const struct column_choices *c);

enum column_kind columns_kind(enum column column);

/* The counter that the column comes from; QUOIT_SESSION_NR: none. */
unsigned columns_counter(enum column column);

const char *columns_key(enum column column);
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

/* An object with all columns. */
json_t *columns_json(const struct session_row *row);

/* Print every key with its help on stdout. */
void columns_print_help(void);

#endif
