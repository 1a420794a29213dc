/* SPDX-License-Identifier: MIT */
/* question.c - ask what a key of `quoit top` needs to know, and act on the answer */
#include "question.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/control.h"
#include "read/users.h"
#include "screen.h"

/* ---- words ---- */

bool question_read_interval(const char *word, double *ret)
{
	char *end;
	double seconds = strtod(word, &end);

	if (end == word || *end || !(seconds >= QUESTION_INTERVAL_LEAST) ||
	    seconds > QUESTION_INTERVAL_MOST)
		return false;
	*ret = seconds;
	return true;
}

bool question_read_user(const char *word, struct view_options *o)
{
	if (*word && !users_number(word, &o->uid))
		return false;
	o->only_uid = *word;
	return true;
}

/* ---- asking ---- */

void question_ask(struct question *q, char key)
{
	q->asked_by = key;
	q->answer[0] = '\0';
}

void question_search(struct question *q, struct view_options *o, const struct follow *f)
{
	uint64_t found = *q->search ? view_search(o, f, q->search) : 0;

	if (found)
		o->chosen = found;
	else if (*q->search)
		snprintf(q->notice, sizeof q->notice, "No line has '%s'", q->search);
}

static void end_session(struct question *q)
{
	char text[CONTROL_TEXT_BYTES];
	int err = control_end_session(q->socket, q->ends, text);

	if (err)
		snprintf(q->notice, sizeof q->notice, "Session %llu: %.200s",
			 (unsigned long long)q->ends, text);
	else
		snprintf(q->notice, sizeof q->notice, "Session %llu was ended",
			 (unsigned long long)q->ends);
}

void question_ask_to_end(struct question *q, const struct view_options *o, const struct follow *f)
{
	const struct session_row *row = view_row(f, o->chosen);

	if (!row) {
		snprintf(q->notice, sizeof q->notice, "Choose a session first (Up, Down)");
		return;
	}
	q->ends = row->s.session;
	question_ask(q, 'k');
}

/* False: the answer makes no sense, and the question stays. */
static bool take(struct question *q, struct view_options *o, const struct follow *f)
{
	switch (q->asked_by) {
	case 'd':
		return question_read_interval(q->answer, &o->interval) || !*q->answer;
	case 'U':
		return question_read_user(q->answer, o);
	case '/':
		if (*q->answer)
			snprintf(q->search, sizeof q->search, "%s", q->answer);
		question_search(q, o, f);
		return true;
	case 'k':
		if (!strcmp(q->answer, "y"))
			end_session(q);
		return true;
	default:
		return true;
	}
}

static void take_answer(struct question *q, struct view_options *o, const struct follow *f)
{
	if (take(q, o, f))
		q->asked_by = 0;
	else
		q->answer[0] = '\0';
}

void question_type(struct question *q, int key, struct view_options *o, const struct follow *f)
{
	size_t n = strlen(q->answer);

	if (key == SCREEN_ENTER)
		take_answer(q, o, f);
	else if (key == SCREEN_ESCAPE)
		q->asked_by = 0;
	else if (key == SCREEN_BACKSPACE && n)
		q->answer[n - 1] = '\0';
	else if (key >= ' ' && key <= '~' && n + 1 < sizeof q->answer) {
		q->answer[n] = (char)key;
		q->answer[n + 1] = '\0';
	}
}

/* ---- showing ---- */

static void write_prompt(struct question *q)
{
	char words[80];

	switch (q->asked_by) {
	case 'd':
		snprintf(words, sizeof words,
			 "Seconds between readings (%g to %g): ", QUESTION_INTERVAL_LEAST,
			 QUESTION_INTERVAL_MOST);
		break;
	case 'U':
		snprintf(words, sizeof words, "Show sessions of this user (nothing: of all): ");
		break;
	case '/':
		snprintf(words, sizeof words, "Search for: ");
		break;
	default:
		snprintf(words, sizeof words,
			 "End session %llu?  y, or n: ", (unsigned long long)q->ends);
		break;
	}
	snprintf(q->prompt, sizeof q->prompt, "%s%s", words, q->answer);
}

void question_show(struct question *q, struct view_options *o)
{
	o->prompt = *q->notice ? q->notice : NULL;
	if (!q->asked_by)
		return;
	write_prompt(q);
	o->prompt = q->prompt;
}
