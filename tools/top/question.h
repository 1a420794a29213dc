/* SPDX-License-Identifier: MIT */
/*
 * question.h - questions that keys of `quoit top` ask; the answer is typed in place of the table's
 * title.
 */
#ifndef QUOIT_TOOLS_TOP_QUESTION_H
#define QUOIT_TOOLS_TOP_QUESTION_H

#include <stdbool.h>

#include "view.h"

#define QUESTION_INTERVAL_LEAST 0.1
#define QUESTION_INTERVAL_MOST  3600.0

/* Initialise the first one, and the rest with zeros. */
struct question {
	const char *socket; /* quoitd's; to end sessions */
	char asked_by; /* the key that asked the open question: 'd', 'U', '/' or 'k'; 0: none */
	uint64_t ends; /* the session that 'k' asks about */
	char answer[64], prompt[192];
	char search[64];  /* the last text that was searched for */
	char notice[256]; /* the result of the last key, shown until the next one */
};

/* Ask the question of this key: 'd', 'U' or '/'. */
void question_ask(struct question *q, char key);

/* Ask whether to end the chosen session, or say that none is chosen. */
void question_ask_to_end(struct question *q, const struct view_options *o, const struct follow *f);

/* Take a key of screen.h as part of the open question's answer, and act on a whole answer. */
void question_type(struct question *q, int key, struct view_options *o, const struct follow *f);

/* Choose the next line that has the last text searched for, or say that there is none. */
void question_search(struct question *q, struct view_options *o, const struct follow *f);

/* Show as the prompt the question and its answer so far, or the notice. */
void question_show(struct question *q, struct view_options *o);

/*
 * Parse an answer or an option: seconds; a user's name or number, where "" means all users.  False:
 * it is invalid.
 */
bool question_read_interval(const char *word, double *ret);
bool question_read_user(const char *word, struct view_options *o);

#endif
