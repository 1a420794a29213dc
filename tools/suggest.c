/* SPDX-License-Identifier: MIT */
/* suggest.c - the valid word that a mistyped one was probably meant to be */
#include "suggest.h"

#include <string.h>

#define LONGEST 32

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Levenshtein's distance, one row at a time; both words are shorter than LONGEST. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[LONGEST], n = (unsigned)strlen(b);

	for (unsigned j = 0; j <= n; j++)
		row[j] = j;
	for (unsigned i = 1; a[i - 1]; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= n; j++) {
			unsigned replaced = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = least(replaced, least(row[j], row[j - 1]) + 1);
		}
	}
	return row[n];
}

void suggest_try(struct suggestion *s, const char *candidate)
{
	unsigned d;

	if (strlen(s->word) >= LONGEST || strlen(candidate) >= LONGEST)
		return;
	d = distance(s->word, candidate);
	if (d > 2 || d >= strlen(candidate) || (s->nearest && d >= s->distance))
		return;
	s->nearest = candidate;
	s->distance = d;
}

void suggest_print(const struct suggestion *s, const char *prefix, FILE *out)
{
	if (s->nearest)
		fprintf(out, "; did you mean '%s%s'?", prefix, s->nearest);
}
