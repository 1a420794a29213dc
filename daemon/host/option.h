/* SPDX-License-Identifier: MIT */
/*
 * option.h - a value that can be set: its type, range and help, one row of a table each.
 *
 * The tables are config.c's, of what holds for quoitd, and user_rules.c's, of what holds for a
 * user.
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
	OPTION_LEVEL,  /* the same, one of the log's */
	OPTION_NUMBER, /* uint64_t */
	OPTION_FD,     /* the same; none: UINT64_MAX */
	OPTION_BYTES,  /* the same, with units */
	OPTION_FLAG,   /* bool */
	OPTION_GROUP,  /* struct option_group */
	OPTION_LIST,   /* texts, which add up: its table's business */
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
	const char *value; /* how help calls it; NULL: it is a flag */
	const char *help;
	bool at_reload; /* a change takes effect then; else when quoitd is restarted */
};

/* Where a value is from. */
struct config_origin {
	enum {
		CONFIG_DEFAULT,
		CONFIG_ARGUMENT,
		CONFIG_FILE,
		CONFIG_PASSED,
		CONFIG_KEPT, /* what is there now is another one, which waits for a restart */
	} kind;
	unsigned file, line; /* CONFIG_FILE; from 0, and from 1 */
};

/* Read a value (text NULL: a flag that stands alone); false: it does not fit, and nothing is set.
 * No OPTION_LIST. */
bool option_put(const struct option_row *row, void *field, const char *text);

/* Why not, with the line's end. */
void option_explain(const struct option_row *row, const char *text, FILE *err);

/* As a file has it; nothing where there is none, and of an OPTION_LIST. */
void option_tell(const struct option_row *row, const void *field, FILE *out);

bool option_is_number(const struct option_row *row);

/* "; did you mean ...?", or nothing where no name of these is near. */
void option_suggest(const struct option_row *rows, size_t count, const char *word,
		    const char *prefix, FILE *err);

#endif
