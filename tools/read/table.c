/* SPDX-License-Identifier: MIT */
/* table.c - choose columns of a list, sort by them, and print them */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/suggest.h"

/* ---- choosing ---- */

static int find(const struct table *t, const char *word)
{
	for (unsigned i = 0; i < t->count; i++)
		if (!strcmp(word, t->columns[i].key) || !strcmp(word, t->columns[i].alias))
			return *word ? (int)i : -1;
	return -1;
}

static bool refuse(const struct table *t, const char *word, const char *command)
{
	struct suggestion s = {.word = word};

	for (unsigned i = 0; i < t->count; i++)
		suggest_try(&s, t->columns[i].key);
	fprintf(stderr, "quoit %s: unknown column '%s'", command, word);
	suggest_print(&s, "", stderr);
	fprintf(stderr, " (see quoit %s --columns)\n", t->command);
	return false;
}

static bool choose(const struct table *t, struct column_choices *c, char *word, bool sorts,
		   const char *command)
{
	char *title = sorts ? NULL : strchr(word, '=');
	struct column_choice *one = &c->list[c->count];
	bool descending = sorts && *word == '-';
	int column;

	if (title)
		*title++ = '\0';
	if (sorts && (*word == '-' || *word == '+'))
		word++;
	column = find(t, word);
	if (column < 0)
		return refuse(t, word, command);
	if (c->count == 2 * t->count || c->count == TABLE_MOST_CHOICES) {
		fprintf(stderr, "quoit %s: more than %u columns, from '%s' on\n", command, c->count,
			word);
		return false;
	}
	*one = (struct column_choice){.column = (unsigned)column, .descending = descending};
	format_escape(title ? title : t->columns[column].title, one->title, sizeof one->title);
	c->count++;
	return true;
}

bool table_choose(const struct table *t, struct column_choices *c, const char *list, bool sorts,
		  const char *command)
{
	char *copy = strdup(list), *rest = NULL;
	bool good = copy;

	for (char *word = copy ? strtok_r(copy, ", ", &rest) : NULL; word && good;
	     word = strtok_r(NULL, ", ", &rest))
		good = choose(t, c, word, sorts, command);
	free(copy);
	return good;
}

/* ---- sorting ---- */

struct order {
	const struct table *table;
	const struct column_choices *by;
};

static int by_columns(const void *a, const void *b, void *arg)
{
	const struct order *o = arg;
	const struct table *t = o->table;
	int order = 0;

	for (unsigned i = 0; i < o->by->count && !order; i++) {
		unsigned column = o->by->list[i].column;
		struct figure f, g;

		t->figure(a, column, &f);
		t->figure(b, column, &g);
		order = figure_compare(&f, &g, t->columns[column].kind);
		order = o->by->list[i].descending ? -order : order;
	}
	return order ? order : t->compare(a, b);
}

void table_sort(const struct table *t, const struct column_choices *by, void *rows, size_t count)
{
	struct order order = {t, by};

	if (count)
		qsort_r(rows, count, t->row_bytes, by_columns, &order);
}

/* ---- printing ---- */

void table_print(const struct table *t, const struct column_choices *c, const void *rows,
		 size_t count, uint64_t now_ns, bool headers, unsigned width)
{
	struct format_column titles[TABLE_MOST_CHOICES];
	struct format_table to = {.columns = titles, .count = c->count, .width = width};
	char text[FORMAT_CELL_BYTES];
	bool any_title = false;
	struct figure f;

	for (unsigned i = 0; i < c->count; i++) {
		titles[i] = (struct format_column){
			c->list[i].title, t->columns[c->list[i].column].kind == COLUMN_TEXT};
		any_title |= *c->list[i].title;
	}
	for (size_t row = 0; row < count; row++)
		for (unsigned i = 0; i < c->count; i++) {
			unsigned column = c->list[i].column;

			t->figure((const char *)rows + row * t->row_bytes, column, &f);
			figure_text(&f, t->columns[column].kind, now_ns, text, sizeof text);
			format_cell(&to, "%s", text);
		}
	format_print(&to, headers && any_title);
}

json_t *table_json(const struct table *t, const void *row)
{
	json_t *json = json_object();

	for (unsigned i = 0; i < t->count; i++) {
		struct figure f;
		char key[32];

		t->figure(row, i, &f);
		figure_json_key(t->columns[i].key, t->columns[i].kind, key, sizeof key);
		json_object_set_new(json, key, figure_json(&f, t->columns[i].kind));
	}
	return json;
}

void table_print_help(const struct table *t)
{
	for (unsigned i = 0; i < t->count; i++)
		printf("  %-11s%-10s%s\n", t->columns[i].key, t->columns[i].title,
		       t->columns[i].help);
}
