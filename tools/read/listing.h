/* SPDX-License-Identifier: MIT */
/* listing.h - the options and the output of a command that prints one table */
#ifndef QUOIT_TOOLS_LISTING_H
#define QUOIT_TOOLS_LISTING_H

#include "cli/args.h"
#include "table.h"

/* The options of such a command: these, and no others. */
extern const struct args_option listing_options[];

/* What the command line says. */
struct listing {
	const struct table *table;
	struct column_choices columns, order;
	bool no_headers, json;
	const char *socket; /* NULL: no socket was named */
};

/*
 * Parse these options; `columns` are shown if none are chosen.  Negative: the operands start at
 * argv[optind]; else the exit status.
 */
int listing_parse(const struct args_command *command, const struct table *table,
		  const char *columns, int argc, char **argv, struct listing *ret);

/* Sort the rows and print them, as a table or an array of objects; the exit status. */
int listing_print(const struct listing *l, void *rows, size_t count);

#endif
