/* SPDX-License-Identifier: MIT */
/* scenes.h - unusual ways to start quoitd, to become another user, and a usual file */
#ifndef TORTURE_SCENES_H
#define TORTURE_SCENES_H

#include <sys/types.h>

#include "daemon.h"

/* Numbers that no account has: the service, two users, and whom the stage knows. */
enum { SCENE_SERVICE = 64001, SCENE_ALICE, SCENE_BOB, SCENE_CANARY, SCENE_MALLORY };

/*
 * For daemon_start_prepared: as on a kernel without F_SEAL_FUTURE_WRITE, so that clients can take
 * pages away, which quoitd serves several users with only if told to (scene_lax).
 */
void scene_without_seals(const struct daemon *d);
extern const char *const scene_lax[];

/* For daemon_start_prepared: run as the service; for root only. */
void scene_as_service(const struct daemon *d);

/* The same for a private quoitd of that user, who has no privilege. */
void scene_as_owner(const struct daemon *d);

/*
 * A new file without a name, not in memory, where quoitd does not write for others.  -1: it cannot
 * be had.
 */
int scene_file_on_disk(void);

/* Take on this user for good; does not return when it cannot. */
void scene_become(uid_t uid);

#endif
