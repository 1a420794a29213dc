/* SPDX-License-Identifier: MIT */
/*
 * users.h - run a quoitd for all users, and clients of other users.  Only root can become other
 * users.
 */
#ifndef TESTS_USERS_H
#define TESTS_USERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon.h"

/* uids without an entry in any file. */
#define USERS_ALICE 4000001u
#define USERS_BOB   4000002u
#define USERS_GROUP 4000003u

/* Skip the test unless it runs as root; else start quoitd, and let others reach its socket. */
void users_start(struct daemon *d, const char *const *options);

/*
 * Run `quoit` with these words (ended by NULL) as this user with only this group.  Returns its exit
 * status, and the output of both streams.
 */
int users_run(uid_t uid, gid_t gid, char *ret_said, size_t size, const char *const *words);

/* May this user with only this group open this file to read? */
bool users_reads(const char *path, uid_t uid, gid_t gid);

/* Open a user's session in a process of its own, with this additional group; returns its PID. */
pid_t users_open(const struct daemon *d, uid_t uid, gid_t group);

/* As many sessions as it gets, but at most `most`. */
pid_t users_open_many(const struct daemon *d, uid_t uid, gid_t group, uint8_t most,
		      uint8_t *ret_count);
void users_close(pid_t pid);

#endif
