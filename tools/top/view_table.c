/* SPDX-License-Identifier: MIT */
/* view_table.c - the sessions, sorted, as far as they fit */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view_private.h"

/* ---- order ---- */

void view_sort(const struct view_options *o, struct follow *f)
{
	struct column_choices by = {.count = 1};
	size_t kept = 0;

	by.list[0] = (struct column_choice){.column = o->sorted_by, .descending = !o->ascending};
	for (size_t i = 0; i < f->row_count; i++)
		if (!o->only_uid || f->rows[i].s.uid == o->uid) {
			struct session_row wanted = f->rows[i];

			f->rows[i] = f->rows[kept];
			f->rows[kept++] = wanted;
		}
	f->shown = kept;
	columns_sort(&by, f->rows, kept);
}

/* ---- where we are ---- */

static size_t row_of(const struct follow *f, uint64_t session)
{
	size_t i = 0;

	while (i < f->shown && f->rows[i].s.session != session)
		i++;
	return i;
}

uint64_t view_step(const struct view_options *o, const struct follow *f, long n)
{
	long row = (long)row_of(f, o->chosen), last = (long)f->shown - 1;

	if (last < 0)
		return 0;
	if (row > last) /* nothing was chosen, or it is gone */
		row = n > 0 ? -1 : last + 1;
	row += n;
	row = row < 0 ? 0 : row > last ? last : row;
	return f->rows[row].s.session;
}

/* The first row, so that the chosen one is among `most`. */
static size_t first_row(const struct view_options *o, const struct follow *f, size_t most)
{
	size_t chosen = row_of(f, o->chosen), first = o->first;

	if (chosen < f->shown) {
		if (chosen < first)
			first = chosen;
		else if (chosen >= first + most)
			first = chosen + 1 - most;
	}
	if (first + most > f->shown)
		first = f->shown > most ? f->shown - most : 0;
	return first;
}

/* ---- lines ---- */

static void add_title(struct view *v, const struct column_choices *c, const struct view_options *o,
		      const unsigned *width)
{
	for (unsigned i = 0; i < c->count; i++) {
		bool sorted = c->list[i].column == o->sorted_by;
		bool left = columns_kind(c->list[i].column) == COLUMN_TEXT;

		view_add(v, sorted ? VIEW_CHOSEN : VIEW_TITLE, left ? "%-*s" : "%*s", (int)width[i],
			 c->list[i].title);
		view_add(v, VIEW_TITLE, " ");
	}
	view_pad(v, VIEW_TITLE, v->width);
	view_end_line(v);
}

static void add_row(struct view *v, const struct column_choices *c, const struct session_row *row,
		    const unsigned *width, enum view_style style)
{
	char text[FORMAT_CELL_BYTES];

	for (unsigned i = 0; i < c->count; i++) {
		bool left = columns_kind(c->list[i].column) == COLUMN_TEXT;

		columns_text(row, c->list[i].column, text, sizeof text);
		view_add(v, style, left ? "%-*s" : "%*s", (int)width[i], text);
		view_add(v, style, " ");
	}
	if (style == VIEW_CHOSEN)
		view_pad(v, style, v->width);
	view_end_line(v);
}

/* As wide as the widest of what is shown. */
static void measure(const struct column_choices *c, const struct session_row *rows, size_t count,
		    unsigned *width)
{
	char text[FORMAT_CELL_BYTES];

	for (unsigned i = 0; i < c->count; i++) {
		width[i] = (unsigned)strlen(c->list[i].title);
		for (size_t k = 0; k < count; k++) {
			columns_text(&rows[k], c->list[i].column, text, sizeof text);
			if (strlen(text) > width[i])
				width[i] = (unsigned)strlen(text);
		}
	}
}

void view_table(struct view *v, struct view_options *o, const struct follow *f, unsigned lines)
{
	unsigned width[sizeof o->columns.list / sizeof o->columns.list[0]];
	size_t most = lines > 1 ? lines - 1 : lines ? 1 : f->shown, shown;

	o->first = first_row(o, f, most);
	shown = f->shown - o->first < most ? f->shown - o->first : most;
	measure(&o->columns, f->rows + o->first, shown, width);
	if (o->prompt) {
		view_add(v, VIEW_ALARM, "%s", o->prompt);
		view_end_line(v);
	} else {
		add_title(v, &o->columns, o, width);
	}
	for (size_t i = o->first; i < o->first + shown; i++)
		add_row(v, &o->columns, &f->rows[i], width,
			f->rows[i].s.session == o->chosen ? VIEW_CHOSEN : VIEW_PLAIN);
}
