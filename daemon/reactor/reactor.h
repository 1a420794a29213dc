/* SPDX-License-Identifier: MIT */
/*
 * reactor.h - a pinned thread that owns sessions: it fetches their jobs, runs the short ones, hands
 * the long ones out, and posts the completions.
 *
 * Only the reactor touches its sessions' state, so the path needs no locks.
 */
#ifndef QUOITD_REACTOR_H
#define QUOITD_REACTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "session/owner.h"

/* One pass spends at most so long on letters, on leaving sessions and on deadlines, whatever the
 * user; it overruns by at most one of them. */
#define REACTOR_TURN_NS 50000u

/* Start the reactor's thread; returns once it is on its CPU.  0 or -errno. */
int reactor_start(struct reactor *r);
void reactor_stop(struct reactor *r);

/* Run one pass over everything; true: there was work. */
bool reactor_pass(struct reactor *r);

/* Check soon whether this session, or a ring of it, can leave now. */
void reactor_look(struct reactor *r, struct session *s);

/* As reactor_charge, where the session surely has nothing new to start. */
void reactor_charge_only(struct reactor *r, struct session *s);

/* Charge the session and its user for so many ticks that were spent on it between two passes. */
void reactor_bill(struct reactor *r, struct session *s, uint64_t ticks);

/* The session is about to leave: charge it for the time until now, and for nothing more. */
void reactor_discharge(struct reactor *r, const struct session *s);

/* Has this user had its turn of the stage, while other users have sessions here? */
bool reactor_turn_is_over(struct reactor *r, const struct tenant *t);

#endif
