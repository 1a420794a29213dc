/* SPDX-License-Identifier: MIT */
/*
 * view_private.h - what the files behind view.h share: view.c (pages), view_lines.c (lines),
 * view_machine.c (cores, nodes and devices), view_order.c (which sessions), view_table.c (these),
 * view_session.c (one of them), view_pages.c (help, the chooser of columns) and view_footer.c
 * (keys).
 */
#ifndef QUOIT_TOOLS_TOP_VIEW_PRIVATE_H
#define QUOIT_TOOLS_TOP_VIEW_PRIVATE_H

#include "view.h"

/* ---- view_lines.c ---- */

/* Add to the line under way; what does not fit is cut off. */
__attribute__((format(printf, 3, 4))) void view_add(struct view *v, enum view_style style,
						    const char *format, ...);

/* The same character, so often. */
void view_repeat(struct view *v, enum view_style style, char c, unsigned times);

/* A text in a column so wide, on its left or right side. */
void view_add_cell(struct view *v, enum view_style style, const char *text, unsigned width,
		   bool left);

/* Blanks up to this column. */
void view_pad(struct view *v, enum view_style style, unsigned column);

/* The column that the line under way has come to. */
unsigned view_column(const struct view *v);

void view_end_line(struct view *v);

/* The line under way is empty again. */
void view_begin_line(struct view *v);

/* ---- view_machine.c ---- */

/* height: of the whole view; 0: any. */
void view_cores(struct view *v, const struct view_options *o, const struct follow *f,
		const struct machine *m, unsigned height);
void view_nodes(struct view *v, const struct follow *f, const struct machine *m, unsigned height);
void view_devices(struct view *v, const struct follow *f);

/* ---- view_order.c ---- */

/* Put those that are wanted first, sorted: f->shown of them, in f->line_count lines. */
void view_sort(const struct view_options *o, struct follow *f);

/* ---- view_table.c ---- */

/* As many sessions as `lines` holds (0: all), with a title. */
void view_table(struct view *v, struct view_options *o, const struct follow *f, unsigned lines);

/* ---- view_footer.c ---- */

/* A line of keys; which one of them is at this column, 0: none. */
void view_footer(struct view *v);
char view_footer_key(unsigned x);

/* ---- view_pages.c ---- */

void view_help(struct view *v, const struct view_options *o);

/* All columns, those that are shown marked, around the cursor. */
void view_chooser(struct view *v, const struct view_options *o, unsigned height);

/* ---- view_session.c ---- */

/* height: of the whole view; 0: any. */
void view_session(struct view *v, const struct session_row *row, const struct chosen *c,
		  unsigned height);

#endif
