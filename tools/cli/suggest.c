/* SPDX-License-Identifier: MIT */
/* suggest.c - suggest the valid word that a mistyped one was probably meant to be */
#include "suggest.h"

#include <limits.h>

#include <quoit/nearest.h>

void suggest_try(struct suggestion *s, const char *candidate)
{
	unsigned distance = s->nearest ? s->distance : UINT_MAX;

	if (!quoit_nearest_is(s->word, candidate, &distance))
		return;
	s->nearest = candidate;
	s->distance = distance;
}

void suggest_print(const struct suggestion *s, const char *prefix, FILE *out)
{
	if (s->nearest)
		fprintf(out, "; did you mean '%s%s'?", prefix, s->nearest);
}
