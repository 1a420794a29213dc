/* SPDX-License-Identifier: MIT */
/*
 * servers.h - the rings that serve services: posts calls there, and takes what comes back.
 *
 * Only the thread of the ring's reactor calls these.
 */
#ifndef QUOITD_SERVERS_H
#define QUOITD_SERVERS_H

#include "base/fault.h"
#include "session/owner.h"
#include "session/services.h"

/* ---- letters (exchange.h) ---- */

/* A call comes from its service. */
void server_post(struct reactor *r, struct service_call *call);

/* The results of a call are copied. */
void server_taken(struct reactor *r, struct service_call *call);

/* ---- for the reactor and the control thread's letters ---- */

/*
 * A client asks to serve with the team of this ring: fill in the team's functions.  From then on the
 * session itself cannot call them.  0, or with ask->text: -EBADF: there is no such team; -EBUSY:
 * it serves already, or has calls of its own session; -EINVAL: its ring is too small.
 */
int server_ask(struct session *s, struct serve_ask *ask);

/* The ring serves from now on; NULL: it does not, and is the session's own team again. */
void server_begin(struct reactor *r, struct session *s, uint32_t ring, struct server *server);

/* End the call that this RETURN names; now: a time at which it was there.  0, or fault->code. */
int server_return(struct reactor *r, struct ring *ring, const struct quoit_sqe *sqe, uint64_t now,
		  struct fault *fault);

/* It takes no more calls: those that no thread has taken go to another server. */
void server_quit(struct reactor *r, struct ring *ring);

/* The ring goes: those that a thread has taken fail. */
void server_end(struct reactor *r, struct ring *ring);

/* The ring of a team has rung: if it serves, its functions that wait may have become more. */
void server_has_rung(struct reactor *r, struct ring *ring);

/* Look at some servers' threads, and tell all of callers that have left. */
bool servers_look(struct reactor *r);

/* The longest that the reactor may sleep because of them; UINT64_MAX: any. */
uint64_t servers_sleep_ns(const struct reactor *r);

/* With need_wake set: has no caller left of which a server is to be told? */
bool servers_may_sleep(struct reactor *r);

#endif
