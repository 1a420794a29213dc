/* SPDX-License-Identifier: MIT */
/*
 * own_processes.h - which users have device processes of their own.
 *
 * A user whose sessions bring kernels has such processes: a kernel that ends one harms that user
 * only.
 *
 * There is room for CONFIG_OWN_USERS users.  A user's processes are wanted as long as it has such
 * sessions, and for OWN_LINGER_NS after the last, so that programs that follow each other find them
 * there.  Then, or as soon as another user needs the room, they end.
 *
 * Thread-safe.
 */
#ifndef QUOITD_OWN_PROCESSES_H
#define QUOITD_OWN_PROCESSES_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include "config/config.h"

#define OWN_LINGER_NS UINT64_C(2000000000)

struct own_processes {
	pthread_mutex_t lock;
	struct own_user {
		uint64_t owner; /* 1 + uid; 0: the place is free */
		uint32_t sessions;
		uint64_t left; /* CLOCK_BOOTTIME, when the last one went */
	} user[CONFIG_OWN_USERS];
};

void own_init(struct own_processes *o);
void own_done(struct own_processes *o);

/* A session of this user comes: returns the user's place, from 0; -EUSERS: all places are taken. */
int own_take(struct own_processes *o, uid_t uid);

/* A session of this user has gone; now: CLOCK_BOOTTIME in ns. */
void own_give(struct own_processes *o, uid_t uid, uint64_t now);

/*
 * Which user's processes there should be at this place: 1 + uid; 0: none.  *ret_due is when that
 * may change by itself; UINT64_MAX: never.
 */
uint64_t own_wanted(struct own_processes *o, uint32_t place, uint64_t now, uint64_t *ret_due);

#endif
