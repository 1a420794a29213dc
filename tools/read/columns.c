/* SPDX-License-Identifier: MIT */
/* columns.c - choose columns, sort by them, and print them */
#include "columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/suggest.h"

/* The source of a column.  A counter's number is less than all of these. */
enum { HEAD = QUOIT_SESSION_NR, RESIDENT, FAULTS, SMAPS, NUMA, LATENCY };

static const struct {
	const char *key, *alias, *title;
	enum column_kind kind;
	unsigned from;
	const char *help;
} columns[COLUMN_NR] = {
#define QUOIT_COLUMN(NAME, key, alias, title, kind, from, help)                                    \
	{key, alias, title, COLUMN_##kind, from, help},
#include "columns.def"
#undef QUOIT_COLUMN
};

enum column_kind columns_kind(enum column column)
{
	return columns[column].kind;
}

const char *columns_key(enum column column)
{
	return columns[column].key;
}

/* A short unit in the key, a '%' before it or a '/s' behind it, is replaced by the full one. */
void columns_json_key(enum column column, char *ret, size_t size)
{
	static const char *const units[] = {
		[COLUMN_BYTES] = "_bytes",    [COLUMN_PERCENT] = "_percent",
		[COLUMN_SHARE] = "_percent",  [COLUMN_RATE] = "_per_second",
		[COLUMN_TICKS] = "_seconds",  [COLUMN_TIME] = "_seconds",
		[COLUMN_SPAN] = "_seconds",   [COLUMN_CLOCK] = "_time_seconds",
		[COLUMN_FLOW] = "_per_second"};
	enum column_kind kind = columns[column].kind;
	const char *key = columns[column].key + (*columns[column].key == '%');
	const char *unit = kind < sizeof units / sizeof units[0] ? units[kind] : NULL;

	snprintf(ret, size, "%.*s%s", (int)strcspn(key, "/"), key, unit ? unit : "");
	for (; *ret; ret++)
		if (*ret == '-')
			*ret = '_';
}

const char *columns_title(enum column column)
{
	return columns[column].title;
}

const char *columns_help(enum column column)
{
	return columns[column].help;
}

bool columns_is_real(enum column_kind kind)
{
	switch (kind) {
	case COLUMN_PERCENT:
	case COLUMN_SHARE:
	case COLUMN_MEAN:
	case COLUMN_RATE:
	case COLUMN_FLOW:
	case COLUMN_SPAN:
		return true;
	default:
		return false;
	}
}

unsigned columns_counter(enum column column)
{
	return columns[column].from < HEAD ? columns[column].from : QUOIT_SESSION_NR;
}

/* ---- choosing ---- */

static int find(const char *word)
{
	for (int i = 0; i < COLUMN_NR; i++)
		if (!strcmp(word, columns[i].key) || !strcmp(word, columns[i].alias))
			return *word ? i : -1;
	return -1;
}

static bool refuse(const char *word, const char *command)
{
	struct suggestion s = {.word = word};

	for (unsigned i = 0; i < COLUMN_NR; i++)
		suggest_try(&s, columns[i].key);
	fprintf(stderr, "quoit %s: unknown column '%s'", command, word);
	suggest_print(&s, "", stderr);
	fprintf(stderr, " (see quoit ps --columns)\n");
	return false;
}

static bool choose(struct column_choices *c, char *word, bool sorts, const char *command)
{
	char *title = sorts ? NULL : strchr(word, '=');
	struct column_choice *one = &c->list[c->count];
	bool descending = sorts && *word == '-';
	int column;

	if (title)
		*title++ = '\0';
	if (sorts && (*word == '-' || *word == '+'))
		word++;
	column = find(word);
	if (column < 0)
		return refuse(word, command);
	if (c->count == sizeof c->list / sizeof c->list[0]) {
		fprintf(stderr, "quoit %s: more than %zu columns, from '%s' on\n", command,
			sizeof c->list / sizeof c->list[0], word);
		return false;
	}
	*one = (struct column_choice){.column = (enum column)column, .descending = descending};
	format_escape(title ? title : columns[column].title, one->title, sizeof one->title);
	c->count++;
	return true;
}

bool columns_choose(struct column_choices *c, const char *list, bool sorts, const char *command)
{
	char *copy = strdup(list), *rest = NULL;
	bool good = copy;

	for (char *word = copy ? strtok_r(copy, ", ", &rest) : NULL; word && good;
	     word = strtok_r(NULL, ", ", &rest))
		good = choose(c, word, sorts, command);
	free(copy);
	return good;
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
		unsigned from = columns[c->list[i].column].from;

		all |= from < HEAD ? 0 : needs[from - HEAD];
	}
	return all;
}

