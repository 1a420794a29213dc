/* SPDX-License-Identifier: MIT */
/*
 * view_private.h - functions that the files behind view.h share.
 *
 *	view.c          the pages
 *	view_lines.c    lines
 *	view_machine.c  cores, nodes and devices
 *	view_order.c    which sessions are shown, and in which order
 *	view_table.c    their table
 *	view_session.c  the page of one session
 *	view_pages.c    help, and the chooser of columns
 *	view_footer.c   the line of keys
 */
#ifndef QUOIT_TOOLS_TOP_VIEW_PRIVATE_H
#define QUOIT_TOOLS_TOP_VIEW_PRIVATE_H

#include "view.h"

/* ---- view_lines.c ---- */

/* Add to the unfinished line; text beyond the width is cut off. */
__attribute__((format(printf, 3, 4))) void view_add(struct view *v, enum view_style style,
						    const char *format, ...);

/* Add the same character this many times. */
void view_repeat(struct view *v, enum view_style style, char c, unsigned times);

/* Add a text in a column of this width, on its left or right side. */
void view_add_cell(struct view *v, enum view_style style, const char *text, unsigned width,
		   bool left);

/* Blanks up to this column. */
void view_pad(struct view *v, enum view_style style, unsigned column);

/* The present column of the unfinished line. */
unsigned view_column(const struct view *v);

void view_end_line(struct view *v);

/* Empty the unfinished line. */
void view_begin_line(struct view *v);

/* ---- view_machine.c ---- */

/* height: of the whole view; 0: no limit. */
void view_cores(struct view *v, const struct view_options *o, const struct follow *f,
		const struct machine *m, unsigned height);
void view_nodes(struct view *v, const struct follow *f, const struct machine *m, unsigned height);
void view_devices(struct view *v, const struct follow *f);

/* ---- view_order.c ---- */

/* Put the wanted sessions first, sorted: f->shown of them, in f->line_count lines. */
void view_sort(const struct view_options *o, struct follow *f);

/* ---- view_table.c ---- */

/* Show a title and as many sessions as fit into `lines` (0: all). */
void view_table(struct view *v, struct view_options *o, const struct follow *f, unsigned lines);

/* ---- view_footer.c ---- */

/* view_footer adds a line of keys.  view_footer_key: the key at this column; 0: none. */
void view_footer(struct view *v);
char view_footer_key(unsigned x);

/* ---- view_pages.c ---- */

void view_help(struct view *v, const struct view_options *o);

/* Show all columns around the cursor, and mark those that the table shows. */
void view_chooser(struct view *v, const struct view_options *o, unsigned height);

/* ---- view_session.c ---- */

/* height: of the whole view; 0: no limit. */
void view_session(struct view *v, const struct session_row *row, const struct chosen *c,
		  unsigned height);

#endif
