/* SPDX-License-Identifier: MIT */
/*
 * backend_exec_memory.h - which executor has which session's memory.  The reactor's.
 */
#ifndef QUOITD_BACKEND_EXEC_MEMORY_H
#define QUOITD_BACKEND_EXEC_MEMORY_H

#include "exec_port.h"
#include "session/session.h"

/*
 * Is it this executor that a session's jobs on its device go to?  Sessions that bring kernels
 * have one of their user's own.  Every module serves everybody.
 */
static inline bool exec_serves(const struct exec_port *p, const struct session *s)
{
	return !p->device || p->number == s->first_device + p->device - 1;
}

/* Is it the process of this session's user, or everybody's?  Else it is who was here before. */
static inline bool exec_is_for(const struct exec_port *p, const struct session *s)
{
	return !p->owner || p->owner == s->uid + UINT64_C(1);
}

/* See to it that the executor has the session's memory; -EBUSY: try again later. */
int exec_map(struct exec_port *p, struct session *s);

/* UNMAP was answered; false: it was not asked. */
bool exec_unmapped(struct exec_port *p, uint32_t slot);

/* It is dead: nobody is mapped there any more. */
void exec_forget_all(struct exec_port *p);

#endif
