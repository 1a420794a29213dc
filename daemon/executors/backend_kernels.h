/* SPDX-License-Identifier: MIT */
/*
 * backend_kernels.h - which process has which image and kernel: a session's table (kernels.h) is
 * brought there before the first job that needs it, and again to each process that follows.
 *
 * A process has one question open at a time, in which a client's own come first; jobs wait for
 * the answer as they do for room.  All functions are the reactor's.
 */
#ifndef QUOITD_BACKEND_KERNELS_H
#define QUOITD_BACKEND_KERNELS_H

#include "reactor/reactor.h"
#include "session/kernels.h"

/* A client's request; it is answered by MAIL_KERNELS, at once or when the process has answered. */
void kernels_ask(struct reactor *r, struct session *s, struct kernels_ask *ask);

/* Is there anything for kernels_advance? */
static inline bool kernels_wait(const struct session *s)
{
	return s->kernels && s->kernels->waits;
}

/* Go on with what the client has asked for; true: something was done. */
bool kernels_advance(struct reactor *r, struct session *s);

/*
 * See to it that the process has this kernel; the session is mapped there.  0: it has; -EBUSY: not
 * yet; else why it never will.
 */
int kernels_bring(struct exec_port *p, struct session *s, uint8_t number);

/* It has answered a LOAD or FIND; false: it was not asked. */
bool kernels_answered(struct exec_port *p, const struct quoit_exec_answer *a);

/* The process has nothing of the session any more, or is dead. */
void kernels_forget(struct exec_port *p, struct session *s);

#endif
