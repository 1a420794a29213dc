/* SPDX-License-Identifier: MIT */
/*
 * start.h - starting what is ready: run here and now, or handed to the workers, to the kernel or to
 * an executor.
 */
#ifndef QUOITD_START_H
#define QUOITD_START_H

#include "reactor.h"

/*
 * A turn of each of a user's sessions that may have something to start or to go on with; then long
 * jobs of all of them while the workers have room.  True: something was done.
 */
bool start_turns(struct reactor *r, struct tenant *t);

/* The same where there may be nothing: in most passes there is not. */
static inline bool start_ready(struct reactor *r, struct tenant *t)
{
	return (t->turns[TURN_START].count || t->turns[TURN_PUBLISH].count) && start_turns(r, t);
}

#endif
