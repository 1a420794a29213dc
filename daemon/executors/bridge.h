/* SPDX-License-Identifier: MIT */
/*
 * bridge.h - copies from one device of a session to another.
 *
 * Each device is another process's.  A large copy between devices of which the target's process
 * reads the source's memory is one request to it, once the source's has named the buffer:
 *
 *	ASKS ──EXPORT to the source──► ASKED ──answer──► KNOWS ──request to the target──► COPIES
 *	     ──answer──► DONE
 *
 * What else goes from one to the other, and what turns out not to be reached, passes through host
 * memory that both reach, the session's bridge, in parts: while one is written to the one device,
 * the next is read from the other.
 *
 *	FREE ──request to the source──► COMES ──answer──► HERE ──to the target──► GOES ──answer──►
 *FREE
 *
 * A bridge is made, and charged, with its session where there are two devices or more; a session
 * has one, and copies take its parts in turn.  A copy is in no stream's order, since it would have
 * to be in two: it begins when all that it waits for has ended, and who waits for it goes on when
 * it has ended.  It fails as one job, by what went wrong first, and ends when nothing of it is with
 * a device any more.
 */
#ifndef QUOITD_BRIDGE_H
#define QUOITD_BRIDGE_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/device.h>

#include "host/config.h"

struct exec_port;
struct job;
struct quoit_error;
struct reactor;
struct session;

/* Who runs such a copy: an executor's number that none has. */
#define BRIDGE_EXECUTOR CONFIG_EXECUTORS

/* Of 512 KiB the two round trips are a small part of the time, also on the fastest bus. */
#define BRIDGE_PARTS      4u
#define BRIDGE_PART_BYTES (UINT64_C(512) << 10)
#define BRIDGE_BYTES      (BRIDGE_PARTS * BRIDGE_PART_BYTES)

/* Smaller copies take as long in parts. */
#define BRIDGE_PEER_LEAST (2 * BRIDGE_PART_BYTES)

/* How far the copy is that is being read by the target itself. */
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
	uint32_t job;   /* whose bytes are being read, NIL: nobody's */
	uint64_t taken; /* so many of them have, or had, a part */
	bool clearing;  /* a buffer of that job's is being cleared */
	uint8_t peer;   /* enum bridge_peer */
	uint32_t asked; /* the EXPORT's id */
	struct quoit_device_export from;
	struct bridge_part part[BRIDGE_PARTS];
};

/* ---- the control thread's ---- */

void bridge_init(struct bridge *b);

/* Its memory; -errno. */
int bridge_open(struct bridge *b);

/* ---- the reactor's ---- */

/* Go on with the session's copies as far as there is room; true: something was done. */
bool bridge_advance(struct reactor *r, struct session *s);

/*
 * A request of a copy's has been answered, or its executor died: res and error say how.  leg: as
 * it was given to exec_send_leg.
 */
void bridge_end_leg(struct reactor *r, struct session *s, struct job *job, uint8_t leg, int32_t res,
		    const struct quoit_error *error);

/*
 * A device's process has died, and its flights have ended: copies fail that still have to read
 * there, or have written there.  Before its memory is given up for lost (device_lose_memory).
 */
void bridge_lose_device(struct reactor *r, const struct exec_port *p, int32_t code);

#endif
