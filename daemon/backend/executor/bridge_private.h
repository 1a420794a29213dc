/* SPDX-License-Identifier: MIT */
/*
 * bridge_private.h - what the files behind bridge.h share: bridge.c (copies, in parts) and
 * bridge_peer.c (copies that the target's process reads itself).  For the reactor only.
 */
#ifndef QUOITD_BRIDGE_PRIVATE_H
#define QUOITD_BRIDGE_PRIVATE_H

#include "backend_exec.h"
#include "bridge.h"

/* Tensors of a copy. */
enum { TARGET, SOURCE };

/*
 * Leg numbers: the parts from 1, then the clearing of each tensor in a slab, then the requests of a
 * copy that does without parts.
 */
#define LEG_PART(part)    ((uint8_t)((part) + 1))
#define LEG_CLEAR(tensor) ((uint8_t)(BRIDGE_PARTS + 1 + (tensor)))
#define LEG_PEER          LEG_CLEAR(2)

/* ---- bridge.c ---- */

const struct view *bridge_view(const struct session *s, const struct job *job, unsigned tensor);
uint64_t bridge_bytes(const struct session *s, const struct job *job);
struct exec_port *bridge_port(struct reactor *r, struct session *s, const struct job *job,
			      unsigned tensor);

/* Send a request to the device of one tensor, as exec_send_leg does; type 0 means RUN. */
int bridge_send_leg(struct reactor *r, struct session *s, const struct job *job, unsigned tensor,
		    uint8_t leg, struct quoit_exec_request *q);

/* Fail the copy unless it has failed already; _for_want: this device's executor is missing. */
void bridge_fail(struct job *job, int32_t res, const struct quoit_error *error);
void bridge_fail_for_want(struct job *job, int32_t res, uint32_t device);

/* ---- bridge_peer.c ---- */

/* Is the copy large, and does the target's process reach the source's memory? */
bool bridge_peer_reaches(struct reactor *r, struct session *s, const struct job *job);

/* Go on with the copy that is being read; false: it waits for room, or for an answer. */
bool bridge_peer_advance(struct reactor *r, struct session *s, struct job *job);

/* bridge_end_leg, for LEG_PEER. */
void bridge_peer_end_leg(struct reactor *r, struct session *s, struct job *job, int32_t res,
			 const struct quoit_error *error);

#endif
