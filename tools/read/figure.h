/* SPDX-License-Identifier: MIT */
/* figure.h - a figure of a table: its kind, its text and its value in JSON */
#ifndef QUOIT_TOOLS_FIGURE_H
#define QUOIT_TOOLS_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format.h"

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

/* The figure of a column in one row. */
struct figure {
	bool known; /* false: print "-", never 0 */
	uint64_t count;
	double real;
	char text[FORMAT_CELL_BYTES];
};

/* Is a figure of this kind in `real`?  Otherwise it is in `count`, or in `text`. */
bool figure_is_real(enum column_kind kind);

/* Negative, 0 or positive, as a is less than, equal to or more than b; unknown is the least. */
int figure_compare(const struct figure *a, const struct figure *b, enum column_kind kind);

/* The figure as it is printed; now_ns: CLOCK_BOOTTIME of the reading. */
void figure_text(const struct figure *f, enum column_kind kind, uint64_t now_ns, char *ret,
		 size_t size);

/* Its value in JSON; null: it is not known. */
json_t *figure_json(const struct figure *f, enum column_kind kind);

/* The key in JSON of a column with this key; it ends with the unit, if there is one. */
void figure_json_key(const char *key, enum column_kind kind, char *ret, size_t size);

#endif
