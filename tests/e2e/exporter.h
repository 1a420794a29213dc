/* SPDX-License-Identifier: MIT */
/* exporter.h - `quoit exporter`, as a process of a test's own */
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
 * Start it for a quoitd's socket, with these options more (ended by NULL), on a port of the
 * kernel's choice.  What it says on stderr goes into `errors`, a path; NULL: to ours.  Asserts that
 * it listens.  It dies with the test.
 */
void exporter_start(struct exporter *e, const char *socket, const char *const *options,
		    const char *errors);

/* Ask it to end; asserts that it does, well. */
void exporter_stop(struct exporter *e);

/* GET /metrics, which has to be answered. */
void exporter_metrics(const struct exporter *e, const char *accept, struct http_answer *ret);

/* The value of the sample that begins so, name and labels; -1: there is none. */
double exporter_value(const char *text, const char *sample);

#endif
