/* SPDX-License-Identifier: MIT */
/* users.h - who has sessions, and with what share.  Control thread only. */
#ifndef QUOITD_USERS_H
#define QUOITD_USERS_H

#include <stdbool.h>

#include "session/user.h"

struct users {
	struct user *first;
	uint32_t reactors; /* that each may have sessions at */
	struct {
		bool taken;
		uid_t uid;     /* who had it last */
		uint64_t left; /* when: as many have left before it; 0: nobody has had it */
	} number[USERS];
	uint64_t left; /* users that have */
};

/*
 * A session of this user begins; its share is what the user has at its first one.  -ENOMEM;
 * -EUSERS: USERS others have sessions.
 */
int users_join(struct users *u, uid_t uid, uint32_t share, struct user **ret);

/* One that has begun has ended, and nobody knows of it any more. */
void users_leave(struct users *u, struct user *user);

/* NULL: it has no sessions. */
struct user *users_find(const struct users *u, uid_t uid);

#endif
