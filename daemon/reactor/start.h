/* SPDX-License-Identifier: MIT */
/* start.h - starts ready jobs: here, or with the workers, the kernel or an executor. */
#ifndef QUOITD_START_H
#define QUOITD_START_H

#include "reactor.h"

/*
 * Give each session of a user that may have something to do a turn; then start long jobs of all of
 * them while the workers have room.  True: something was done.
 */
bool start_turns(struct reactor *r, struct tenant *t);

/* The same, with a quick test first: in most passes there is nothing to start. */
static inline bool start_ready(struct reactor *r, struct tenant *t)
{
	return (t->turns[TURN_START].count || t->turns[TURN_PUBLISH].count) && start_turns(r, t);
}

/* Tell the workers, if it has changed, whether long jobs of the user wait for places there. */
void start_await(struct reactor *r, struct tenant *t);

#endif
