/* SPDX-License-Identifier: MIT */
/* backend_call.h - calls of a program's own functions: what the reactor asks besides backend.h */
#ifndef QUOITD_BACKEND_CALL_H
#define QUOITD_BACKEND_CALL_H

#include "base/fault.h"
#include "session/owner.h"

/* End the call that this RETURN names, and post the next ones.  0, or fault->code. */
int call_return(struct reactor *r, struct ring *ring, const struct quoit_sqe *sqe,
		struct fault *fault);

#endif
