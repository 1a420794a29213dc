/* SPDX-License-Identifier: MIT */
/*
 * sync_load.h - processes that use the same locks, flags, semaphores and barriers, and see by words in
 * memory that they share whether these do what they should
 */
#ifndef TORTURE_SYNC_LOAD_H
#define TORTURE_SYNC_LOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <quoit.h>

#define SYNC_WORKERS 5u
#define SYNC_PERMITS 4u /* of each semaphore at first */
#define SYNC_PARTIES 3u /* of the barrier that not all come to */
#define SYNC_BUFFER  4u /* items between producers and consumers */
#define SYNC_ROUNDS  8u /* rounds of the barrier whose numbers are kept */

/* What workers do. */
#define SYNC_DO_LOCK      0x01u
#define SYNC_DO_RECURSIVE 0x02u
#define SYNC_DO_QUEUE     0x04u /* a bounded queue by two conditions */
#define SYNC_DO_SEMAPHORE 0x08u
#define SYNC_DO_UNDO      0x10u  /* a semaphore that undoes */
#define SYNC_DO_FLAGS     0x20u  /* a turn that goes round */
#define SYNC_DO_BARRIER   0x40u  /* of some; it may break */
#define SYNC_DO_ROUNDS    0x80u  /* of all; nothing else can be done beside it */
#define SYNC_DO_DATA      0x100u /* jobs under a lock, in the order of the data */

/* And what may happen to them. */
#define SYNC_MAY_LATE 0x1u /* jobs that wait have short times, deadlines, and are cancelled */
#define SYNC_MAY_DIE  0x2u /* processes are killed */

/* Only who has the lock may write here. */
struct sync_room {
	_Atomic pid_t owner; /* 0: nobody */
	/* They differ only while somebody is in it. */
	uint64_t first, second;
	_Atomic uint64_t told; /* so often that the owner had died */
};

/* All processes share it. */
struct sync_load {
	const char *socket;
	uint32_t does, may;
	int file; /* a number in it is counted up */
	atomic_bool stop;
	struct sync_room lock, recursive, queue;
	struct {
		uint64_t head, tail;
		uint64_t item[SYNC_BUFFER];
		uint64_t sum_in, sum_out;
	} buffer; /* only who has the queue's lock may touch it */
	_Atomic uint32_t turn;
	_Atomic uint64_t turns;
	_Atomic uint32_t seen[SYNC_ROUNDS];
	_Atomic uint64_t number[SYNC_WORKERS]; /* how often the barrier has given each number */
	struct {
		_Atomic pid_t pid;
		_Atomic uint64_t ended;          /* things done */
		_Atomic uint64_t counted;        /* in the file */
		_Atomic uint32_t inside, undone; /* permits that it has of the two semaphores */
		atomic_bool dying; /* it is about to be killed: what it has may be others' */
		char wrong[200];   /* "": nothing is */
	} worker[SYNC_WORKERS];
};

/* NULL: there is no memory.  sync_load_free frees it. */
struct sync_load *sync_load_new(const char *socket, uint32_t does, uint32_t may);
void sync_load_free(struct sync_load *l);

/* Start one in a process of its own.  It exits with 0 once it is told to stop. */
pid_t sync_load_start(struct sync_load *l, unsigned i);

/* Things done by now. */
uint64_t sync_load_ended(const struct sync_load *l);

/* What has come into a lock finds things as they should be, or has been told that they are not. */
const char *sync_room_enter(const struct sync_load *l, struct sync_room *room, int result);

/* ---- what they have open; a session of any process can ---- */

struct sync_things {
	struct quoit_session *s;
	struct quoit_ring *q;
	int lock, recursive, queue, data, semaphore, undo, barrier, rounds;
	int flag[SYNC_WORKERS];
};

/* 0, or quoitd's error. */
int sync_things_open(struct sync_things *t, const char *socket);

#endif
