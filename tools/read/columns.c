/* SPDX-License-Identifier: MIT */
/* columns.c - the table of a session's columns, and what they need */
#include "columns.h"

#include <assert.h>

/* The source of a column.  A counter's number is less than all of these. */
enum { HEAD = QUOIT_SESSION_NR, RESIDENT, FAULTS, SMAPS, NUMA, LATENCY };

static const struct table_column columns[COLUMN_NR] = {
#define QUOIT_COLUMN(NAME, key, alias, title, kind, from, help)                                    \
	{key, alias, title, COLUMN_##kind, help},
#include "columns.def"
#undef QUOIT_COLUMN
};

static const unsigned sources[COLUMN_NR] = {
#define QUOIT_COLUMN(NAME, key, alias, title, kind, from, help) from,
#include "columns.def"
#undef QUOIT_COLUMN
};

static_assert(2 * COLUMN_NR <= TABLE_MOST_CHOICES, "each column can be chosen twice");

static void figure_of(const void *row, unsigned column, struct figure *ret)
{
	columns_figure(row, (enum column)column, ret);
}

static int by_session(const void *a, const void *b)
{
	const struct session_row *x = a, *y = b;

	return (x->s.session > y->s.session) - (x->s.session < y->s.session);
}

static const struct table table = {"ps",      columns,   COLUMN_NR, sizeof(struct session_row),
				   figure_of, by_session};

enum column_kind columns_kind(enum column column)
{
	return columns[column].kind;
}

const char *columns_key(enum column column)
{
	return columns[column].key;
}

const char *columns_title(enum column column)
{
	return columns[column].title;
}

const char *columns_help(enum column column)
{
	return columns[column].help;
}

unsigned columns_counter(enum column column)
{
	return sources[column] < HEAD ? sources[column] : QUOIT_SESSION_NR;
}

bool columns_choose(struct column_choices *c, const char *list, bool sorts, const char *command)
{
	return table_choose(&table, c, list, sorts, command);
}

unsigned columns_need(const struct column_choices *c)
{
	static const unsigned needs[] = {
		[RESIDENT - HEAD] = PROCESS_NEED_RESIDENT,
		[FAULTS - HEAD] = PROCESS_NEED_FAULTS,
		[SMAPS - HEAD] = PROCESS_NEED_SMAPS,
		[NUMA - HEAD] = PROCESS_NEED_NUMA,
		[LATENCY - HEAD] = 0,
	};
	unsigned all = 0;

	for (unsigned i = 0; i < c->count; i++) {
		unsigned from = sources[c->list[i].column];

		all |= from < HEAD ? 0 : needs[from - HEAD];
	}
	return all;
}

bool columns_need_latency(const struct column_choices *c)
{
	bool any = false;

	for (unsigned i = 0; i < c->count; i++)
		any |= sources[c->list[i].column] == LATENCY;
	return any;
}

void columns_figure_text(const struct figure *f, enum column column, uint64_t now_ns, char *ret,
			 size_t size)
{
	figure_text(f, columns[column].kind, now_ns, ret, size);
}

void columns_text(const struct session_row *row, enum column column, char *ret, size_t size)
{
	struct figure f;

	columns_figure(row, column, &f);
	columns_figure_text(&f, column, row->now_ns, ret, size);
}

int columns_compare(const struct figure *a, const struct figure *b, enum column column)
{
	return figure_compare(a, b, columns[column].kind);
}

void columns_sort(const struct column_choices *by, struct session_row *rows, size_t count)
{
	table_sort(&table, by, rows, count);
}

void columns_print(const struct column_choices *c, const struct session_row *rows, size_t count,
		   bool headers, unsigned width)
{
	table_print(&table, c, rows, count, count ? rows[0].now_ns : 0, headers, width);
}

json_t *columns_json(const struct session_row *row)
{
	return table_json(&table, row);
}

void columns_print_help(void)
{
	table_print_help(&table);
}
