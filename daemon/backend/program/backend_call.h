/* SPDX-License-Identifier: MIT */
/* backend_call.h - calls of a program's own functions: what the reactor asks besides backend.h */
#ifndef QUOITD_BACKEND_CALL_H
#define QUOITD_BACKEND_CALL_H

#include "base/fault.h"
#include "session/owner.h"

/* End the call that this RETURN names; now: a time at which it was there.  0, or fault->code. */
int call_return(struct reactor *r, struct ring *ring, const struct quoit_sqe *sqe, uint64_t now,
		struct fault *fault);

/*
 * Post to this team what there is room for, after some of its calls have returned.  Those that have
 * failed meanwhile need no room.
 */
void call_post(struct reactor *r, struct ring *ring);

#endif
