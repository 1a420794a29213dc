/* SPDX-License-Identifier: MIT */
/* nearest.h - which valid word a mistyped one was probably meant to be; for quoitd and the tools */
#ifndef QUOIT_NEAREST_H
#define QUOIT_NEAREST_H

#include <stdbool.h>
#include <string.h>

#define QUOIT_NEAREST_LONGEST 32 /* longer words are never near */

/*
 * The Levenshtein distance, one row at a time; both words are shorter than QUOIT_NEAREST_LONGEST.
 */
static inline unsigned quoit_nearest_distance(const char *a, const char *b)
{
	unsigned row[QUOIT_NEAREST_LONGEST], n = (unsigned)strlen(b);

	for (unsigned j = 0; j <= n; j++)
		row[j] = j;
	for (unsigned i = 1; a[i - 1]; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= n; j++) {
			unsigned replaced = diagonal + (a[i - 1] != b[j - 1]);
			unsigned moved = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

			diagonal = row[j];
			row[j] = replaced < moved ? replaced : moved;
		}
	}
	return row[n];
}

/*
 * Is the candidate near to the word, and nearer than *distance letters to insert, delete or
 * replace? If so, its own distance goes into *distance.  Begin with UINT_MAX.
 */
static inline bool quoit_nearest_is(const char *word, const char *candidate, unsigned *distance)
{
	unsigned d;

	if (strlen(word) >= QUOIT_NEAREST_LONGEST || strlen(candidate) >= QUOIT_NEAREST_LONGEST)
		return false;
	d = quoit_nearest_distance(word, candidate);
	if (d > 2 || d >= strlen(candidate) || d >= *distance)
		return false;
	*distance = d;
	return true;
}

#endif
