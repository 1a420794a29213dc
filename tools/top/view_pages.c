/* SPDX-License-Identifier: MIT */
/* view_pages.c - make the pages of help and of the chooser of columns */
#include "view_private.h"

/* ---- help ---- */

void view_help(struct view *v, const struct view_options *o)
{
	static const char *const keys[][2] = {
		{"h ?", "this page; any key leaves it"},
		{"q", "end"},
		{"Up Down PgUp PgDn", "choose a session; so does the mouse"},
		{"Enter", "show the page of the chosen session; of a user: its sessions"},
		{"u", "group by user with sessions below, by user alone, by session"},
		{"U", "show only one user's sessions; nothing: of all users"},
		{"/ n", "search for a text; search for it again"},
		{"k", "end the chosen session"},
		{"c", "choose the columns"},
		{"P M N T", "sort by %CPU, bytes used, PID, time"},
		{"< >", "sort by the column to the left, to the right"},
		{"R", "sort the other way round"},
		{"d s", "set the interval, in seconds"},
		{"1", "show all cores in one line, or one line each"},
		{"Space", "look now"},
	};

	view_end_line(v);
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		view_add(v, VIEW_STRONG, "  %-19s", keys[i][0]);
		view_add(v, VIEW_PLAIN, "%s", keys[i][1]);
		view_end_line(v);
	}
	view_end_line(v);
	view_add(v, VIEW_PLAIN, "  A core's bar: ");
	view_add(v, VIEW_WORK, "||| reactor at work (w)");
	view_add(v, VIEW_PLAIN, "  ");
	view_add(v, VIEW_TILE, "=== tiles: pieces of long jobs (t)");
	view_add(v, VIEW_PLAIN, "  ");
	view_add(v, VIEW_POLL, "... reactor looks for work (p)");
	view_add(v, VIEW_PLAIN, "; blank: the reactor sleeps");
	view_end_line(v);
	view_add(v, VIEW_PLAIN, "  sys: what the system says of the core, other programs included");
	view_end_line(v);
	view_add(v, VIEW_PLAIN, "  Figures are of the last %g s; '-' is not known", o->interval);
	view_end_line(v);
}

/* ---- the chooser ---- */

static bool is_shown(const struct view_options *o, enum column column)
{
	for (unsigned i = 0; i < o->columns.count; i++)
		if (o->columns.list[i].column == column)
			return true;
	return false;
}

void view_chooser(struct view *v, const struct view_options *o, unsigned height)
{
	unsigned first = 0, most = height > v->count + 4 ? height - v->count - 4 : 1;

	if (!height || most > COLUMN_NR)
		most = COLUMN_NR;
	if ((unsigned)o->cursor >= most)
		first = (unsigned)o->cursor - most + 1;
	view_end_line(v);
	view_add(v, VIEW_TITLE, "Columns: Space takes one or leaves it, Enter goes back");
	view_pad(v, VIEW_TITLE, v->width);
	view_end_line(v);
	for (unsigned i = first; i < first + most; i++) {
		enum column column = (enum column)i;
		enum view_style style = column == o->cursor ? VIEW_CHOSEN : VIEW_PLAIN;

		view_add(v, style, " %s %-10s %s", is_shown(o, column) ? "[x]" : "[ ]",
			 columns_title(column), columns_help(column));
		view_end_line(v);
	}
}
