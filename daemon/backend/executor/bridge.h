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
 * A session has one bridge (session_device.h), made and charged with it where there are two devices or more; copies
 * take its parts in turn.  A copy follows no stream's order, since it would have to be in two: it
 * begins when all jobs that it waits for have ended, and jobs that wait for it go on when it has
 * ended.  It fails as one job, with its first error, and ends when no device has any of it.
 */
#ifndef QUOITD_BRIDGE_H
#define QUOITD_BRIDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session_device.h"

struct exec_port;
struct job;
struct quoit_error;
struct reactor;
struct session;

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
