/* SPDX-License-Identifier: MIT */
/* format.c - print aligned columns, byte counts, names with any bytes, and JSON */
#include "format.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "list.h"

/* ---- cells ---- */

/* Takes the text over; NULL: there was no memory for it. */
static void append(struct format_table *t, char *text)
{
	if (text && t->used == t->room) {
		void *cells = list_grow(t->cells, &t->room, sizeof *t->cells);

		t->failed |= !cells;
		t->cells = cells ? cells : t->cells;
	}
	t->failed |= !text;
	if (t->failed)
		free(text);
	else
		t->cells[t->used++] = text;
}

void format_cell(struct format_table *t, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	append(t, vasprintf(&text, format, args) < 0 ? NULL : text);
	va_end(args);
}

void format_cell_escaped(struct format_table *t, const char *text)
{
	size_t size = 4 * strlen(text) + 1;
	char *printable = malloc(size);

	if (printable)
		format_escape(text, printable, size);
	append(t, printable);
}

void format_cell_counter(struct format_table *t, struct counter c)
{
	if (c.known)
		format_cell(t, "%llu", (unsigned long long)c.value);
	else
		format_cell(t, "-");
}

void format_bytes(uint64_t bytes, char *ret, size_t size)
{
	static const char units[] = "BKMGTPE";
	double value = (double)bytes;
	unsigned unit = 0;

	for (; value >= 1023.95 && units[unit + 1]; unit++)
		value /= 1024;
	snprintf(ret, size, unit && value < 99.95 ? "%.1f%c" : "%.0f%c", value, units[unit]);
}

void format_flow(double bytes_per_second, char *ret, size_t size)
{
	const double most = 1e19; /* a damaged file may contain any value */

	format_bytes((uint64_t)(bytes_per_second < most ? bytes_per_second : most), ret, size);
}

void format_time(uint64_t ns, char *ret, size_t size)
{
	uint64_t s = ns / 1000000000u;
	int used = 0;

	if (s >= 86400)
		used = snprintf(ret, size, "%llu-", (unsigned long long)(s / 86400));
	snprintf(ret + used, size - (size_t)used, "%02u:%02u:%02u", (unsigned)(s / 3600 % 24),
		 (unsigned)(s / 60 % 60), (unsigned)(s % 60));
}

void format_span(double seconds, char *ret, size_t size)
{
	static const char units[] = "num";
	double value = seconds * 1e9;
	unsigned unit = 0;

	for (; value >= 999.95 && unit < 3; unit++)
		value /= 1000;
	if (unit == 3)
		snprintf(ret, size, value < 99.95 ? "%.1fs" : "%.0fs", value);
	else
		snprintf(ret, size, value < 99.95 && unit ? "%.1f%c" : "%.0f%c", value,
			 units[unit]);
}

void format_cell_bytes(struct format_table *t, struct counter c)
{
	char text[16] = "-";

	if (c.known)
		format_bytes(c.value, text, sizeof text);
	format_cell(t, "%s", text);
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

/* The last column is not padded, so that no line ends with blanks. */
static int add_cell(const struct format_table *t, unsigned column, int width, const char *text,
		    char *line, size_t room)
{
	bool last = column + 1 == t->count;

	if (t->columns[column].left)
		width = last ? 0 : -width;
	return snprintf(line, room, "%*s%s", width, text, last ? "" : " ");
}

/* Print one row of cells; the titles if `cells` is NULL. */
static void print_line(const struct format_table *t, const int *width, char *const *cells,
		       char *line, size_t room)
{
	size_t used = 0;

	for (unsigned c = 0; c < t->count; c++)
		used += (size_t)add_cell(t, c, width[c], cells ? cells[c] : t->columns[c].title,
					 line + used, room - used);
	if (t->width && used > t->width)
		used = t->width;
	while (used && line[used - 1] == ' ')
		used--;
	printf("%.*s\n", (int)used, line);
}

void format_print(struct format_table *t, bool headers)
{
	int *width = calloc(t->count, sizeof *width);
	size_t room = 1;
	char *line = NULL;

	for (unsigned c = 0; width && c < t->count; c++) {
		width[c] = width_of(t, c, headers);
		room += (size_t)width[c] + 1;
	}
	if (width)
		line = malloc(room);
	if (!line || t->failed) {
		fprintf(stderr, "quoit: out of memory\n");
	} else {
		if (headers)
			print_line(t, width, NULL, line, room);
		for (size_t i = 0; i < t->used; i += t->count)
			print_line(t, width, &t->cells[i], line, room);
	}
	free(line);
	free(width);
	format_free(t);
}

void format_free(struct format_table *t)
{
	for (size_t i = 0; i < t->used; i++)
		free(t->cells[i]);
	free(t->cells);
	t->cells = NULL;
	t->used = t->room = 0;
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

json_t *format_json_time(uint64_t boot_ns)
{
	struct timespec wall, boot;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_REALTIME, &wall);
	if (!boot_ns)
		return json_null();
	return json_real((double)(wall.tv_sec - boot.tv_sec) +
			 (double)(wall.tv_nsec - boot.tv_nsec) / 1e9 + (double)boot_ns / 1e9);
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
