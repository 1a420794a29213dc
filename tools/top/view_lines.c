/* SPDX-License-Identifier: MIT */
/* view_lines.c - build lines of text with styles */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/list.h"
#include "view_private.h"

/* The unfinished line; NULL: out of memory. */
static struct view_line *current(struct view *v)
{
	if (v->count == v->room) {
		void *lines = list_grow(v->lines, &v->room, sizeof *v->lines);

		v->failed |= !lines;
		if (!lines)
			return NULL;
		v->lines = lines;
		memset(&v->lines[v->count], 0, (v->room - v->count) * sizeof *v->lines);
	}
	return &v->lines[v->count];
}

static void add(struct view *v, enum view_style style, const char *text, size_t length)
{
	struct view_line *line = current(v);
	size_t left = line ? v->width - line->length : 0;

	if (length > left)
		length = left;
	if (!length)
		return;
	memcpy(line->text + line->length, text, length);
	memset(line->style + line->length, style, length);
	line->length += (unsigned)length;
}

void view_add(struct view *v, enum view_style style, const char *format, ...)
{
	char text[VIEW_COLUMNS_MOST + 1];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (n > 0)
		add(v, style, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

void view_repeat(struct view *v, enum view_style style, char c, unsigned times)
{
	char text[VIEW_COLUMNS_MOST];

	if (times > sizeof text)
		times = sizeof text;
	memset(text, c, times);
	add(v, style, text, times);
}

void view_add_cell(struct view *v, enum view_style style, const char *text, unsigned width,
		   bool left)
{
	size_t length = strlen(text);
	unsigned blanks = width > length ? width - (unsigned)length : 0;

	if (!left)
		view_repeat(v, style, ' ', blanks);
	add(v, style, text, length);
	if (left)
		view_repeat(v, style, ' ', blanks);
}

void view_pad(struct view *v, enum view_style style, unsigned column)
{
	unsigned at = view_column(v);

	if (column > v->width)
		column = v->width;
	if (column > at)
		view_repeat(v, style, ' ', column - at);
}

unsigned view_column(const struct view *v)
{
	return v->count < v->room ? v->lines[v->count].length : 0;
}

void view_end_line(struct view *v)
{
	struct view_line *line = current(v);

	if (!line)
		return;
	line->text[line->length] = '\0';
	v->count++;
	line = current(v);
	if (line)
		line->length = 0;
}

void view_begin_line(struct view *v)
{
	struct view_line *line = current(v);

	if (line)
		line->length = 0;
}

void view_free(struct view *v)
{
	free(v->lines);
	free(v->cells);
	*v = (struct view){0};
}
