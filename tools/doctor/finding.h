/* SPDX-License-Identifier: MIT */
/* finding.h - what quoit doctor found: how bad it is, what, why it matters, what mends it */
#ifndef QUOIT_TOOLS_DOCTOR_FINDING_H
#define QUOIT_TOOLS_DOCTOR_FINDING_H

#include <stdbool.h>
#include <stddef.h>

#define FINDING_BYTES 6144 /* a path of any length, and words around it */

enum level {
	LEVEL_OK,
	LEVEL_NOTE,    /* information */
	LEVEL_WARNING, /* it costs some speed, or makes it uncertain */
	LEVEL_FAILURE, /* Quoit does not work, or is much slower than it should be */
	LEVEL_NR,
};

/* Texts may have words of others in them: they are escaped when they are printed. */
struct finding {
	const char *check; /* the check's name */
	enum level level;
	char what[FINDING_BYTES];
	const char *why; /* NULL: there is nothing to explain */
	/* A command, or a sentence behind a "#"; empty: there is nothing to mend. */
	char mend[FINDING_BYTES];

	/* What was read or measured, for scripts: a number, a word, or neither. */
	bool is_number;
	double number;
	char word[FINDING_BYTES];
};

struct findings {
	struct finding *list;
	size_t count, room;
	bool failed; /* out of memory: some are missing */
	struct finding spare;
};

const char *level_word(enum level level);

/* An empty finding of that check at the end of the list, to be filled in; never NULL. */
struct finding *findings_add(struct findings *f, const char *check);
void findings_free(struct findings *f);

/* How many are of a level. */
size_t findings_count(const struct findings *f, enum level level);

__attribute__((format(printf, 3, 4))) void finding_say(struct finding *f, enum level level,
						       const char *format, ...);

/* Why it matters, and the command that mends it.  One that is too long is not given in part. */
__attribute__((format(printf, 3, 4))) void finding_mend(struct finding *f, const char *why,
							const char *format, ...);

void finding_number(struct finding *f, double number);
void finding_word(struct finding *f, const char *word);

/*
 * May this stand in a command that somebody copies into a shell?  Letters, digits and _./@:-
 * only: what others have named, a cgroup for one, may hold anything.
 */
bool finding_is_plain(const char *word);

#endif
