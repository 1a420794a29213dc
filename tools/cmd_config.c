/* SPDX-License-Identifier: MIT */
/* cmd_config.c - `quoit config`: show quoitd's options, and where each value comes from */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/args.h"
#include "cli/suggest.h"
#include "commands.h"
#include "read/counters.h"
#include "read/daemon_state.h"
#include "read/format.h"
#include "read/runtime.h"

#define MOST_TEXT (1u << 20)
#define MOST_ROWS 2048

static const struct args_option options[] = {
	{"socket", "PATH", "quoitd's socket; its files lie beside it"},
	{"json", NULL, "print a JSON array"},
	{NULL},
};

static const struct args_command command = {
	"config", "[NAME...]",
	"Print the options that quoitd runs with, or those with these names, and the origin of\n"
	"each value: a file and its line, the command line, or quoitd itself.",
	options};

struct row {
	const char *name, *value, *from;
};

struct rows {
	char text[MOST_TEXT];
	struct row row[MOST_ROWS];
	unsigned count;
};

/*
 * Split lines of NAME, value and origin, with tabs between.  A line of another form, which a later
 * version may write, is skipped.
 */
static void split(struct rows *r)
{
	char *rest = r->text, *line;

	while ((line = strsep(&rest, "\n")) && r->count < MOST_ROWS) {
		struct row *row = &r->row[r->count];

		row->name = strsep(&line, "\t");
		row->value = strsep(&line, "\t");
		row->from = strsep(&line, "\t");
		r->count += row->from != NULL;
	}
}

static bool is_asked(const struct row *row, char *const *names)
{
	if (!*names)
		return true;
	for (; *names; names++)
		if (!strcmp(row->name, *names))
			return true;
	return false;
}

/* Are all names options?  0, or 2 after a line for the first that is not. */
static int check_names(const struct rows *r, char *const *names)
{
	for (; *names; names++) {
		char *const one[] = {*names, NULL};
		struct suggestion s = {.word = *names};
		bool found = false;

		for (unsigned i = 0; i < r->count; i++) {
			found |= is_asked(&r->row[i], one);
			suggest_try(&s, r->row[i].name);
		}
		if (found)
			continue;
		fprintf(stderr, "quoit config: quoitd runs with no option '%s'", *names);
		suggest_print(&s, "", stderr);
		fputc('\n', stderr);
		return 2;
	}
	return 0;
}

static void print_table(const struct rows *r, char *const *names)
{
	static const struct format_column columns[] = {
		{"NAME", true}, {"VALUE", true}, {"FROM", true}};
	struct format_table t = {.columns = columns, .count = sizeof columns / sizeof columns[0]};

	for (unsigned i = 0; i < r->count; i++)
		if (is_asked(&r->row[i], names)) {
			format_cell_escaped(&t, r->row[i].name);
			format_cell_escaped(&t, *r->row[i].value ? r->row[i].value : "-");
			format_cell_escaped(&t, r->row[i].from);
		}
	format_print(&t, true);
}

static int print_json(const struct rows *r, char *const *names)
{
	json_t *json = json_array();

	for (unsigned i = 0; i < r->count; i++)
		if (is_asked(&r->row[i], names))
			json_array_append_new(
				json, json_pack("{s:s, s:s, s:s}", "name", r->row[i].name, "value",
						r->row[i].value, "from", r->row[i].from));
	return format_json_print(json) ? 0 : -ENOMEM;
}

struct view {
	struct rows rows;
	char *const *names;
	bool json;
};

static int show(int directory, const char *socket, void *arg)
{
	struct view *v = arg;
	int64_t n = counters_read_file(directory, QUOIT_STATS_CONFIG, v->rows.text, MOST_TEXT - 1);
	struct counters_totals totals;
	int status;

	if (n < 0)
		return (int)n;
	v->rows.text[n] = '\0';
	split(&v->rows);
	if (!counters_read_totals(directory, &totals))
		(void)daemon_state_warn("config", daemon_state_look(directory, socket, &totals),
					&totals);
	status = check_names(&v->rows, v->names);
	if (status)
		return status;
	if (v->json)
		return print_json(&v->rows, v->names);
	print_table(&v->rows, v->names);
	return 0;
}

int cmd_config(int argc, char **argv)
{
	static struct view view;
	struct args_target target;
	int status = args_read_target(&command, argc, argv, &target);

	if (status >= 0)
		return status;
	view.names = argv + optind;
	view.json = target.json;
	return runtime_show("config", target.socket, show, &view);
}
