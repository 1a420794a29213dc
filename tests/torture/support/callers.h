/* SPDX-License-Identifier: MIT */
/*
 * callers.h - connections of several users, to a quoitd that allows each of them a few.
 *
 * Where the stage has no users, they all are who we are.
 */
#ifndef TORTURE_CALLERS_H
#define TORTURE_CALLERS_H

#include "stage.h"

#define CALLERS_CAP 40 /* connections of a user, as callers_play says to quoitd */

enum { CALLER_ALICE = 61001, CALLER_BOB };

/* So many connections one of them may have: where there is one user only, one is the canary's. */
unsigned callers_most(void);

/* Connect as this user, say hello (as one may who needs little), or both; a failure is noted. */
bool caller_connect(struct stage *s, struct raw_client *c, uid_t uid);
bool caller_hello(struct stage *s, struct raw_client *c);
bool caller_open(struct stage *s, struct raw_client *c, uid_t uid);

/* By how much a counter has risen since the case began. */
uint64_t callers_risen(const struct stage *s, uint32_t counter);

/*
 * Until quoitd has seen all that was announced with stage_expect, and has no session of ours
 * left: a connection counts for its user until its session is unmade.
 */
void callers_await_departures(struct stage *s);

/* Play cases before such a quoitd; `with_users` need users that differ, or are skipped. */
void callers_play(struct stage *s, const struct stage_case *cases, unsigned count,
		  const struct stage_case *with_users, unsigned users_count);

/* A program of these; its exit status. */
int callers_main(int argc, char **argv, const struct stage_case *cases, unsigned count,
		 const struct stage_case *with_users, unsigned users_count);

#endif
