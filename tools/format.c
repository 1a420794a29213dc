/* SPDX-License-Identifier: MIT */
/* format.c - aligned columns, byte counts, names that may hold anything, JSON output */
#include "format.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- cells ---- */

void format_cell(struct format_table *t, const char *format, ...)
{
	va_list args;

	if (t->used == t->room) {
		size_t room = t->room ? 2 * t->room : 64;
		void *cells = realloc(t->cells, room * sizeof *t->cells);

		t->failed |= !cells;
		if (t->failed)
			return;
		t->cells = cells;
		t->room = room;
	}
	va_start(args, format);
	vsnprintf(t->cells[t->used++], sizeof *t->cells, format, args);
	va_end(args);
}

void format_cell_counter(struct format_table *t, struct counter c)
{
	if (c.known)
		format_cell(t, "%llu", (unsigned long long)c.value);
	else
		format_cell(t, "-");
}

void format_cell_bytes(struct format_table *t, struct counter c)
{
	static const char units[] = "BKMGTPE";
	double value = (double)c.value;
	unsigned unit = 0;

	for (; value >= 1023.95 && units[unit + 1]; unit++)
		value /= 1024;
	if (!c.known)
		format_cell(t, "-");
	else
		format_cell(t, unit && value < 99.95 ? "%.1f%c" : "%.0f%c", value, units[unit]);
}

void format_cell_percent(struct format_table *t, struct counter part, struct counter whole)
{
	if (part.known && whole.known && whole.value)
		format_cell(t, "%.1f", 100.0 * (double)part.value / (double)whole.value);
	else
		format_cell(t, "-");
}

/* ---- tables ---- */

static int width_of(const struct format_table *t, unsigned column, bool headers)
{
	size_t width = headers ? strlen(t->columns[column].title) : 0;

	for (size_t i = column; i < t->used; i += t->count)
		if (strlen(t->cells[i]) > width)
			width = strlen(t->cells[i]);
	return (int)width;
}

/* The last column is not padded: no line ends with blanks. */
static void print_cell(const struct format_table *t, unsigned column, int width, const char *text)
{
	if (t->columns[column].left)
		width = column + 1 < t->count ? -width : 0;
	printf("%*s%c", width, text, column + 1 < t->count ? ' ' : '\n');
}

void format_print(struct format_table *t, bool headers)
{
	int *width = calloc(t->count, sizeof *width);

	if (!width || t->failed) {
		fprintf(stderr, "quoit: out of memory\n");
	} else {
		for (unsigned c = 0; c < t->count; c++)
			width[c] = width_of(t, c, headers);
		for (unsigned c = 0; headers && c < t->count; c++)
			print_cell(t, c, width[c], t->columns[c].title);
		for (size_t i = 0; i < t->used; i++)
			print_cell(t, (unsigned)(i % t->count), width[i % t->count], t->cells[i]);
	}
	free(width);
	free(t->cells);
	t->cells = NULL;
}

void format_escape(const char *name, char *ret, size_t size)
{
	static const char hex[] = "0123456789abcdef";

	for (; *name && size > 4; name++) {
		unsigned char c = (unsigned char)*name;

		if (c >= ' ' && c <= '~' && c != '\\') {
			*ret++ = (char)c;
			size--;
			continue;
		}
		*ret++ = '\\';
		*ret++ = 'x';
		*ret++ = hex[c >> 4];
		*ret++ = hex[c & 15];
		size -= 4;
	}
	*ret = '\0';
}

/* ---- JSON ---- */

json_t *format_json_counter(struct counter c)
{
	return c.known ? json_integer((json_int_t)c.value) : json_null();
}

bool format_json_print(json_t *json)
{
	bool done = json && json_dumpf(json, stdout, JSON_INDENT(2)) == 0;

	if (done)
		putchar('\n');
	else
		fprintf(stderr, "quoit: out of memory\n");
	json_decref(json);
	return done;
}
