/* SPDX-License-Identifier: MIT */
/* keys.c - what a key does in `quoit top`, and the answers to what it asks then */
#include "keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen.h"
#include "users.h"

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
	if (i == o->columns.count) /* by a column that is not shown */
		i = step > 0 ? (unsigned)-1 : 1;
	i += (unsigned)step;
	if (i < o->columns.count)
		o->sorted_by = o->columns.list[i].column;
}

static void ask(struct keys *k, char question)
{
	k->question = question;
	k->answer[0] = '\0';
}

static void take_answer(struct keys *k, struct view_options *o)
{
	bool good = k->question == 'd' ? keys_read_interval(k->answer, &o->interval)
				       : keys_read_user(k->answer, o);

	if (!good && *k->answer) {
		k->answer[0] = '\0'; /* once more */
		return;
	}
	k->question = 0;
}

static void type(struct keys *k, int key, struct view_options *o)
{
	size_t n = strlen(k->answer);

	if (key == SCREEN_ENTER)
		take_answer(k, o);
	else if (key == SCREEN_ESCAPE)
		k->question = 0;
	else if (key == SCREEN_BACKSPACE && n)
		k->answer[n - 1] = '\0';
	else if (key > ' ' && key <= '~' && n + 1 < sizeof k->answer) {
		k->answer[n] = (char)key;
		k->answer[n + 1] = '\0';
	}
}

static void sort_by(struct view_options *o, enum column column, bool ascending)
{
	o->sorted_by = column;
	o->ascending = ascending;
}

bool keys_press(struct keys *k, int key, struct view_options *o, struct follow *f)
{
	unsigned width, height;

	if (k->question) {
		type(k, key, o);
		return true;
	}
	if (key == 'q' || key == 'Q')
		return false;
	if (o->page != VIEW_SESSIONS) {
		if (key != SCREEN_RESIZED)
			o->page = VIEW_SESSIONS;
		return true;
	}
	screen_size(&width, &height);
	switch (key) {
	case 'h':
	case '?':
	case SCREEN_HELP:
		o->page = VIEW_HELP;
		break;
	case SCREEN_ENTER:
		if (o->chosen) {
			o->page = VIEW_SESSION;
			chosen_forget(&f->chosen);
			follow_choose(f, o->chosen);
		}
		break;
	case SCREEN_ESCAPE:
		o->chosen = 0;
		break;
	case SCREEN_UP:
		o->chosen = view_step(o, f, -1);
		break;
	case SCREEN_DOWN:
		o->chosen = view_step(o, f, 1);
		break;
	case SCREEN_PAGE_UP:
		o->chosen = view_step(o, f, -(long)height / 2);
		break;
	case SCREEN_PAGE_DOWN:
		o->chosen = view_step(o, f, (long)height / 2);
		break;
	case SCREEN_HOME:
		o->chosen = view_step(o, f, -(long)f->row_count);
		break;
	case SCREEN_END:
		o->chosen = view_step(o, f, (long)f->row_count);
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
		ask(k, 'u');
		break;
	case 'd':
	case 's':
		ask(k, 'd');
		break;
	default:
		break;
	}
	return true;
}

void keys_show_question(struct keys *k, struct view_options *o)
{
	if (k->question)
		snprintf(k->prompt, sizeof k->prompt, "%s%s",
			 k->question == 'd' ? "Seconds between readings: "
					    : "Only this user's sessions (nothing: everybody's): ",
			 k->answer);
	o->prompt = k->question ? k->prompt : NULL;
}
