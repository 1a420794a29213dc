/* SPDX-License-Identifier: MIT */
/* exposition.c - write metrics as text: OpenMetrics 1.0, or Prometheus' older format */
#include "exposition.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "accept.h"

#define MEDIA_TYPE "application/openmetrics-text"

/* ---- a family ---- */

/* The end that a sample's name has in addition to the family's name. */
static const char *suffix_of(enum exposition_type type)
{
	return type == EXPOSITION_COUNTER ? "_total" : type == EXPOSITION_INFO ? "_info" : "";
}

/* The old format has no info type; it uses a gauge. */
static const char *type_name(enum exposition_type type, bool openmetrics)
{
	switch (type) {
	case EXPOSITION_COUNTER:
		return "counter";
	case EXPOSITION_HISTOGRAM:
		return "histogram";
	case EXPOSITION_INFO:
		return openmetrics ? "info" : "gauge";
	default:
		return "gauge";
	}
}

void exposition_family(struct exposition *e, const struct exposition_family *family)
{
	if (e->family.name && !strcmp(e->family.name, family->name))
		return;
	e->family = *family;
	e->begun = false;
}

/*
 * OpenMetrics' header names the family; the old format's header names the samples, with "_total".
 */
static void begin(struct exposition *e)
{
	const struct exposition_family *f = &e->family;
	const char *suffix = e->openmetrics ? "" : suffix_of(f->type);

	if (e->begun)
		return;
	e->begun = true;
	fprintf(e->out, "# TYPE %s%s %s\n", f->name, suffix, type_name(f->type, e->openmetrics));
	if (e->openmetrics && f->unit)
		fprintf(e->out, "# UNIT %s %s\n", f->name, f->unit);
	fprintf(e->out, "# HELP %s%s %s\n", f->name, suffix, f->help);
}

/* ---- samples ---- */

static void put_value(const char *value, FILE *out)
{
	for (; *value; value++)
		if (*value == '\n')
			fputs("\\n", out);
		else if (*value == '\\' || *value == '"')
			fprintf(out, "\\%c", *value);
		else
			fputc(*value, out);
}

static void put_label(struct exposition *e, bool first, const char *name, const char *value)
{
	fprintf(e->out, "%c%s=\"", first ? '{' : ',', name);
	put_value(value, e->out);
	fputc('"', e->out);
}

/* le: of a histogram's bucket; else NULL. */
static void put_name(struct exposition *e, const char *suffix,
		     const struct exposition_label *labels, const char *le)
{
	bool first = true;

	begin(e);
	fprintf(e->out, "%s%s", e->family.name, suffix);
	for (; labels->name; labels++)
		if (labels->value) {
			put_label(e, first, labels->name, labels->value);
			first = false;
		}
	if (le) {
		put_label(e, first, "le", le);
		first = false;
	}
	fputs(first ? " " : "} ", e->out);
}

void exposition_count(struct exposition *e, const struct exposition_label *labels, uint64_t value)
{
	put_name(e, suffix_of(e->family.type), labels, NULL);
	fprintf(e->out, "%" PRIu64 "\n", value);
}

void exposition_real(struct exposition *e, const struct exposition_label *labels, double value)
{
	put_name(e, suffix_of(e->family.type), labels, NULL);
	fprintf(e->out, "%.9f\n", value);
}

void exposition_histogram(struct exposition *e, const struct exposition_label *labels,
			  const struct exposition_bucket *buckets, unsigned count, uint64_t all,
			  double sum)
{
	for (unsigned i = 0; i < count; i++) {
		put_name(e, "_bucket", labels, buckets[i].le);
		fprintf(e->out, "%" PRIu64 "\n", buckets[i].count);
	}
	put_name(e, "_bucket", labels, "+Inf");
	fprintf(e->out, "%" PRIu64 "\n", all);
	put_name(e, "_count", labels, NULL);
	fprintf(e->out, "%" PRIu64 "\n", all);
	put_name(e, "_sum", labels, NULL);
	fprintf(e->out, "%.9f\n", sum);
}

void exposition_end(struct exposition *e)
{
	if (e->openmetrics)
		fputs("# EOF\n", e->out);
}

/* ---- choice of the format ---- */

const char *exposition_content_type(bool openmetrics)
{
	return openmetrics ? MEDIA_TYPE "; version=1.0.0; charset=utf-8"
			   : "text/plain; version=0.0.4; charset=utf-8";
}

bool exposition_accepts_openmetrics(const char *accept)
{
	return accept_takes(accept, MEDIA_TYPE);
}
