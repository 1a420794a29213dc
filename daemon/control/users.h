/* SPDX-License-Identifier: MIT */
/* users.h - keeps the users that have sessions, with their shares.  Control thread only. */
#ifndef QUOITD_USERS_H
#define QUOITD_USERS_H

#include <stdbool.h>

#include "fair/user.h"

struct users {
	struct user *first;
	uint32_t reactors; /* at which each user may have sessions */
	struct {
		bool taken;
		uid_t uid;     /* the last user that had this number */
		uint64_t left; /* how many users had left by then; 0: never used */
	} number[USERS];
	uint64_t left; /* how many users have left */
};

/*
 * A session of this user begins.  The share is set with the user's first session.  -ENOMEM;
 * -EUSERS: USERS other users have sessions.
 */
int users_join(struct users *u, uid_t uid, uint32_t share, struct user **ret);

/* A session has ended, and no thread uses it any more. */
void users_leave(struct users *u, struct user *user);

/* NULL: the user has no sessions. */
struct user *users_find(const struct users *u, uid_t uid);

#endif
