/* SPDX-License-Identifier: MIT */
/* keys.h - act on the keys of `quoit top`, and on answers to its questions */
#ifndef QUOIT_TOOLS_TOP_KEYS_H
#define QUOIT_TOOLS_TOP_KEYS_H

#include <stdbool.h>

#include "view.h"

#define KEYS_INTERVAL_LEAST 0.1
#define KEYS_INTERVAL_MOST  3600.0

/* Initialise the first one, and the rest with zeros. */
struct keys {
	const char *socket; /* quoitd's; to end sessions */
	char question; /* the key that asked the open question: 'd', 'U', '/' or 'k'; 0: none */
	uint64_t ends; /* the session that 'k' asks about */
	char answer[64], prompt[192];
	char search[64];  /* the last text that was searched for */
	char notice[256]; /* the result of the last key, shown until the next one */
};

/* Act on a key of screen.h.  v: the view on the screen.  False: the user wants to quit. */
bool keys_press(struct keys *k, int key, struct view_options *o, struct follow *f,
		const struct view *v);

/* Show as the prompt the question and its answer so far, or the notice. */
void keys_show_question(struct keys *k, struct view_options *o);

/*
 * Parse an answer or an option: seconds; a user's name or number, where "" means all users.  False:
 * it is invalid.
 */
bool keys_read_interval(const char *word, double *ret);
bool keys_read_user(const char *word, struct view_options *o);

#endif