bool columns_need_latency(const struct column_choices *c)
{
	bool any = false;

	for (unsigned i = 0; i < c->count; i++)
		any |= columns[c->list[i].column].from == LATENCY;
	return any;
}

/* ---- sorting ---- */

int columns_compare(const struct figure *a, const struct figure *b, enum column column)
{
	enum column_kind kind = columns[column].kind;

	if (!a->known || !b->known)
		return a->known - b->known;
	if (kind == COLUMN_TEXT)
		return strcmp(a->text, b->text);
	if (columns_is_real(kind))
		return (a->real > b->real) - (a->real < b->real);
	return (a->count > b->count) - (a->count < b->count);
}

static int by_columns(const void *a, const void *b, void *arg)
{
	const struct session_row *x = a, *y = b;
	const struct column_choices *by = arg;
	int order = 0;

	for (unsigned i = 0; i < by->count && !order; i++) {
		enum column column = by->list[i].column;
		struct figure f, g;

		columns_figure(x, column, &f);
		columns_figure(y, column, &g);
		order = columns_compare(&f, &g, column);
		order = by->list[i].descending ? -order : order;
	}
	return order ? order : (x->s.session > y->s.session) - (x->s.session < y->s.session);
}

void columns_sort(const struct column_choices *by, struct session_row *rows, size_t count)
{
	if (count)
		qsort_r(rows, count, sizeof *rows, by_columns, (void *)by);
}

/* ---- printing ---- */

/* The time as ps shows it: the hour if it was today, else the day. */
static void clock_text(uint64_t boot_ns, uint64_t now_ns, char *ret, size_t size)
{
	time_t now = time(NULL), then = now - (time_t)((now_ns - boot_ns) / 1000000000u);
	struct tm today, day;

	localtime_r(&now, &today);
	localtime_r(&then, &day);
	if (today.tm_yday == day.tm_yday && today.tm_year == day.tm_year)
		strftime(ret, size, "%H:%M", &day);
	else
		strftime(ret, size, today.tm_year == day.tm_year ? "%b%d" : "%Y", &day);
}

void columns_figure_text(const struct figure *f, enum column column, uint64_t now_ns, char *ret,
			 size_t size)
{
	if (!f->known) {
		snprintf(ret, size, "-");
		return;
	}
	switch (columns[column].kind) {
	case COLUMN_TEXT:
		snprintf(ret, size, "%s", f->text);
		break;
	case COLUMN_COUNT:
		snprintf(ret, size, "%" PRIu64, f->count);
		break;
	case COLUMN_BYTES:
		format_bytes(f->count, ret, size);
		break;
	case COLUMN_FLOW:
		format_flow(f->real, ret, size);
		break;
	case COLUMN_PERCENT:
	case COLUMN_SHARE:
		snprintf(ret, size, "%.1f", f->real);
		break;
	case COLUMN_MEAN:
	case COLUMN_RATE:
		snprintf(ret, size, f->real < 99.95 ? "%.1f" : "%.0f", f->real);
		break;
	case COLUMN_TICKS:
	case COLUMN_TIME:
		format_time(f->count, ret, size);
		break;
	case COLUMN_SPAN:
		format_span(f->real, ret, size);
		break;
	case COLUMN_CLOCK:
		clock_text(f->count, now_ns, ret, size);
		break;
	}
}

void columns_text(const struct session_row *row, enum column column, char *ret, size_t size)
{
	struct figure f;

	columns_figure(row, column, &f);
	columns_figure_text(&f, column, row->now_ns, ret, size);
}

void columns_print(const struct column_choices *c, const struct session_row *rows, size_t count,
		   bool headers, unsigned width)
{
	struct format_column titles[sizeof c->list / sizeof c->list[0]];
	struct format_table t = {.columns = titles, .count = c->count, .width = width};
	char text[FORMAT_CELL_BYTES];
	bool any_title = false;

	for (unsigned i = 0; i < c->count; i++) {
		titles[i] = (struct format_column){c->list[i].title,
						   columns[c->list[i].column].kind == COLUMN_TEXT};
		any_title |= *c->list[i].title;
	}
	for (size_t row = 0; row < count; row++)
		for (unsigned i = 0; i < c->count; i++) {
			columns_text(&rows[row], c->list[i].column, text, sizeof text);
			format_cell(&t, "%s", text);
		}
	format_print(&t, headers && any_title);
}

void columns_print_help(void)
{
	for (unsigned i = 0; i < COLUMN_NR; i++)
		printf("  %-11s%-10s%s\n", columns[i].key, columns[i].title, columns[i].help);
}
