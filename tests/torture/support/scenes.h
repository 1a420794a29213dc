/* SPDX-License-Identifier: MIT */
/* scenes.h - start quoitd in unusual ways, become another user, make a file */
#ifndef TORTURE_SCENES_H
#define TORTURE_SCENES_H

#include <sys/types.h>

#include "daemon.h"

/* uids without an account: the service, the users of cases, and those of the stage. */
enum { SCENE_SERVICE = 64001, SCENE_ALICE, SCENE_BOB, SCENE_CANARY, SCENE_MALLORY };

/*
 * For daemon_start_prepared: as on a kernel without F_SEAL_FUTURE_WRITE, so that clients can remove
 * pages.  quoitd then serves several users only if told to (scene_lax).
 */
void scene_without_seals(const struct daemon *d);
extern const char *const scene_lax[];

/* For daemon_start_prepared: run as the service; for root only. */
void scene_as_service(const struct daemon *d);

/* The same for a private quoitd of a user without privileges. */
void scene_as_owner(const struct daemon *d);

/*
 * A new file without a name, on a disk, where quoitd writes for others.  -1: there is no such
 * place.
 */
int scene_file_on_disk(void);

/* Become this user for good; does not return on failure. */
void scene_become(uid_t uid);

#endif
