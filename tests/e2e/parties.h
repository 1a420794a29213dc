/* SPDX-License-Identifier: MIT */
/* parties.h - two sessions that wait for each other by locks and their kin */
#ifndef TESTS_PARTIES_H
#define TESTS_PARTIES_H

#include "acquire.h"

#define SOON_MS  10000 /* for what comes in milliseconds, on a busy machine */
#define SHORT_MS 50    /* for what must not come */

struct party {
	struct quoit_session *s;
	struct quoit_ring *q;
};

struct parties {
	struct fixture f;
	struct party a, b;
};

struct parties parties_begin(void);
void parties_end(struct parties *t);

/* One more, also in another process; with this lease, 0: the default. */
struct party party_open(const struct daemon *d);
struct party party_open_with(const struct daemon *d, uint64_t host_bytes);

/* The number that quoit_open_lock or its kin has returned. */
int party_number(int number);

/* Put a job in. */
quoit_job party_start(struct party *p, struct quoit_sqe sqe);

/* Expect that it waits. */
void party_waits(struct party *p, quoit_job job);

/* Poison x by a job that fails. */
void party_poison(struct party *p, quoit_tensor x);

#endif
