/* SPDX-License-Identifier: MIT */
/*
 * objects.h - things with a name by which sessions wait for each other, or give each other data:
 * locks, flags, semaphores, barriers, queues, tensors, keyspaces.
 *
 * An object is a service without processes: its home itself does what a call asks for, at once or
 * when its turn has come.  So waiting costs no thread and no look, and a call may have a deadline,
 * be cancelled, and be ordered by the data as any other.
 */
#ifndef QUOITD_OBJECTS_H
#define QUOITD_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/abi.h>

#include "services.h"

struct keyspace;
struct message_queue;
struct named_tensor;

/* A recursive lock may be held so often at a time. */
#define OBJECT_DEPTH 16u

/* The home's; `kind`, `parties` and `most` never change. */
struct object {
	uint8_t kind;                     /* enum quoit_sync_kind */
	bool recursive;                   /* of a lock; */
	bool undoes;                      /* of a semaphore; both never change */
	bool owner_died;                  /* of a lock: the next holder is told so */
	bool is_set;                      /* of a flag */
	uint32_t depth;                   /* of a lock: how often its holder has it, */
	uint32_t held_with[OBJECT_DEPTH]; /* and the token of each call that locked it */
	uint32_t parties;                 /* of a barrier; */
	uint32_t arrived;                 /* so many of them wait */
	_Atomic uint32_t deaths;          /* of sessions that had it open; any thread may read it */
	uint64_t count;                   /* of a semaphore, */
	uint64_t most;                    /* and the most that it may be */
	struct caller *holder;            /* of a lock; NULL: it is free */
	struct message_queue *queue;      /* of a queue; never changes */
	struct named_tensor *tensor;      /* of a tensor; never changes */
	struct keyspace *keyspace;        /* of a keyspace; never changes */
	struct call_queue waiting;
	struct call_queue condition[QUOIT_CONDITIONS]; /* of a lock: they wait to be notified */
	/* Any thread may read these: the holder's process, and what the tools show. */
	_Atomic uint32_t shown_holder;
	_Atomic uint64_t shown_value, shown_bytes;
};

/* Can an object of this kind do it? */
bool object_has_op(const struct object *o, uint8_t op);

/* Is it answered at once?  Then it may be what others wait for.  Of a keyspace: it has a value. */
bool object_is_prompt(uint8_t op);

/* "lock", ...; 0: "service" */
const char *object_kind(enum quoit_sync_kind kind);

/* Let a service have what objects can do as its functions; in the order of enum quoit_sync_op. */
void object_fill_functions(struct service_functions *ret);

#endif
