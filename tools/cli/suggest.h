/* SPDX-License-Identifier: MIT */
/* suggest.h - suggest the valid word that a mistyped one was probably meant to be */
#ifndef QUOIT_TOOLS_SUGGEST_H
#define QUOIT_TOOLS_SUGGEST_H

#include <stdio.h>

struct suggestion {
	const char *word;    /* the mistyped word; the caller sets it, and zeros the rest */
	const char *nearest; /* the best candidate so far; NULL: none is near */
	unsigned distance;   /* its distance: letters to insert, delete or replace */
};

/* Consider one valid word; it must live as long as the suggestion. */
void suggest_try(struct suggestion *s, const char *candidate);

/* Print "; did you mean '<prefix><nearest>'?", or nothing if no candidate is near. */
void suggest_print(const struct suggestion *s, const char *prefix, FILE *out);

#endif
