/* SPDX-License-Identifier: MIT */
/*
 * reactor_bells.h - wake-ups of clients, by the reactor itself or, once a user's are dear, by the
 * thread for them (bells.h).  Only the reactor's own thread calls these.
 */
#ifndef QUOITD_REACTOR_BELLS_H
#define QUOITD_REACTOR_BELLS_H

#include "reactor.h"

/* Wake the client of a ring that sleeps (BELL_WAKE), or ring its armed descriptor (BELL_RING). */
void reactor_bells_ring(struct ring *ring, unsigned op);

/* A ring's socket has something: take it, and look at the ring. */
void reactor_bells_hear(struct reactor *r, struct ring *ring, bool hung_up);

/* What the thread has done.  True: something. */
bool reactor_bells_answers(struct reactor *r);

/* A user comes and leaves: whose wake-ups were dear, is not a new one when it comes again. */
void reactor_bells_meet(struct reactor *r, struct tenant *t);
void reactor_bells_leave(struct reactor *r, const struct tenant *t);

#endif
