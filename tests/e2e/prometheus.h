/* SPDX-License-Identifier: MIT */
/* prometheus.h - run Prometheus for a test, and ask it */
#ifndef TESTS_PROMETHEUS_H
#define TESTS_PROMETHEUS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct prometheus {
	pid_t pid;
	unsigned port;
	char folder[32];
};

/* Is it installed? */
bool prometheus_is_there(void);

/*
 * Let it scrape the exporter at this port, every 2 s, and evaluate the rules in this file as often;
 * NULL: none.  Asserts that it listens.  It dies with the test.
 */
void prometheus_start(struct prometheus *p, unsigned exporter_port, const char *rules);
void prometheus_stop(struct prometheus *p);

/* How many series the answer has, and the value of the first; 0 and -1 if there is no answer yet. */
size_t prometheus_ask(const struct prometheus *p, const char *expression, double *ret);

/*
 * Wait until the answer has this value; a failure ends the test, which must be over in ten minutes.
 */
void prometheus_expect(const struct prometheus *p, const char *expression, double expected);

#endif
