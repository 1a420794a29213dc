/* SPDX-License-Identifier: MIT */
/*
 * bridge.h - copies from one device of a session to another.
 *
 * Each device has a process of its own.  Where the target's process reaches the source's memory, a
 * large copy is one request to it, after the source's process has named the buffer:
 *
 *	ASKS ──EXPORT to the source──► ASKED ──answer──► KNOWS ──request to the target──► COPIES
 *	     ──answer──► DONE
 *
 * Every other copy, and one that turns out not to reach its source, goes in parts through the
 * session's bridge, host memory that both processes reach.  While one part is written to the
 * target, the next is read from the source:
 *
 *	FREE ──request to the source──► COMES ──answer──► HERE ──request to the target──► GOES
 *	     ──answer──► FREE
 *
 * A session has one bridge, made and charged with it where there are two devices or more; copies
 * take its parts in turn.  A copy follows no stream's order, since it would have to be in two: it
 * begins when all jobs that it waits for have ended, and jobs that wait for it go on when it has
 * ended.  It fails as one job, with its first error, and ends when no device has any of it.
 */
#ifndef QUOITD_BRIDGE_H
#define QUOITD_BRIDGE_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/device.h>

#include "config/config.h"

struct exec_port;
struct job;
struct quoit_error;
struct reactor;
struct session;

/* The executor number of such a copy: no executor has it. */
#define BRIDGE_EXECUTOR CONFIG_EXECUTORS

/* For 512 KiB the two round trips are a small part of the time, even on the fastest bus. */
#define BRIDGE_PARTS      4u
#define BRIDGE_PART_BYTES (UINT64_C(512) << 10)
#define BRIDGE_BYTES      (BRIDGE_PARTS * BRIDGE_PART_BYTES)

/* Smaller copies take no longer in parts. */
#define BRIDGE_PEER_LEAST (2 * BRIDGE_PART_BYTES)

/* The state of a copy that the target's process reads itself. */
enum bridge_peer {
	BRIDGE_PEER_NONE, /* it goes in parts */
	BRIDGE_PEER_ASKS,
	BRIDGE_PEER_ASKED,
	BRIDGE_PEER_KNOWS,
	BRIDGE_PEER_COPIES,
	BRIDGE_PEER_DONE,
};

enum bridge_state { BRIDGE_FREE, BRIDGE_COMES, BRIDGE_HERE, BRIDGE_GOES };

struct bridge_part {
	uint32_t job;
	uint8_t state;   /* enum bridge_state */
	uint64_t offset; /* of its bytes in the copy */
	uint64_t bytes;
};

struct bridge {
	int fd;         /* -1: there is none; only executors map it */
	uint32_t job;   /* the copy that is being read; NIL: none */
	uint64_t taken; /* bytes of it that have, or had, a part */
	bool clearing;  /* a buffer of that job is being cleared */
	uint8_t peer;   /* enum bridge_peer */
	uint32_t asked; /* the EXPORT's id */
	struct quoit_device_export from;
	struct bridge_part part[BRIDGE_PARTS];
};

/* ---- the control thread's ---- */

void bridge_init(struct bridge *b);

/* Make its memory, BRIDGE_BYTES; bridge.fd is the session's to close.  0 or -errno. */
int bridge_open(struct bridge *b);

/* ---- the reactor's ---- */

/* Go on with the session's copies as far as there is room; true: something was done. */
bool bridge_advance(struct reactor *r, struct session *s);

/*
 * A request of a copy has been answered, or its executor has died; res and error say how.  leg: as
 * given to exec_send_leg.
 */
void bridge_end_leg(struct reactor *r, struct session *s, struct job *job, uint8_t leg, int32_t res,
		    const struct quoit_error *error);

/*
 * A device's process has died, and its flights have ended: fail the copies that still have to read
 * there, or have written there.  Call it before device_lose_memory.
 */
void bridge_lose_device(struct reactor *r, const struct exec_port *p, int32_t code);

#endif
