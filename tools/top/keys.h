/* SPDX-License-Identifier: MIT */
/* keys.h - what a key does in `quoit top`, and the answers to what it asks then */
#ifndef QUOIT_TOOLS_TOP_KEYS_H
#define QUOIT_TOOLS_TOP_KEYS_H

#include <stdbool.h>

#include "view.h"

#define KEYS_INTERVAL_LEAST 0.1
#define KEYS_INTERVAL_MOST  3600.0

/* All zero but the first. */
struct keys {
	const char *socket; /* of quoitd, to end sessions */
	char question;      /* what is being typed answers: 'd', 'U', '/' or 'k'; 0: nothing */
	uint64_t ends;      /* the session that 'k' asks about */
	char answer[64], prompt[192];
	char search[64];  /* the text that was searched for last */
	char notice[256]; /* what the last key has come to, until the next one */
};

/* A key of screen.h.  v: what is on the screen.  False: the end was asked for. */
bool keys_press(struct keys *k, int key, struct view_options *o, struct follow *f,
		const struct view *v);

/* The question, with what is typed so far, or the notice, as the prompt. */
void keys_show_question(struct keys *k, struct view_options *o);

/*
 * What an answer says, or an option: seconds; a user's name or number, nothing: everybody.  False:
 * it is none.
 */
bool keys_read_interval(const char *word, double *ret);
bool keys_read_user(const char *word, struct view_options *o);

#endif
