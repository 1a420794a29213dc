/* SPDX-License-Identifier: MIT */
/*
 * object_calls.h - calls of objects (session/objects.h), at their home.
 *
 * Only the home's thread calls these; each is what a letter asks for (exchange.h).
 */
#ifndef QUOITD_OBJECT_CALLS_H
#define QUOITD_OBJECT_CALLS_H

#include "session/objects.h"
#include "session/owner.h"

/* A caller's call has come. */
void object_submit(struct reactor *r, struct service_call *call);

/* Its caller does not want it any more: it ends, if it waits. */
void object_withdraw(struct service_call *call);

/* Its caller's reactor has copied a message of a queue, or could not. */
void object_moved(struct service_call *call);

/* A session that had the object open has ended, or let go of it. */
void object_caller_leaves(struct caller *caller);

#endif
