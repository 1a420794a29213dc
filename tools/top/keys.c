/* SPDX-License-Identifier: MIT */
/* keys.c - act on the keys of `quoit top`, and on answers to its questions */
#include "keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/control.h"
#include "read/users.h"
#include "screen.h"

/* ---- words ---- */

bool keys_read_interval(const char *word, double *ret)
{
	char *end;
	double seconds = strtod(word, &end);

	if (end == word || *end || !(seconds >= KEYS_INTERVAL_LEAST) ||
	    seconds > KEYS_INTERVAL_MOST)
		return false;
	*ret = seconds;
	return true;
}

bool keys_read_user(const char *word, struct view_options *o)
{
	if (*word && !users_number(word, &o->uid))
		return false;
	o->only_uid = *word;
	return true;
}

/* ---- keys ---- */

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

/* ---- questions ---- */

static void ask(struct keys *k, char question)
{
	k->question = question;
	k->answer[0] = '\0';
}

static void search(struct keys *k, struct view_options *o, const struct follow *f)
{
	uint64_t found = *k->search ? view_search(o, f, k->search) : 0;

	if (found)
		o->chosen = found;
	else if (*k->search)
		snprintf(k->notice, sizeof k->notice, "No line has '%s'", k->search);
}

static void end_session(struct keys *k)
{
	char text[CONTROL_TEXT_BYTES];
	int err = control_end_session(k->socket, k->ends, text);

	if (err)
		snprintf(k->notice, sizeof k->notice, "Session %llu: %.200s",
			 (unsigned long long)k->ends, text);
	else
		snprintf(k->notice, sizeof k->notice, "Session %llu was ended",
			 (unsigned long long)k->ends);
}

static void ask_to_end(struct keys *k, const struct view_options *o, const struct follow *f)
{
	const struct session_row *row = view_row(f, o->chosen);

	if (!row) {
		snprintf(k->notice, sizeof k->notice, "Choose a session first (Up, Down)");
		return;
	}
	k->ends = row->s.session;
	ask(k, 'k');
}

/* False: the answer makes no sense, and the question stays. */
static bool take(struct keys *k, struct view_options *o, const struct follow *f)
{
	switch (k->question) {
	case 'd':
		return keys_read_interval(k->answer, &o->interval) || !*k->answer;
	case 'U':
		return keys_read_user(k->answer, o);
	case '/':
		if (*k->answer)
			snprintf(k->search, sizeof k->search, "%s", k->answer);
		search(k, o, f);
		return true;
	case 'k':
		if (!strcmp(k->answer, "y"))
			end_session(k);
		return true;
	default:
		return true;
	}
}

static void take_answer(struct keys *k, struct view_options *o, const struct follow *f)
{
	if (take(k, o, f))
		k->question = 0;
	else
		k->answer[0] = '\0';
}

static void type(struct keys *k, int key, struct view_options *o, const struct follow *f)
{
	size_t n = strlen(k->answer);

	if (key == SCREEN_ENTER)
		take_answer(k, o, f);
	else if (key == SCREEN_ESCAPE)
		k->question = 0;
	else if (key == SCREEN_BACKSPACE && n)
		k->answer[n - 1] = '\0';
	else if (key >= ' ' && key <= '~' && n + 1 < sizeof k->answer) {
		k->answer[n] = (char)key;
		k->answer[n + 1] = '\0';
	}
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

static bool press_in_table(struct keys *k, int key, struct view_options *o, struct follow *f)
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
		ask(k, 'U');
		break;
	case '/':
		ask(k, '/');
		break;
	case 'n':
		search(k, o, f);
		break;
	case 'k':
		ask_to_end(k, o, f);
		break;
	case 'c':
		o->page = VIEW_CHOOSER;
		break;
	case 'd':
	case 's':
		ask(k, 'd');
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
static bool click(struct keys *k, bool twice, struct view_options *o, struct follow *f,
		  const struct view *v)
{
	struct view_hit hit;
	unsigned x, y;

	screen_mouse(&x, &y);
	hit = view_hit(v, o, f, x, y);
	if (hit.key)
		return press_in_table(k, hit.key == '\r' ? SCREEN_ENTER : hit.key, o, f);
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

bool keys_press(struct keys *k, int key, struct view_options *o, struct follow *f,
		const struct view *v)
{
	if (key != SCREEN_RESIZED)
		k->notice[0] = '\0';
	if (k->question) {
		type(k, key, o, f);
		return true;
	}
	if (o->page == VIEW_SESSIONS)
		return is_mouse(key) ? click(k, key == SCREEN_DOUBLE_CLICK, o, f, v)
				     : press_in_table(k, key, o, f);
	if (key == 'q' || key == 'Q')
		return false;
	if (o->page == VIEW_CHOOSER)
		press_in_chooser(key, o);
	else if (key != SCREEN_RESIZED)
		o->page = VIEW_SESSIONS;
	return true;
}

static void show_question(struct keys *k)
{
	char words[80];

	switch (k->question) {
	case 'd':
		snprintf(words, sizeof words,
			 "Seconds between readings (%g to %g): ", KEYS_INTERVAL_LEAST,
			 KEYS_INTERVAL_MOST);
		break;
	case 'U':
		snprintf(words, sizeof words, "Show sessions of this user (nothing: of all): ");
		break;
	case '/':
		snprintf(words, sizeof words, "Search for: ");
		break;
	default:
		snprintf(words, sizeof words,
			 "End session %llu?  y, or n: ", (unsigned long long)k->ends);
		break;
	}
	snprintf(k->prompt, sizeof k->prompt, "%s%s", words, k->answer);
}

void keys_show_question(struct keys *k, struct view_options *o)
{
	o->prompt = *k->notice ? k->notice : NULL;
	if (!k->question)
		return;
	show_question(k);
	o->prompt = k->prompt;
}
