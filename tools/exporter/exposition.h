/* SPDX-License-Identifier: MIT */
/*
 * exposition.h - write metrics as text: OpenMetrics 1.0, or Prometheus' older format (0.0.4).
 *
 * Metrics are written family by family, with the samples of a family together.  A family's header
 * comes with its first sample, so a family without samples does not appear.  Pure but for `out`.
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
	const char *name; /* without the end that its type adds: "_total", "_info", "_bucket" */
	enum exposition_type type;
	const char *unit; /* "seconds", which the name ends with; NULL: it has no unit */
	const char *help; /* printed as it is */
};

/* A list ends with a NULL name; labels with a NULL value are left out. */
struct exposition_label {
	const char *name;
	const char *value; /* UTF-8: readers reject a whole text that is not */
};

/* A bucket of a histogram: counts values up to `le`, a number as it is printed. */
struct exposition_bucket {
	const char *le;
	uint64_t count; /* of this bucket and all before */
};

/* Initialise the first two, and the rest with zeros. */
struct exposition {
	FILE *out;
	bool openmetrics; /* true: OpenMetrics; false: 0.0.4 */
	struct exposition_family family;
	bool begun; /* its header is written */
};

/* The following samples belong to this family; no effect if they did already. */
void exposition_family(struct exposition *e, const struct exposition_family *family);

void exposition_count(struct exposition *e, const struct exposition_label *labels, uint64_t value);
void exposition_real(struct exposition *e, const struct exposition_label *labels, double value);

/* sum: of all values; all: how many values there are, of which the buckets may have only some. */
void exposition_histogram(struct exposition *e, const struct exposition_label *labels,
			  const struct exposition_bucket *buckets, unsigned count, uint64_t all,
			  double sum);

void exposition_end(struct exposition *e);

/* The text's type, for HTTP. */
const char *exposition_content_type(bool openmetrics);

/* Does a request with this Accept (NULL: without one) take OpenMetrics? */
bool exposition_accepts_openmetrics(const char *accept);

#endif
