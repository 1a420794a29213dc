/* SPDX-License-Identifier: MIT */
/* view_table.c - show as many sessions and users as fit */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view_private.h"

/* ---- the chosen line ---- */

static size_t index_of(const struct follow *f, uint64_t id)
{
	size_t i = 0;

	while (i < f->line_count && f->lines[i].id != id)
		i++;
	return i;
}

uint64_t view_step(const struct view_options *o, const struct follow *f, long n)
{
	long line = (long)index_of(f, o->chosen), last = (long)f->line_count - 1;

	if (last < 0)
		return 0;
	if (line > last) /* no line was chosen, or it has gone */
		line = n > 0 ? -1 : last + 1;
	line += n;
	line = line < 0 ? 0 : line > last ? last : line;
	return f->lines[line].id;
}

/* The first line to show, so that the chosen one is among `most`. */
static size_t first_line(const struct view_options *o, const struct follow *f, size_t most)
{
	size_t chosen = index_of(f, o->chosen), first = o->first;

	if (chosen < f->line_count) {
		if (chosen < first)
			first = chosen;
		else if (chosen >= first + most)
			first = chosen + 1 - most;
	}
	if (first + most > f->line_count)
		first = f->line_count > most ? f->line_count - most : 0;
	return first;
}

/* ---- cells ---- */

static bool is_left(const struct column_choice *c)
{
	return columns_kind(c->column) == COLUMN_TEXT;
}

/* The first column of text contains the branches of the tree. */
static unsigned tree_column(const struct column_choices *c)
{
	unsigned i = 0;

	while (i < c->count && !is_left(&c->list[i]))
		i++;
	return i;
}

static void make_cell(const struct view_options *o, const struct follow *f,
		      const struct table_line *line, unsigned i, char ret[FORMAT_CELL_BYTES])
{
	const struct column_choice *c = &o->columns.list[i];
	const struct session_row *row = &f->rows[line->first];
	const char *branch = "";
	char text[FORMAT_CELL_BYTES];
	struct figure figure;

	if (line->id & FOLLOW_USER)
		columns_sum(row, line->count, c->column, &figure);
	else
		columns_figure(row, c->column, &figure);
	columns_figure_text(&figure, c->column, row->now_ns, text, sizeof text);
	if (o->groups == VIEW_TREE && !(line->id & FOLLOW_USER) && i == tree_column(&o->columns))
		branch = line->last ? " `- " : " |- ";
	snprintf(ret, FORMAT_CELL_BYTES, "%s%.*s", branch,
		 (int)(FORMAT_CELL_BYTES - 1 - strlen(branch)), text);
}

/* Make the texts of these lines, and find each column's greatest width; returns how many lines. */
static size_t make_cells(struct view *v, const struct view_options *o, const struct follow *f,
			 size_t first, size_t count, unsigned *width)
{
	const struct column_choices *c = &o->columns;

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

			make_cell(o, f, &f->lines[first + k], i, text);
			if (strlen(text) > width[i])
				width[i] = (unsigned)strlen(text);
		}
	return count;
}

/* ---- lines ---- */

static void add_title(struct view *v, const struct view_options *o, const unsigned *width)
{
	const struct column_choices *c = &o->columns;

	v->title_at = v->count;
	for (unsigned i = 0; i < c->count; i++) {
		bool sorted = c->list[i].column == o->sorted_by;

		view_add_cell(v, sorted ? VIEW_CHOSEN : VIEW_TITLE, c->list[i].title, width[i],
			      is_left(&c->list[i]));
		view_repeat(v, VIEW_TITLE, ' ', 1);
		v->column_end[i] = view_column(v);
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

static enum view_style style_of(const struct view_options *o, const struct table_line *line)
{
	if (line->id == o->chosen)
		return VIEW_CHOSEN;
	return line->id & FOLLOW_USER ? VIEW_STRONG : VIEW_PLAIN;
}

void view_table(struct view *v, struct view_options *o, const struct follow *f, unsigned lines)
{
	const struct column_choices *c = &o->columns;
	unsigned width[sizeof c->list / sizeof c->list[0]] = {0};
	size_t most = lines > 1 ? lines - 1 : lines ? 1 : f->line_count, shown;

	o->first = first_line(o, f, most);
	shown = f->line_count - o->first < most ? f->line_count - o->first : most;
	shown = make_cells(v, o, f, o->first, shown, width);
	if (o->prompt) {
		view_add(v, VIEW_ALARM, "%s", o->prompt);
		view_end_line(v);
	} else {
		add_title(v, o, width);
	}
	v->lines_shown = v->title_at == UINT_MAX ? 0 : shown;
	for (size_t k = 0; k < shown; k++)
		add_row(v, c, (const char(*)[FORMAT_CELL_BYTES])(v->cells + k * c->count), width,
			style_of(o, &f->lines[o->first + k]));
}

/* ---- a mouse ---- */

struct view_hit view_hit(const struct view *v, const struct view_options *o, const struct follow *f,
			 unsigned x, unsigned y)
{
	struct view_hit hit = {0};
	size_t line = o->first + (y - v->title_at - 1);

	if (y == v->footer_at)
		hit.key = view_footer_key(x);
	else if (y == v->title_at)
		for (unsigned i = o->columns.count; i-- && x < v->column_end[i];) {
			hit.title = true;
			hit.column = o->columns.list[i].column;
		}
	else if (v->title_at < y && y - v->title_at <= v->lines_shown && line < f->line_count)
		hit.line = f->lines[line].id;
	return hit;
}

/* ---- search ---- */

uint64_t view_search(const struct view_options *o, const struct follow *f, const char *text)
{
	size_t from = index_of(f, o->chosen);
	char cell[FORMAT_CELL_BYTES];

	if (from == f->line_count)
		from = f->line_count ? f->line_count - 1 : 0;
	for (size_t k = 1; k <= f->line_count; k++) {
		const struct table_line *line = &f->lines[(from + k) % f->line_count];

		for (unsigned i = 0; i < o->columns.count; i++) {
			make_cell(o, f, line, i, cell);
			if (strcasestr(cell, text))
				return line->id;
		}
	}
	return 0;
}

const struct session_row *view_row(const struct follow *f, uint64_t session)
{
	for (size_t i = 0; i < f->row_count; i++)
		if (f->rows[i].s.session == session)
			return &f->rows[i];
	return NULL;
}
