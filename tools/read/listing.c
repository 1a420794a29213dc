/* SPDX-License-Identifier: MIT */
/* listing.c - the options and the output of a command that prints one table */
#include "listing.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime.h"

enum { FORMAT, SORT, NO_HEADERS, COLUMNS, JSON, SOCKET };

const struct args_option listing_options[] = {
	[FORMAT] = {"format", "LIST", "show these columns; KEY=TITLE sets a column's title", 'o'},
	[SORT] = {"sort", "LIST", "sort by these columns; -KEY: the largest first"},
	[NO_HEADERS] = {"no-headers", NULL, "leave out the line of titles"},
	[COLUMNS] = {"columns", NULL, "list all columns"},
	[JSON] = {"json", NULL, "print a JSON array with all columns; what is not known is null"},
	[SOCKET] = {"socket", "PATH", "quoitd's socket"},
	{NULL},
};

static bool take_option(const struct args_command *command, int opt, struct listing *l)
{
	switch (opt) {
	case FORMAT:
		return table_choose(l->table, &l->columns, optarg, false, command->name);
	case SORT:
		return table_choose(l->table, &l->order, optarg, true, command->name);
	case NO_HEADERS:
		l->no_headers = true;
		break;
	case COLUMNS:
		table_print_help(l->table);
		exit(fflush(stdout) == 0 ? 0 : 1);
	case JSON:
		l->json = true;
		break;
	case SOCKET:
		l->socket = optarg;
		break;
	}
	return true;
}

int listing_parse(const struct args_command *command, const struct table *table,
		  const char *columns, int argc, char **argv, struct listing *ret)
{
	int opt;

	*ret = (struct listing){.table = table};
	while ((opt = args_next(command, argc, argv)) >= 0)
		if (!take_option(command, opt, ret))
			return 2;
	if (opt != ARGS_END)
		return opt == ARGS_HELP ? 0 : 2;
	if (!ret->columns.count)
		(void)table_choose(table, &ret->columns, columns, false, command->name);
	return -1;
}

static bool print_json(const struct listing *l, const void *rows, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(
			list, table_json(l->table, (const char *)rows + i * l->table->row_bytes));
	return format_json_print(list);
}

int listing_print(const struct listing *l, void *rows, size_t count)
{
	table_sort(l->table, &l->order, rows, count);
	if (l->json)
		return print_json(l, rows, count) ? 0 : 1;
	table_print(l->table, &l->columns, rows, count, runtime_now_ns(), !l->no_headers, 0);
	return 0;
}
