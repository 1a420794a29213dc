/* SPDX-License-Identifier: MIT */
/* format.h - aligned columns, byte counts, names that may hold anything, JSON output */
#ifndef QUOIT_TOOLS_FORMAT_H
#define QUOIT_TOOLS_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "counters.h"

#define FORMAT_CELL_BYTES 144 /* of a column of sessions: a name of 32 bytes, all escaped, fits */

struct format_column {
	const char *title;
	bool left; /* aligned; else right */
};

/* Cells are added from left to right, row by row; all zero but `columns` and `count`. */
struct format_table {
	const struct format_column *columns;
	unsigned count;
	char **cells;
	size_t used, room;
	unsigned width; /* of a line: what is beyond is cut off; 0: nothing is */
	bool failed;    /* out of memory: nothing is printed */
};

__attribute__((format(printf, 2, 3))) void format_cell(struct format_table *t, const char *format,
						       ...);

/* The words of somebody else, however long they are (format_escape). */
void format_cell_escaped(struct format_table *t, const char *text);

/* The value, or "-" where it is not known. */
void format_cell_counter(struct format_table *t, struct counter c);
void format_cell_bytes(struct format_table *t, struct counter c);

/* part of whole in percent; "-" where either is not known. */
void format_cell_percent(struct format_table *t, struct counter part, struct counter whole);

/* "1.5M"; as ps has times: "[days-]hh:mm:ss" */
void format_bytes(uint64_t bytes, char *ret, size_t size);
void format_flow(double bytes_per_second, char *ret, size_t size);
void format_time(uint64_t ns, char *ret, size_t size);

/* Seconds as "840n", "12.3u", "4.56m", "7.8s" */
void format_span(double seconds, char *ret, size_t size);

/* Print on stdout and free the cells; or free them unprinted. */
void format_print(struct format_table *t, bool headers);
void format_free(struct format_table *t);

/* Printable ASCII as it is, a backslash and everything else as \xNN. */
void format_escape(const char *name, char *ret, size_t size);

/* The value, or null where it is not known. */
json_t *format_json_counter(struct counter c);

/* CLOCK_BOOTTIME as seconds since 1970, by the clocks of now; 0 is not known: null. */
json_t *format_json_time(uint64_t boot_ns);

/* Print on stdout, end with a newline, and drop it.  False: out of memory. */
bool format_json_print(json_t *json);

#endif
