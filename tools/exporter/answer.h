/* SPDX-License-Identifier: MIT */
/* answer.h - answer requests to the exporter */
#ifndef QUOIT_TOOLS_EXPORTER_ANSWER_H
#define QUOIT_TOOLS_EXPORTER_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include <microhttpd.h>

#include "collect.h"
#include "hosts.h"

/*
 * A text for many sessions has megabytes and takes long to write, so all requests within this time
 * get the same one.  A slow reader keeps an old text.  If ANSWER_TEXTS of a form are held, no new
 * one is made.
 */
#define ANSWER_FRESH_MS 250
#define ANSWER_TEXTS    4

/* The metrics come in either format, plain or compressed. */
#define ANSWER_OPENMETRICS 1u
#define ANSWER_GZIP        2u
#define ANSWER_FORMS       4u

/* The last served text of the metrics, in one of these forms. */
struct answer_text {
	struct MHD_Response *response; /* NULL: there is none */
	uint64_t made_ms;              /* CLOCK_MONOTONIC */
	/* texts of this form in memory: this one, and those that are still being sent */
	unsigned held;
};

/* Initialise the first two, and the rest with zeros. */
struct answers {
	struct collect *collect;
	const struct hosts *hosts;
	struct answer_text text[ANSWER_FORMS]; /* index: the bits above */
};

/*
 * Answer a request when its head has come; its body, if it has one, is not read.  Call
 * microhttpd_load before.
 */
enum MHD_Result answer_request(struct answers *a, struct MHD_Connection *connection,
			       const char *url, const char *method);

/* Call this when no connection is left. */
void answers_free(struct answers *a);

#endif
