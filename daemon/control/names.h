/* SPDX-License-Identifier: MIT */
/*
 * names.h - users and groups of the configuration whose names are not known yet.
 *
 * Who is to know them may be a server that is not up, or that takes its time: a thread looks for
 * them, now and then, and soon after a user has come who had no connection; nobody waits for it.
 * What it finds counts from then on, for those who are here, too.  Control thread only.
 */
#ifndef QUOITD_NAMES_H
#define QUOITD_NAMES_H

#include <stdint.h>

struct control;
struct looking;
struct user_rules;

struct names {
	struct looking *looking; /* NULL: no thread does */
	uint64_t next_ns;        /* when one may next, CLOCK_BOOTTIME */
};

/* user_rules_take_names, with what it says in the log. */
void names_take(struct user_rules *r, const struct user_rules *from);

/* Somebody has come whose name we may not know: look soon. */
void names_may_be_known(struct control *c);

/* For epoll: milliseconds until names_advance has something to do; -1: none. */
int names_timeout_ms(const struct control *c);

/* Begin to look when it is time, and take over what was found. */
void names_advance(struct control *c);

/* The end: whoever looks is left to it. */
void names_done(struct control *c);

#endif
