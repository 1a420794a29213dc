/* SPDX-License-Identifier: MIT */
/*
 * backend_kernels.h - bring a session's images and kernels (kernels.h) to its device's process,
 * before the first job that needs them, and again to each process that follows.
 *
 * A process has one question open at a time; a client's own come before those for jobs.  Jobs wait
 * for the answer as they wait for room.  Only the reactor calls these functions.
 */
#ifndef QUOITD_BACKEND_KERNELS_H
#define QUOITD_BACKEND_KERNELS_H

#include "session/kernels.h"
#include "session/owner.h"

/* Take a client's request; MAIL_KERNELS answers it, at once or when the process has answered. */
void kernels_ask(struct reactor *r, struct session *s, struct kernels_ask *ask);

/* Has kernels_advance anything to do? */
static inline bool kernels_wait(const struct session *s)
{
	return s->kernels && s->kernels->waits;
}

/* Go on with the client's request and with removed images; true: something was done. */
bool kernels_advance(struct reactor *r, struct session *s);

/*
 * Bring this kernel to the process, where the session is mapped.  0: it is there; -EBUSY: not yet;
 * another error: why it never will be.
 */
int kernels_bring(struct exec_port *p, struct session *s, uint8_t number);

/* The process has answered a LOAD or FIND; false: it was not asked that. */
bool kernels_answered(struct exec_port *p, const struct quoit_exec_answer *a);

/* The process has nothing of the session any more, or is dead. */
void kernels_forget(struct exec_port *p, struct session *s);

#endif
