/* SPDX-License-Identifier: MIT */
/* keys.c - act on the keys of `quoit top` */
#include "keys.h"

#include <string.h>

#include "screen.h"

/* ---- the order of the table ---- */

static void sort_beside(struct view_options *o, int step)
{
	unsigned i = 0;

	while (i < o->columns.count && o->columns.list[i].column != o->sorted_by)
		i++;
	if (i == o->columns.count) /* the sorting column is not shown */
		i = step > 0 ? (unsigned)-1 : 1;
	i += (unsigned)step;
	if (i < o->columns.count)
		o->sorted_by = o->columns.list[i].column;
}

static void sort_by(struct view_options *o, enum column column, bool ascending)
{
	o->sorted_by = column;
	o->ascending = ascending;
}

/* ---- the chooser of columns ---- */

static void toggle(struct view_options *o)
{
	struct column_choices *c = &o->columns;
	unsigned i = 0;

	while (i < c->count && c->list[i].column != o->cursor)
		i++;
	if (i == c->count) {
		(void)columns_choose(c, columns_key(o->cursor), false, "top");
	} else if (c->count > 1) { /* the last column cannot be removed */
		c->count--;
		memmove(&c->list[i], &c->list[i + 1], (c->count - i) * sizeof c->list[0]);
	}
}

static void move_cursor(struct view_options *o, int step)
{
	int to = (int)o->cursor + step;

	o->cursor = (enum column)(to < 0 ? 0 : to >= COLUMN_NR ? COLUMN_NR - 1 : to);
}

static void press_in_chooser(int key, struct view_options *o)
{
	switch (key) {
	case SCREEN_UP:
	case SCREEN_WHEEL_UP:
		move_cursor(o, -1);
		break;
	case SCREEN_DOWN:
	case SCREEN_WHEEL_DOWN:
		move_cursor(o, 1);
		break;
	case SCREEN_PAGE_UP:
		move_cursor(o, -10);
		break;
	case SCREEN_PAGE_DOWN:
		move_cursor(o, 10);
		break;
	case SCREEN_HOME:
		move_cursor(o, -COLUMN_NR);
		break;
	case SCREEN_END:
		move_cursor(o, COLUMN_NR);
		break;
	case ' ':
		toggle(o);
		break;
	case SCREEN_RESIZED:
	case SCREEN_CLICK:
	case SCREEN_DOUBLE_CLICK:
		break;
	default:
		o->page = VIEW_SESSIONS;
		break;
	}
}

/* ---- the table ---- */

/* Open a session's page; for a user, show only that user's sessions. */
static void enter(struct view_options *o, struct follow *f)
{
	if (o->chosen & FOLLOW_USER) {
		o->only_uid = true;
		o->uid = (uint32_t)o->chosen;
		o->groups = VIEW_UNGROUPED;
		o->chosen = 0;
	} else if (o->chosen) {
		o->page = VIEW_SESSION;
		chosen_forget(&f->chosen);
		follow_choose(f, o->chosen);
	}
}

/* True: the key moves the cursor, and has done so. */
static bool move(int key, struct view_options *o, const struct follow *f)
{
	unsigned width, height;
	long step;

	screen_size(&width, &height);
	switch (key) {
	case SCREEN_UP:
	case SCREEN_WHEEL_UP:
		step = -1;
		break;
	case SCREEN_DOWN:
	case SCREEN_WHEEL_DOWN:
		step = 1;
		break;
	case SCREEN_PAGE_UP:
		step = -(long)height / 2;
		break;
	case SCREEN_PAGE_DOWN:
		step = (long)height / 2;
		break;
	case SCREEN_HOME:
		step = -(long)f->line_count;
		break;
	case SCREEN_END:
		step = (long)f->line_count;
		break;
	default:
		return false;
	}
	o->chosen = view_step(o, f, step);
	return true;
}

static bool press_in_table(struct question *q, int key, struct view_options *o, struct follow *f)
{
	if (move(key, o, f))
		return true;
	switch (key) {
	case 'h':
	case '?':
	case SCREEN_HELP:
		o->page = VIEW_HELP;
		break;
	case SCREEN_ENTER:
		enter(o, f);
		break;
	case SCREEN_ESCAPE:
		o->chosen = 0;
		break;
	case 'P':
		sort_by(o, COLUMN_OF_CPU, false);
		break;
	case 'M':
		sort_by(o, COLUMN_OF_USED, false);
		break;
	case 'N':
		sort_by(o, COLUMN_OF_PID, true);
		break;
	case 'T':
		sort_by(o, COLUMN_OF_TIME, false);
		break;
	case 'R':
		o->ascending = !o->ascending;
		break;
	case '<':
		sort_beside(o, -1);
		break;
	case '>':
		sort_beside(o, 1);
		break;
	case '1':
		o->one_line_of_cores = !o->one_line_of_cores;
		break;
	case 'u':
		o->groups = (enum view_groups)((o->groups + 1) % VIEW_GROUPINGS);
		break;
	case 'U':
		question_ask(q, 'U');
		break;
	case '/':
		question_ask(q, '/');
		break;
	case 'n':
		question_search(q, o, f);
		break;
	case 'k':
		question_ask_to_end(q, o, f);
		break;
	case 'c':
		o->page = VIEW_CHOOSER;
		break;
	case 'd':
	case 's':
		question_ask(q, 'd');
		break;
	case 'q':
	case 'Q':
		return false;
	default:
		break;
	}
	return true;
}

/* Act on a click: on a line, a title or a key of the last line. */
static bool click(struct question *q, bool twice, struct view_options *o, struct follow *f,
		  const struct view *v)
{
	struct view_hit hit;
	unsigned x, y;

	screen_mouse(&x, &y);
	hit = view_hit(v, o, f, x, y);
	if (hit.key)
		return press_in_table(q, hit.key == '\r' ? SCREEN_ENTER : hit.key, o, f);
	if (hit.title && hit.column == o->sorted_by)
		o->ascending = !o->ascending;
	else if (hit.title)
		sort_by(o, hit.column, false);
	if (hit.line)
		o->chosen = hit.line;
	if (hit.line && twice)
		enter(o, f);
	return true;
}

static bool is_mouse(int key)
{
	return key == SCREEN_CLICK || key == SCREEN_DOUBLE_CLICK;
}

bool keys_press(struct question *q, int key, struct view_options *o, struct follow *f,
		const struct view *v)
{
	if (key != SCREEN_RESIZED)
		q->notice[0] = '\0';
	if (q->asked_by) {
		question_type(q, key, o, f);
		return true;
	}
	if (o->page == VIEW_SESSIONS)
		return is_mouse(key) ? click(q, key == SCREEN_DOUBLE_CLICK, o, f, v)
				     : press_in_table(q, key, o, f);
	if (key == 'q' || key == 'Q')
		return false;
	if (o->page == VIEW_CHOOSER)
		press_in_chooser(key, o);
	else if (key != SCREEN_RESIZED)
		o->page = VIEW_SESSIONS;
	return true;
}
