/* SPDX-License-Identifier: MIT */
/* callers_private.h - what callers.c does for the backend (backend_service.c) */
#ifndef QUOITD_CALLERS_PRIVATE_H
#define QUOITD_CALLERS_PRIVATE_H

#include "session/owner.h"
#include "session/services.h"

/* The caller of a job; NULL: it was closed. */
struct caller *caller_of(const struct session *s, const struct job *job);

/* As the hooks of backend.h. */
int callers_start(struct reactor *r, struct session *s, struct job *job);
bool callers_can_be_late(const struct job *job);
uint64_t callers_late(struct reactor *r, struct session *s, struct job *job, bool *ret_posted);
bool callers_cancel(struct reactor *r, struct session *s, struct job *job);
void callers_abandon(struct reactor *r, struct session *s);

/* Tell services which calls are not to begin; true: there were some. */
bool callers_withdraw(struct reactor *r);

/* Go on with calls and results that had to wait; true: something was done. */
bool callers_advance(struct reactor *r, struct session *s);

/* The session leaves; its callers go as soon as all their calls have come back. */
void callers_leave(struct reactor *r, struct session *s);

#endif
