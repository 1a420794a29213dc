/* SPDX-License-Identifier: MIT */
/* format.h - print aligned columns, byte counts, names with any bytes, and JSON */
#ifndef QUOIT_TOOLS_FORMAT_H
#define QUOIT_TOOLS_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "counters.h"

#define FORMAT_CELL_BYTES 144 /* a name of 32 bytes, all escaped, fits */

struct format_column {
	const char *title;
	bool left; /* left aligned; false: right aligned */
};

/*
 * Cells are added from left to right, row by row; initialise `columns` and `count`, the rest with
 * zeros.
 */
struct format_table {
	const struct format_column *columns;
	unsigned count;
	char **cells;
	size_t used, room;
	unsigned width; /* of a line: the rest is cut off; 0: no limit */
	bool failed;    /* out of memory: nothing will be printed */
};

__attribute__((format(printf, 2, 3))) void format_cell(struct format_table *t, const char *format,
						       ...);

/* Add a text of another program, escaped (format_escape), however long it is. */
void format_cell_escaped(struct format_table *t, const char *text);

/* Add the value, or "-" if it is not known. */
void format_cell_counter(struct format_table *t, struct counter c);
void format_cell_bytes(struct format_table *t, struct counter c);

/* Add part of whole in percent, or "-" if either is not known. */
void format_cell_percent(struct format_table *t, struct counter part, struct counter whole);

/* format_bytes: "1.5M".  format_time: as ps shows times: "[days-]hh:mm:ss". */
void format_bytes(uint64_t bytes, char *ret, size_t size);
void format_flow(double bytes_per_second, char *ret, size_t size);
void format_time(uint64_t ns, char *ret, size_t size);

/* Seconds as "840n", "12.3u", "4.56m", "7.8s" */
void format_span(double seconds, char *ret, size_t size);

/* Print on stdout and free the cells; or free them unprinted. */
void format_print(struct format_table *t, bool headers);
void format_free(struct format_table *t);

/* Copy printable ASCII as it is, and a backslash and all other bytes as \xNN. */
void format_escape(const char *name, char *ret, size_t size);

/* The value, or null if it is not known. */
json_t *format_json_counter(struct counter c);

/* CLOCK_BOOTTIME as seconds since 1970, by the present clocks; 0, not known, becomes null. */
json_t *format_json_time(uint64_t boot_ns);

/* Print on stdout with a newline, and free it.  False: out of memory. */
bool format_json_print(json_t *json);

#endif
