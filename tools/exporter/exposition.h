/* SPDX-License-Identifier: MIT */
/*
 * exposition.h - metrics as text: OpenMetrics 1.0, or the format that Prometheus had before
 * (0.0.4).
 *
 * They are written family by family, each family's samples one behind the other.  A family of which
 * nothing is known is not mentioned: its header comes with its first sample.  Pure but for `out`.
 */
#ifndef QUOIT_TOOLS_EXPORTER_EXPOSITION_H
#define QUOIT_TOOLS_EXPORTER_EXPOSITION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum exposition_type {
	EXPOSITION_COUNTER,
	EXPOSITION_GAUGE,
	EXPOSITION_HISTOGRAM,
	EXPOSITION_INFO,
};

struct exposition_family {
	const char *name; /* without what its type adds: "_total", "_info", "_bucket" */
	enum exposition_type type;
	const char *unit; /* which the name ends with, "seconds"; NULL: it has none */
	const char *help; /* is printed as it is */
};

/* A list of them ends with a name that is NULL; those whose value is NULL are left out. */
struct exposition_label {
	const char *name;
	const char *value; /* UTF-8: a reader takes nothing of a text that is none */
};

/* A bucket of a histogram: so many were not above `le`, a number as it is printed. */
struct exposition_bucket {
	const char *le;
	uint64_t count; /* of this one and all before */
};

/* All zero but the first two. */
struct exposition {
	FILE *out;
	bool openmetrics; /* else 0.0.4 */
	struct exposition_family family;
	bool begun; /* its header is out */
};

/* What follows is of this family; nothing happens if it was so before. */
void exposition_family(struct exposition *e, const struct exposition_family *family);

void exposition_count(struct exposition *e, const struct exposition_label *labels, uint64_t value);
void exposition_real(struct exposition *e, const struct exposition_label *labels, double value);

/* sum: of all `all` values, of which the buckets have some. */
void exposition_histogram(struct exposition *e, const struct exposition_label *labels,
			  const struct exposition_bucket *buckets, unsigned count, uint64_t all,
			  double sum);

void exposition_end(struct exposition *e);

/* What the text is, for HTTP. */
const char *exposition_content_type(bool openmetrics);

/* Does a request with this Accept take OpenMetrics?  NULL: it has none. */
bool exposition_accepts_openmetrics(const char *accept);

#endif
