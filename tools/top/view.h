/* SPDX-License-Identifier: MIT */
/*
 * view.h - make the pages of `quoit top` as lines of text, each character with a style; independent
 * of terminals: a screen draws the lines, and --batch prints them
 */
#ifndef QUOIT_TOOLS_TOP_VIEW_H
#define QUOIT_TOOLS_TOP_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "follow.h"
#include "machine.h"
#include "read/columns.h"

enum view_style {
	VIEW_PLAIN,
	VIEW_STRONG,
	VIEW_FAINT,
	VIEW_TITLE,  /* the table's title */
	VIEW_CHOSEN, /* the session under the cursor */
	VIEW_WORK,   /* of a bar: reactors at work */
	VIEW_TILE,   /* of a bar: tiles */
	VIEW_POLL,   /* of a bar: reactors that look for work */
	VIEW_ALARM,
	VIEW_STYLES
};

enum view_page { VIEW_SESSIONS, VIEW_SESSION, VIEW_HELP, VIEW_CHOOSER };

/* Only sessions; each user with sessions below; only users. */
enum view_groups { VIEW_UNGROUPED, VIEW_TREE, VIEW_USERS, VIEW_GROUPINGS };

struct view_options {
	struct column_choices columns;
	enum column sorted_by;
	bool ascending;
	bool one_line_of_cores;
	enum view_page page;
	enum view_groups groups;
	uint64_t chosen;    /* a line's id: a session's number, or FOLLOW_USER and a uid; 0: none */
	size_t first;       /* the first line of the table that is shown */
	enum column cursor; /* in the chooser of columns */
	bool only_uid;
	uint32_t uid;
	double interval;    /* seconds */
	const char *prompt; /* replaces the title line; NULL: none */
	bool footer;        /* the last line shows keys, if there is room */
};

#define VIEW_COLUMNS_MOST 512

struct view_line {
	char text[VIEW_COLUMNS_MOST + 1];
	uint8_t style[VIEW_COLUMNS_MOST];
	unsigned length;
};

struct view {
	struct view_line *lines;
	unsigned count;
	size_t room;
	unsigned width;
	bool failed; /* out of memory: something is missing */

	char (*cells)[FORMAT_CELL_BYTES]; /* texts of the lines that are shown */
	size_t cell_room;

	/* Places for the mouse; UINT_MAX: not on the screen. */
	unsigned title_at, footer_at;
	size_t lines_shown; /* below the title, beginning with view_options.first */
	unsigned column_end[2 * COLUMN_NR];
};

/* What lies at a place of the view. */
struct view_hit {
	uint64_t line; /* the line's id; 0: none */
	bool title;    /* this column's title: */
	enum column column;
	char key; /* a key of the footer; 0: none */
};

struct view_hit view_hit(const struct view *v, const struct view_options *o, const struct follow *f,
			 unsigned x, unsigned y);

/*
 * The next line below the chosen one, continuing at the top, in which a cell contains this text,
 * ignoring case; 0: there is none.
 */
uint64_t view_search(const struct view_options *o, const struct follow *f, const char *text);

/* The session with this number; NULL: it is not shown. */
const struct session_row *view_row(const struct follow *f, uint64_t session);

/*
 * Make the lines; height 0: as many as there are.  Sorts f's rows.  Changes the options so that the
 * chosen line stays visible.
 */
void view_fill(struct view *v, struct view_options *o, struct follow *f, const struct machine *m,
	       unsigned width, unsigned height);

void view_free(struct view *v);

/* The line n below the chosen one (negative: above), in sorted order; 0: there is none. */
uint64_t view_step(const struct view_options *o, const struct follow *f, long n);

#endif
