/* SPDX-License-Identifier: MIT */
/* parties.h - two sessions that wait for each other by locks and their kin */
#ifndef TESTS_PARTIES_H
#define TESTS_PARTIES_H

#include <sys/types.h>

#include "acquire.h"

#define SOON_MS  10000 /* for what comes in milliseconds, on a busy machine */
#define SHORT_MS 50    /* for what must not come */

#define PARTIES_NAME "it" /* of what they open together */

struct party {
	struct quoit_session *s;
	struct quoit_ring *q;
	int number; /* of what it has opened with the others */
};

struct parties {
	struct fixture f;
	struct party a, b;
};

/* quoit_open_lock or one of its kin. */
typedef int parties_open_fn(struct quoit_session *s, const char *name,
			    const struct quoit_sync_params *params);

/* Two that have nothing; two that have opened the same, by its parameters, which may be NULL. */
struct parties parties_begin(void);
struct parties parties_begin_with(parties_open_fn *open_it, const struct quoit_sync_params *params);
void parties_end(struct parties *t);

/* One more, also in another process; with this lease, 0: the default. */
struct party party_open(const struct daemon *d);
struct party party_open_with(const struct daemon *d, uint64_t host_bytes);

/*
 * One more in a process of its own, which does this, and then waits to be killed.  It does it with
 * `argument`; a negative result is a failure.  Returns the PID once it has done it.
 */
pid_t party_fork(const struct daemon *d, uint64_t host_bytes,
		 int (*act)(struct party *p, int argument), int argument);
void party_kill(pid_t pid);

/* The number that quoit_open_lock or its kin has returned. */
int party_number(int number);

/* Put a job in. */
quoit_job party_start(struct party *p, struct quoit_sqe sqe);

/* Expect that it waits. */
void party_waits(struct party *p, quoit_job job);

/* Poison x by a job that fails. */
void party_poison(struct party *p, quoit_tensor x);

#endif
