/* SPDX-License-Identifier: MIT */
/*
 * names.h - looks up users and groups of the configuration that were not known yet.
 *
 * A server that is down or slow may know them.  So a thread looks for them now and then, and soon
 * after a user without a connection comes; no other thread waits for it.  The names that it finds
 * count from then on, also for connected users.  Control thread only.
 */
#ifndef QUOITD_NAMES_H
#define QUOITD_NAMES_H

#include <stdint.h>

struct control;
struct looking;
struct user_rules;

struct names {
	struct looking *looking; /* NULL: no thread is looking */
	uint64_t next_ns;        /* CLOCK_BOOTTIME: when the next one may start */
};

/*
 * user_rules_take_names, with its messages in the log, which also names each section that takes
 * effect by it.
 */
void names_take(struct user_rules *r, const struct user_rules *from);

/* A user with a name that may be unknown has come: look soon. */
void names_may_be_known(struct control *c);

/* For epoll: milliseconds until names_advance has something to do; -1: nothing. */
int names_timeout_ms(const struct control *c);

/* Begin to look when it is time, and take over what was found. */
void names_advance(struct control *c);

/* quoitd ends: do not wait for the thread that is looking. */
void names_done(struct control *c);

#endif
