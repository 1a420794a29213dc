/* SPDX-License-Identifier: MIT */
/* reactor_leave.h - lets rings and sessions go, each once nothing of it is in use */
#ifndef QUOITD_REACTOR_LEAVE_H
#define QUOITD_REACTOR_LEAVE_H

#include "reactor.h"

/* Is the session still here? */
bool reactor_has(const struct reactor *r, const struct session *s);

/* Take in a session that has come. */
void reactor_take_in(struct reactor *r, struct session *s);

/* Let a ring go once its jobs have ended; the letter is answered then. */
void reactor_close_ring(struct reactor *r, struct session *s, uint32_t index);

/* The same for a session; type: MAIL_CLOSE with its flags, or MAIL_DEAD. */
void reactor_end_session(struct reactor *r, struct session *s, uint8_t type, uint32_t flags);

/* The daemon ends: fetch nothing more of this session, and let it go when its jobs have ended. */
void reactor_drain(struct reactor *r, struct session *s);

/* After reactor_drain: cancel all its open jobs, so that each has its CQE now. */
void reactor_cut(struct reactor *r, struct session *s);

/*
 * Look at leaving sessions for which something was done since the last look, and let those go that
 * can.  True: a session is gone, or some are left for the next pass.
 */
bool reactor_let_go(struct reactor *r);

#endif
