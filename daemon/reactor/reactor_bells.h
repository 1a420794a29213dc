/* SPDX-License-Identifier: MIT */
/*
 * reactor_bells.h - wakes and hears clients: the reactor itself or, once a user's wake-ups are
 * dear, the thread for them (bells.h).  Only the reactor's own thread calls these.
 */
#ifndef QUOITD_REACTOR_BELLS_H
#define QUOITD_REACTOR_BELLS_H

#include "reactor.h"

/* A ring's socket has become readable or has hung up: take what is there and look at the ring. */
void reactor_bells_hear(struct reactor *r, struct ring *ring, bool hung_up);

/* Take the thread's answers.  True: there was one. */
bool reactor_bells_answers(struct reactor *r);

/* A user comes, or leaves: a user whose wake-ups were dear is still known when it comes back. */
void reactor_bells_meet(struct reactor *r, struct tenant *t);
void reactor_bells_leave(struct reactor *r, const struct tenant *t);

#endif
