/* SPDX-License-Identifier: MIT */
/*
 * table.h - choose columns of a list, sort by them, and print them: for `quoit ps`, `top`, `ls` and
 * `calls`
 */
#ifndef QUOIT_TOOLS_TABLE_H
#define QUOIT_TOOLS_TABLE_H

#include "figure.h"

struct table_column {
	const char *key, *alias, *title; /* alias "": it has none */
	enum column_kind kind;
	const char *help;
};

/* A list's columns, and how to read a row of it. */
struct table {
	const char *command; /* whose option --columns lists them */
	const struct table_column *columns;
	unsigned count;
	size_t row_bytes;
	void (*figure)(const void *row, unsigned column, struct figure *ret);
	/* the order of rows that are equal in all columns that are sorted by */
	int (*compare)(const void *a, const void *b);
};

#define TABLE_MOST_CHOICES 192

/* A column that the user has chosen. */
struct column_choice {
	unsigned column;
	char title[FORMAT_CELL_BYTES]; /* the column's title, or the user's */
	bool descending;               /* the direction when it is sorted by */
};

struct column_choices {
	struct column_choice list[TABLE_MOST_CHOICES];
	unsigned count;
};

/*
 * Add columns by a list of keys, "key,key=TITLE ..."; with `sorts`, "+key,-key".  False after a
 * line on stderr, which names this command: a key is unknown, or there are more than twice as many
 * as the table has columns.
 */
bool table_choose(const struct table *t, struct column_choices *c, const char *list, bool sorts,
		  const char *command);

void table_sort(const struct table *t, const struct column_choices *by, void *rows, size_t count);

/*
 * Print the rows, no line wider than `width` (0: no limit); now_ns: CLOCK_BOOTTIME of the reading.
 */
void table_print(const struct table *t, const struct column_choices *c, const void *rows,
		 size_t count, uint64_t now_ns, bool headers, unsigned width);

/* An object with all columns of the row. */
json_t *table_json(const struct table *t, const void *row);

/* Print every key with its help on stdout. */
void table_print_help(const struct table *t);

#endif
