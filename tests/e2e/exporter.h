/* SPDX-License-Identifier: MIT */
/* exporter.h - run `quoit exporter` for a test */
#ifndef TESTS_EXPORTER_H
#define TESTS_EXPORTER_H

#include <stddef.h>
#include <sys/types.h>

#include "http.h"

struct exporter {
	pid_t pid;
	unsigned port;
};

/*
 * Start it for a quoitd's socket, with these additional options (ended by NULL), on a port that the
 * kernel chooses.  `errors`: a path for its stderr; NULL: ours.  Asserts that it listens.  It dies
 * with the test.
 */
void exporter_start(struct exporter *e, const char *socket, const char *const *options,
		    const char *errors);

/* Ask it to end; asserts that it ends well. */
void exporter_stop(struct exporter *e);

/* GET /metrics; asserts that there is an answer. */
void exporter_metrics(const struct exporter *e, const char *accept, struct http_answer *ret);

/* The value of the sample that begins with this name and these labels; -1: there is none. */
double exporter_value(const char *text, const char *sample);

#endif
