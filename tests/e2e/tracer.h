/* SPDX-License-Identifier: MIT */
/*
 * tracer.h - trace the probes of a quoitd and of the test's own libquoit with bpftrace
 * (quoit_probes(7)).
 */
#ifndef TESTS_TRACER_H
#define TESTS_TRACER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <quoit.h>

#include "daemon.h"

#define TRACER_ARGS   6u
#define TRACER_EVENTS 4096u

/* A probe that has fired. */
struct tracer_event {
	char name[8];
	bool ours;       /* true: libquoit's; false: quoitd's */
	int64_t time_ns; /* since the machine's start */
	int64_t arg[TRACER_ARGS];
};

struct tracer {
	pid_t pid;
	char said[128];                /* the file of its output */
	struct quoit_session *session; /* its probes show that bpftrace has attached */
	struct quoit_ring *ring;
	unsigned count; /* number of events; known once it was stopped */
	struct tracer_event event[TRACER_EVENTS];
};

/*
 * Attach to all probes, and return when that is done.  If bpftrace does not work at all, the test
 * is skipped; if it does not find these probes, the test fails.
 */
void tracer_start(struct tracer *t, const struct daemon *d);

/* Detach, and take all events of this session; in the order of their times. */
void tracer_stop(struct tracer *t, uint64_t session);

/* The next event with that name from *from on; *from then is behind it.  NULL: there is none. */
const struct tracer_event *tracer_next(const struct tracer *t, const char *name, bool ours,
				       unsigned *from);

/* How many such events there are, and the sum of one of their arguments. */
unsigned tracer_count(const struct tracer *t, const char *name, bool ours);
int64_t tracer_sum(const struct tracer *t, const char *name, bool ours, unsigned arg);

#endif
