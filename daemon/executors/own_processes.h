/* SPDX-License-Identifier: MIT */
/*
 * own_processes.h - which users have device processes of their own, because sessions of theirs
 * bring kernels: whose fault such a process's end is, it is that user's.
 *
 * There is room for so many users at a time.  A user's processes are wanted as long as it has
 * such sessions and for a moment after the last, so that programs that follow each other find
 * them there; then, or as soon as another user needs the room, they end.
 *
 * Thread-safe.
 */
#ifndef QUOITD_OWN_PROCESSES_H
#define QUOITD_OWN_PROCESSES_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/config.h"

#define OWN_LINGER_NS UINT64_C(2000000000)

struct own_processes {
	pthread_mutex_t lock;
	struct own_user {
		uint64_t owner; /* 1 + uid; 0: nobody */
		uint32_t sessions;
		uint64_t left; /* CLOCK_BOOTTIME, when the last one went */
	} user[CONFIG_OWN_USERS];
};

void own_init(struct own_processes *o);
void own_done(struct own_processes *o);

/* A session comes: its user's place, counted from 0; -EUSERS: all are taken. */
int own_take(struct own_processes *o, uid_t uid);

/* It has gone, at this time. */
void own_give(struct own_processes *o, uid_t uid, uint64_t now);

/*
 * Whose processes there should be at this place: 1 + uid; 0: nobody's.  *ret_due is when that
 * may change by itself, UINT64_MAX: never.
 */
uint64_t own_wanted(struct own_processes *o, uint32_t place, uint64_t now, uint64_t *ret_due);

#endif
