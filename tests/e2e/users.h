/* SPDX-License-Identifier: MIT */
/* users.h - a quoitd that serves all users, and other users of it.  Root alone can be others. */
#ifndef TESTS_USERS_H
#define TESTS_USERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon.h"

/* Who needs no entry in any file. */
#define USERS_ALICE 4000001u
#define USERS_BOB   4000002u
#define USERS_GROUP 4000003u

/* Skip the test unless this is root; else start quoitd, and let others reach its socket. */
void users_start(struct daemon *d, const char *const *options);

/*
 * Run `quoit` with these words (ended by NULL) as this user with this group alone.  Its exit
 * status, and what it says on both streams.
 */
int users_run(uid_t uid, gid_t gid, char *ret_said, size_t size, const char *const *words);

/* May this user with this group alone open this file to read? */
bool users_reads(const char *path, uid_t uid, gid_t gid);

/* A session of a user's, in a process of its own, which has this additional group; its PID. */
pid_t users_open(const struct daemon *d, uid_t uid, gid_t group);

/* As many as it gets, but for more than `most`. */
pid_t users_open_many(const struct daemon *d, uid_t uid, gid_t group, uint8_t most,
		      uint8_t *ret_count);
void users_close(pid_t pid);

#endif
