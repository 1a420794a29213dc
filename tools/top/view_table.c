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

static bool is_left(const struct column_choice *c)
{
	return columns_kind(c->column) == COLUMN_TEXT;
}

static void add_title(struct view *v, const struct column_choices *c, const struct view_options *o,
		      const unsigned *width)
{
	for (unsigned i = 0; i < c->count; i++) {
		bool sorted = c->list[i].column == o->sorted_by;

		view_add_cell(v, sorted ? VIEW_CHOSEN : VIEW_TITLE, c->list[i].title, width[i],
			      is_left(&c->list[i]));
		view_repeat(v, VIEW_TITLE, ' ', 1);
	}
	view_pad(v, VIEW_TITLE, v->width);
	view_end_line(v);
}

static void add_row(struct view *v, const struct column_choices *c,
		    const char (*cells)[FORMAT_CELL_BYTES], const unsigned *width,
		    enum view_style style)
{
	for (unsigned i = 0; i < c->count; i++) {
		view_add_cell(v, style, cells[i], width[i], is_left(&c->list[i]));
		view_repeat(v, style, ' ', 1);
	}
	if (style == VIEW_CHOSEN)
		view_pad(v, style, v->width);
	view_end_line(v);
}

/* The texts of these rows, and each column as wide as the widest of them; how many rows. */
static size_t make_cells(struct view *v, const struct column_choices *c,
			 const struct session_row *rows, size_t count, unsigned *width)
{
	if (count * c->count > v->cell_room) {
		void *cells = realloc(v->cells, count * c->count * sizeof *v->cells);

		v->failed |= !cells;
		if (!cells)
			return 0;
		v->cells = cells;
		v->cell_room = count * c->count;
	}
	for (unsigned i = 0; i < c->count; i++)
		width[i] = (unsigned)strlen(c->list[i].title);
	for (size_t k = 0; k < count; k++)
		for (unsigned i = 0; i < c->count; i++) {
			char *text = v->cells[k * c->count + i];

			columns_text(&rows[k], c->list[i].column, text, FORMAT_CELL_BYTES);
			if (strlen(text) > width[i])
				width[i] = (unsigned)strlen(text);
		}
	return count;
}

void view_table(struct view *v, struct view_options *o, const struct follow *f, unsigned lines)
{
	const struct column_choices *c = &o->columns;
	unsigned width[sizeof c->list / sizeof c->list[0]] = {0};
	size_t most = lines > 1 ? lines - 1 : lines ? 1 : f->shown, shown;

	o->first = first_row(o, f, most);
	shown = f->shown - o->first < most ? f->shown - o->first : most;
	shown = make_cells(v, c, f->rows + o->first, shown, width);
	if (o->prompt) {
		view_add(v, VIEW_ALARM, "%s", o->prompt);
		view_end_line(v);
	} else {
		add_title(v, c, o, width);
	}
	for (size_t k = 0; k < shown; k++)
		add_row(v, c, (const char(*)[FORMAT_CELL_BYTES])(v->cells + k * c->count), width,
			f->rows[o->first + k].s.session == o->chosen ? VIEW_CHOSEN : VIEW_PLAIN);
}
