/* SPDX-License-Identifier: MIT */
/*
 * view.h - what `quoit top` shows, as lines of text, each character with a style.  It knows of no
 * terminal: a screen draws the lines, and --batch prints them.
 */
#ifndef QUOIT_TOOLS_TOP_VIEW_H
#define QUOIT_TOOLS_TOP_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "columns.h"
#include "follow.h"
#include "machine.h"

enum view_style {
	VIEW_PLAIN,
	VIEW_STRONG,
	VIEW_FAINT,
	VIEW_TITLE,  /* of the table */
	VIEW_CHOSEN, /* the session under the cursor */
	VIEW_WORK,   /* of a bar: reactors at work, */
	VIEW_TILE,   /* tiles, */
	VIEW_POLL,   /* and reactors that look for work */
	VIEW_ALARM,
	VIEW_STYLES
};

enum view_page { VIEW_SESSIONS, VIEW_SESSION, VIEW_HELP, VIEW_CHOOSER };

/* Sessions alone; each user with sessions below; users alone. */
enum view_groups { VIEW_UNGROUPED, VIEW_TREE, VIEW_USERS, VIEW_GROUPINGS };

struct view_options {
	struct column_choices columns;
	enum column sorted_by;
	bool ascending;
	bool one_line_of_cores;
	enum view_page page;
	enum view_groups groups;
	uint64_t chosen; /* a line's id: a session's number, or FOLLOW_USER and a user's; 0: none */
	size_t first;    /* line of the table that is shown first */
	enum column cursor; /* of the chooser of columns */
	bool only_uid;
	uint32_t uid;
	double interval;    /* seconds */
	const char *prompt; /* in the place of the title line; NULL: none */
	bool footer;        /* the last line has keys, where there is room */
};

#define VIEW_COLUMNS_MOST 512

struct view_line {
	char text[VIEW_COLUMNS_MOST + 1];
	uint8_t style[VIEW_COLUMNS_MOST];
	unsigned length;
};

struct view {
	struct view_line *lines;
	unsigned count, room;
	unsigned width;
	bool failed; /* out of memory: something is missing */

	char (*cells)[FORMAT_CELL_BYTES]; /* of the lines that are shown */
	size_t cell_room;

	/* Where things are, for a mouse; UINT_MAX: nowhere. */
	unsigned title_at, footer_at;
	size_t lines_shown; /* below the title, from view_options' first */
	unsigned column_end[2 * COLUMN_NR];
};

/* What is at a place of the view. */
struct view_hit {
	uint64_t line; /* its id; 0: none */
	bool title;    /* of this column: */
	enum column column;
	char key; /* of the footer; 0: none */
};

struct view_hit view_hit(const struct view *v, const struct view_options *o, const struct follow *f,
			 unsigned x, unsigned y);

/*
 * The next line below the chosen one, and from the top again, in which a cell has this text, in
 * whatever case; 0: there is none.
 */
uint64_t view_search(const struct view_options *o, const struct follow *f, const char *text);

/* The session of this number; NULL: it is not shown. */
const struct session_row *view_row(const struct follow *f, uint64_t session);

/*
 * Fill in the lines; height 0: as many as it takes.  Sorts f's rows, and keeps what is chosen and
 * what is first in the options where it can be seen.
 */
void view_fill(struct view *v, struct view_options *o, struct follow *f, const struct machine *m,
	       unsigned width, unsigned height);

void view_free(struct view *v);

/* The line n below the chosen one (above: negative), as sorted; 0: there is none. */
uint64_t view_step(const struct view_options *o, const struct follow *f, long n);

#endif
