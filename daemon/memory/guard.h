/* SPDX-License-Identifier: MIT */
/*
 * guard.h - memory that a client can take away under us.
 *
 * Where a client's memory could not be sealed against punching (shared.h), and where pages are
 * refused by a memory limit, any access to a session's memory may raise SIGBUS.
 * The handler maps zero pages over the fault and marks the session; it never
 * jumps, so a BLAS call in the middle just goes on with zeros.  The job then fails
 * with -EFAULT and the session ends.
 *
 * Between guard_enter and guard_leave the calling thread may touch that session's
 * mappings, and after guard_rings the memory of those rings at any time; a SIGBUS
 * elsewhere is a bug of ours and kills the daemon.
 */
#ifndef QUOITD_GUARD_H
#define QUOITD_GUARD_H

#include "session/session.h"

/* Install the handler; -errno. */
int guard_init(void);

/*
 * The calling thread looks at the words of these rings; both stay where they are for as
 * long as it lives, and change by this thread only.
 */
void guard_rings(struct ring *const *rings, const uint32_t *count);

/* Has a client's memory gone away?  Any thread may ask. */
static inline bool guard_has_hit(const struct session *s)
{
	return __atomic_load_n(&s->vanished, __ATOMIC_RELAXED);
}

extern _Thread_local struct session *guard_session;

/* Returns what guard_leave needs: guards nest. */
static inline struct session *guard_enter(struct session *s)
{
	struct session *outer = guard_session;

	guard_session = s;
	return outer;
}

static inline void guard_leave(struct session *outer)
{
	guard_session = outer;
}

#endif
