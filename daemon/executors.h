/* SPDX-License-Identifier: MIT */
/*
 * executors.h - the thread that starts, watches and restarts quoit-exec, one per module.
 *
 * A thread of its own: starting a process takes a while, which no reactor and no client
 * should wait for.
 */
#ifndef QUOITD_EXECUTORS_H
#define QUOITD_EXECUTORS_H

#include <stdint.h>
#include <stdio.h>

#include "config.h"
#include "exec_port.h"
#include "totals.h"

struct executors;

struct executors_config {
	const struct config *config; /* its modules; outlives the executors */
	struct quoit_totals *totals;
	uint32_t reactors;
	const int *eventfds; /* of each reactor; copied */
	/* Called after the first start, and whenever a process came or went; by one thread. */
	void (*changed)(void *arg, const struct executors *e);
	void *arg;
};

/*
 * Start every module, wait until each can serve or is left out with a log line, give their
 * operations numbers (optable.h), then watch.  Before the reactors start.  -errno; *ret is
 * NULL without modules.
 */
int executors_start(const struct executors_config *config, struct executors **ret);

/* After the reactors have stopped.  NULL is fine. */
void executors_stop(struct executors *e);

/* The port of a module for a reactor; valid until executors_stop. */
struct exec_port *executors_port(struct executors *e, uint32_t module, uint32_t reactor);

/* A line per module, for the topology file; from changed() only. */
void executors_describe(const struct executors *e, FILE *out);

#endif
