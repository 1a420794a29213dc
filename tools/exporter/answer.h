/* SPDX-License-Identifier: MIT */
/* answer.h - what the exporter answers to a request */
#ifndef QUOIT_TOOLS_EXPORTER_ANSWER_H
#define QUOIT_TOOLS_EXPORTER_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include <microhttpd.h>

#include "exporter/collect.h"
#include "exporter/hosts.h"

/*
 * A text with many sessions has megabytes and takes long to write: it is for all who ask within
 * this time.  Who reads slowly keeps an old one; while there are so many of a form, no new one is
 * made.
 */
#define ANSWER_FRESH_MS 250
#define ANSWER_TEXTS    4

/* The metrics can be had in either format, plain or compressed. */
#define ANSWER_OPENMETRICS 1u
#define ANSWER_GZIP        2u
#define ANSWER_FORMS       4u

/* The metrics in one of these forms, as they were served last. */
struct answer_text {
	struct MHD_Response *response; /* NULL: there is none */
	uint64_t made_ms;              /* CLOCK_MONOTONIC */
	unsigned held;                 /* texts that somebody is still to get, and this one */
};

/* All zero but the first two. */
struct answers {
	struct collect *collect;
	const struct hosts *hosts;
	struct answer_text text[ANSWER_FORMS]; /* by the bits above */
};

/*
 * What a request gets, whose head has come; its body, if it has one, nobody reads.  microhttpd_load
 * was called before.
 */
enum MHD_Result answer_request(struct answers *a, struct MHD_Connection *connection,
			       const char *url, const char *method);

/* When no connection is left. */
void answers_free(struct answers *a);

#endif
