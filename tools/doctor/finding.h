/* SPDX-License-Identifier: MIT */
/*
 * finding.h - a finding of quoit doctor: how bad it is, what was found, why it matters, what mends
 * it
 */
#ifndef QUOIT_TOOLS_DOCTOR_FINDING_H
#define QUOIT_TOOLS_DOCTOR_FINDING_H

#include <stdbool.h>
#include <stddef.h>

#define FINDING_BYTES 6144 /* a path of any length, and words around it */

enum level {
	LEVEL_OK,
	LEVEL_NOTE,    /* information */
	LEVEL_WARNING, /* Quoit loses some speed, or may lose it */
	LEVEL_FAILURE, /* Quoit does not work, or is much slower than it should be */
	LEVEL_NR,
};

/* Texts may contain words of other programs, so they are escaped when they are printed. */
struct finding {
	const char *check; /* the check's name */
	enum level level;
	char what[FINDING_BYTES];
	const char *why; /* NULL: nothing needs to be explained */
	/* A command, or a sentence behind a "#"; empty: nothing needs to be mended. */
	char mend[FINDING_BYTES];

	/* The value that was read or measured, for scripts: a number, a word, or none. */
	bool is_number;
	double number;
	char word[FINDING_BYTES];
};

struct findings {
	struct finding *list;
	size_t count, room;
	bool failed; /* out of memory: some findings are missing */
	struct finding spare;
};

const char *level_word(enum level level);

/*
 * Add an empty finding of that check at the end of the list, for the caller to fill in; never NULL.
 */
struct finding *findings_add(struct findings *f, const char *check);
void findings_free(struct findings *f);

/* How many findings have this level. */
size_t findings_count(const struct findings *f, enum level level);

__attribute__((format(printf, 3, 4))) void finding_say(struct finding *f, enum level level,
						       const char *format, ...);

/*
 * Say why it matters, and give the command that mends it.  A command that is too long is left out
 * as a whole.
 */
__attribute__((format(printf, 3, 4))) void finding_mend(struct finding *f, const char *why,
							const char *format, ...);

void finding_number(struct finding *f, double number);
void finding_word(struct finding *f, const char *word);

/*
 * May this word stand in a command that people copy into a shell?  Only letters, digits and _./@:-
 * may: names that others chose, such as a cgroup's, can contain anything.
 */
bool finding_is_plain(const char *word);

#endif
