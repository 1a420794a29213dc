/* SPDX-License-Identifier: MIT */
/* launcher_memory.h - device memory of sessions */
#ifndef QUOIT_EXEC_LAUNCHER_MEMORY_H
#define QUOIT_EXEC_LAUNCHER_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/exec.h>

#include "launcher_queue.h"
#include "store/sizeclass.h"

struct launcher;

/* A buffer of a session, by channel and slot. */
struct device_buffer {
	uint64_t address; /* 0: it has no memory */
	uint64_t bytes;
	bool dirty;                 /* it may have another session's old contents */
	struct flight_name cleaner; /* the flight that cleared it; others follow that */
};

struct holding {
	struct device_buffer *buffer;
	uint32_t count;
	struct device_buffer slab; /* cleared as one */
	/* launcher_reach.c: enum reach, one for each stretch of a region; NULL: none is known */
	uint8_t *reach[QUOIT_EXEC_REGIONS];
	uint32_t next_leaving; /* the next holding in launcher.leaving */
	/* launcher_turns.c */
	struct queue held, passed; /* flights; those in `passed` were looked at in this pass */
	uint32_t user;             /* its user */
	uint32_t next;             /* the next holding in that user's turns */
	bool has_turn;             /* it is in a queue of that user's turns */
	bool progressed;           /* a flight of it was put into a stream in this pass */
};

/* Freed device memory by size class, last in first out. */
struct pool {
	struct {
		uint64_t *address;
		uint32_t count, room;
	} free[SIZECLASS_NR];
	uint64_t cached, used, most; /* bytes: free here, in use, and in use at most */
};

/*
 * The address of a session's device buffer, which is made now if it has no memory.  0; -ENOMEM;
 * -EPROTO: it would lie outside the slab.
 */
int holding_find(struct launcher *l, uint32_t holding, uint32_t buffer, uint64_t bytes,
		 uint64_t *ret);

/* The buffer, valid until the next holding_find; NULL: it has no memory.  _drop: free it. */
struct device_buffer *holding_look(struct launcher *l, uint32_t holding, uint32_t buffer);
void holding_drop(struct launcher *l, uint32_t holding, uint32_t buffer);

/* The session leaves: free all that it has on the device. */
void holding_leave(struct launcher *l, uint32_t holding);
void holdings_close(struct launcher *l);

#endif
