/* SPDX-License-Identifier: MIT */
/* scenes.h - unusual ways to start quoitd, to become another user, and a usual file */
#ifndef TORTURE_SCENES_H
#define TORTURE_SCENES_H

#include <sys/types.h>

#include "daemon.h"

/* Numbers that no account has: the service, two users, and whom the stage knows. */
enum { SCENE_SERVICE = 64001, SCENE_ALICE, SCENE_BOB, SCENE_CANARY, SCENE_MALLORY };

/* For daemon_start_prepared: sealing reports success and seals nothing. */
void scene_without_seals(const struct daemon *d);

/* For daemon_start_prepared: run as the service; for root only. */
void scene_as_service(const struct daemon *d);

/*
 * A new file without a name, not in memory, where quoitd does not write for others.  -1: it cannot
 * be had.
 */
int scene_file_on_disk(void);

/* Take on this user for good; does not return when it cannot. */
void scene_become(uid_t uid);

#endif
