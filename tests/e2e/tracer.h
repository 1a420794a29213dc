/* SPDX-License-Identifier: MIT */
/*
 * tracer.h - bpftrace at the probes of a quoitd and of the test's own libquoit (quoit_probes(7)).
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

/* A probe that was passed. */
struct tracer_event {
	char name[8];
	bool ours; /* in libquoit; else in quoitd */
	int64_t arg[TRACER_ARGS];
};

struct tracer {
	pid_t pid;
	char said[128];                /* its output's file */
	struct quoit_session *session; /* which shows that it has attached */
	struct quoit_ring *ring;
	unsigned count; /* of events, once it was stopped */
	struct tracer_event event[TRACER_EVENTS];
};

/*
 * Attach to all probes, and come back when that is done.  Where bpftrace does not work at all the
 * test is skipped; where it does not find these, it fails.
 */
void tracer_start(struct tracer *t, const struct daemon *d);

/* Detach, and take all that has been seen of this session, in each thread in its order. */
void tracer_stop(struct tracer *t, uint64_t session);

/* The next event of that name from *from on, which is then behind it; NULL: there is none. */
const struct tracer_event *tracer_next(const struct tracer *t, const char *name, bool ours,
				       unsigned *from);

/* How many there are, and the sum of one of their arguments. */
unsigned tracer_count(const struct tracer *t, const char *name, bool ours);
int64_t tracer_sum(const struct tracer *t, const char *name, bool ours, unsigned arg);

#endif
