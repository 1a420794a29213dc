/* SPDX-License-Identifier: MIT */
/*
 * backend_exec_memory.h - which executor has mapped which session's memory; for the reactor only.
 */
#ifndef QUOITD_BACKEND_EXEC_MEMORY_H
#define QUOITD_BACKEND_EXEC_MEMORY_H

#include "exec_port.h"
#include "session/session.h"

/*
 * Do the session's jobs on its device go to this executor?  A session that brings kernels uses its
 * user's own executors.  Every module serves all sessions.
 */
static inline bool exec_serves(const struct exec_port *p, const struct session *s)
{
	return !p->device || p->number == s->first_device + p->device - 1;
}

/* Is the process shared, or this session's user's?  If not, it is still the previous user's. */
static inline bool exec_is_for(const struct exec_port *p, const struct session *s)
{
	return !p->owner || p->owner == s->uid + UINT64_C(1);
}

/* Map the session's memory in the executor.  0: it is mapped; -EBUSY: try again later. */
int exec_map(struct exec_port *p, struct session *s);

/* The executor has answered UNMAP for this slot; false: it was not asked. */
bool exec_unmapped(struct exec_port *p, uint32_t slot);

/* The executor is dead: no session is mapped there any more. */
void exec_forget_all(struct exec_port *p);

#endif
