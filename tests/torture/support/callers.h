/* SPDX-License-Identifier: MIT */
/*
 * callers.h - open connections of several users, to a quoitd that allows each of them only a few.
 *
 * If the stage has no other users, all are our own user.
 */
#ifndef TORTURE_CALLERS_H
#define TORTURE_CALLERS_H

#include "stage.h"

#define CALLERS_CAP 40 /* connections of a user; callers_play tells quoitd */

enum { CALLER_ALICE = 61001, CALLER_BOB };

/* How many connections one of them may have; if there is only one user, one is the canary's. */
unsigned callers_most(void);

/* Connect as this user, say hello (for small needs), or both; a failure is noted. */
bool caller_connect(struct stage *s, struct raw_client *c, uid_t uid);
bool caller_hello(struct stage *s, struct raw_client *c);
bool caller_open(struct stage *s, struct raw_client *c, uid_t uid);

/* By how much a counter has risen since the case began. */
uint64_t callers_risen(const struct stage *s, uint32_t counter);

/*
 * Wait until quoitd has seen all that stage_expect announced, and has no session of ours left: a
 * connection counts for its user until its session is freed.
 */
void callers_await_departures(struct stage *s);

/* Play cases before such a quoitd; those `with_users` need different users, or are skipped. */
void callers_play(struct stage *s, const struct stage_case *cases, unsigned count,
		  const struct stage_case *with_users, unsigned users_count);

/* Run a program of these cases; returns its exit status. */
int callers_main(int argc, char **argv, const struct stage_case *cases, unsigned count,
		 const struct stage_case *with_users, unsigned users_count);

#endif
