/* SPDX-License-Identifier: MIT */
/* callers_private.h - what callers*.c do for the backend (backend_service.c), and for each other */
#ifndef QUOITD_CALLERS_PRIVATE_H
#define QUOITD_CALLERS_PRIVATE_H

#include "session/owner.h"
#include "session/services.h"

/* ---- callers.c: calls go ---- */

/* The caller of a job; NULL: it was closed. */
struct caller *caller_of(const struct session *s, const struct job *job);

bool caller_is_of_queue(const struct caller *c);
bool caller_is_of_keyspace(const struct caller *c);

/* The call of a job that runs. */
struct service_call *caller_call_of(const struct session *s, const struct job *job);

/* Its turn comes, and it ends without running. */
void caller_cancel_job(struct session *s, struct job *job);

/* Send what there are free calls for, or let it end without running. */
void caller_send_ready(struct reactor *r, struct caller *c);
void caller_cancel_ready(struct session *s, struct caller *c);

/* As the hook of backend.h. */
int callers_start(struct reactor *r, struct session *s, struct job *job);

/* ---- callers_back.c: they come back ---- */

/* Go on with calls and results that had to wait; true: something was done. */
bool callers_advance(struct reactor *r, struct session *s);

/* End the jobs that were not to end while memory was tidied. */
void callers_end_held_back(struct reactor *r, struct session *s);

/* ---- callers_leave.c: they are not wanted any more ---- */

/* As the hooks of backend.h. */
bool callers_can_be_late(const struct job *job);
uint64_t callers_late(struct reactor *r, struct session *s, struct job *job, bool *ret_posted);
bool callers_cancel(struct reactor *r, struct session *s, struct job *job);
void callers_abandon(struct reactor *r, struct session *s);

/* Tell services which calls are not to begin; true: there were some. */
bool callers_withdraw(struct reactor *r);

/* The session leaves; its callers go as soon as all their calls have come back. */
void callers_leave(struct reactor *r, struct session *s);

/* Let go of tensors that were closed before the session had freed them; true: there were some. */
bool callers_let_go(struct reactor *r, struct session *s);

/* A session has it no more; no session has it, and all its calls have come back. */
void caller_detach(struct caller *c);
void caller_goes(struct reactor *r, struct caller *c);

#endif
