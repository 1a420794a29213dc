/* SPDX-License-Identifier: MIT */
/*
 * option.h - one option: its type, range and help, as a row of a table.
 *
 * The tables are in config.c, for quoitd as a whole, and in user_rules.c, for a user.
 */
#ifndef QUOITD_OPTION_H
#define QUOITD_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum option_type {
	OPTION_TEXT,   /* char[size] */
	OPTION_LEVEL,  /* char[size], a level of the log */
	OPTION_NUMBER, /* uint64_t */
	OPTION_FD,     /* uint64_t; none: UINT64_MAX */
	OPTION_BYTES,  /* uint64_t, with units */
	OPTION_FLAG,   /* bool */
	OPTION_GROUP,  /* struct option_group */
	OPTION_LIST,   /* texts that add up; its table handles it */
};

#define OPTION_NAME_BYTES 64

struct option_group {
	char name[OPTION_NAME_BYTES]; /* as it was given; "": none */
	gid_t gid;
};

struct option_row {
	const char *name;
	enum option_type type;
	size_t offset, size;
	uint64_t least, most;
	const char *value; /* what help calls the value; NULL: a flag */
	const char *help;
	bool at_reload; /* a change takes effect at a reload; else at a restart */
};

/* Where a value comes from. */
struct config_origin {
	enum {
		CONFIG_DEFAULT,
		CONFIG_ARGUMENT,
		CONFIG_FILE,
		CONFIG_PASSED,
		CONFIG_KEPT, /* an older value, until a restart brings the new one */
	} kind;
	unsigned file, line; /* CONFIG_FILE: from 0, and from 1 */
};

/*
 * Read a value (text NULL: a flag that stands alone).  False: it does not fit, and nothing is set.
 * Not for OPTION_LIST.
 */
bool option_put(const struct option_row *row, void *field, const char *text);

/* Write why a value does not fit, with the end of the line. */
void option_explain(const struct option_row *row, const char *text, FILE *err);

/* Write a value as in a file; nothing for "none" and for OPTION_LIST. */
void option_tell(const struct option_row *row, const void *field, FILE *out);

bool option_is_number(const struct option_row *row);

/* Write "; did you mean ...?", or nothing if no name is near. */
void option_suggest(const struct option_row *rows, size_t count, const char *word,
		    const char *prefix, FILE *err);

#endif
