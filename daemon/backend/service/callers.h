/* SPDX-License-Identifier: MIT */
/*
 * callers.h - the calls of a session to services: its part of their way.
 *
 * A session has at most CALLER_CALLS calls of one caller on their way; other jobs wait for a free
 * one.  When a call has come back with results, the reactor copies them into the job's tensors, and
 * the server is told that it can use their memory again.
 *
 * Only the thread of the caller's reactor calls these.
 */
#ifndef QUOITD_CALLERS_H
#define QUOITD_CALLERS_H

#include "session/owner.h"
#include "session/services.h"

/* ---- letters (exchange.h) ---- */

/* A call has come back. */
void caller_done(struct reactor *r, struct service_call *call);

/* Its server has heard that the results are copied: the call is free. */
void caller_free_call(struct reactor *r, struct service_call *call);

/* The home of an object has given back what the session held. */
void caller_left(struct reactor *r, struct caller *caller);

/* The service has heard that the call is not to begin. */
void caller_withdrawn(struct reactor *r, struct service_call *call);

/* ---- for the reactor and the control thread's letters ---- */

/* The session calls a service from now on. */
void caller_add(struct session *s, struct caller *caller);

/* It calls it no longer: jobs that no call has yet are cancelled, the others come back. */
void caller_close(struct reactor *r, struct session *s, uint32_t index);

/* A job that calls a service has come into the table: note which one. */
void callers_enter(struct session *s, struct job *job);

/* The control thread has freed the callers that it was told of. */
void callers_heard(struct reactor *r);

#endif
