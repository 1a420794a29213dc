/* SPDX-License-Identifier: MIT */
/* reactor_leave.h - rings and sessions go, each once nothing of it is in use */
#ifndef QUOITD_REACTOR_LEAVE_H
#define QUOITD_REACTOR_LEAVE_H

#include "reactor.h"

/* Is it still among the sessions here? */
bool reactor_has(const struct reactor *r, const struct session *s);

/* A session has come. */
void reactor_take_in(struct reactor *r, struct session *s);

/* A ring is to go once its jobs have ended; the letter is answered then. */
void reactor_close_ring(struct reactor *r, struct session *s, uint32_t index);

/* The same of a session; type: MAIL_CLOSE with its flags, or MAIL_DEAD. */
void reactor_end_session(struct reactor *r, struct session *s, uint8_t type, uint32_t flags);

/* The daemon ends: nothing more is fetched, and the session goes when its jobs have ended. */
void reactor_drain(struct reactor *r, struct session *s);

/* And now all of them have their CQEs, whether they have ended or not. */
void reactor_cut(struct reactor *r, struct session *s);

/*
 * Look at those of which something has been done since they were looked at last, and let go who can
 * go.  True: a session has gone, or some are left for the next pass.
 */
bool reactor_let_go(struct reactor *r);

#endif
