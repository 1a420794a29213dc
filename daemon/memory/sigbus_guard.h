/* SPDX-License-Identifier: MIT */
/*
 * sigbus_guard.h - survives the loss of memory that a client can take away from us.
 *
 * Any access to a session's memory may raise SIGBUS: where a client's memory could not be sealed
 * against punching (shared.h), and where a memory limit refuses a page.  The handler maps zero
 * pages over the fault and marks the session.  It never jumps, so a BLAS call simply goes on with
 * zeros.  The job then fails with -EFAULT, and the session ends.
 *
 * Between sigbus_guard_enter and sigbus_guard_leave the calling thread may touch that session's mappings, and
 * after sigbus_guard_rings the memory of those rings at any time.  A SIGBUS elsewhere is a bug of ours and
 * kills the daemon.
 */
#ifndef QUOITD_SIGBUS_GUARD_H
#define QUOITD_SIGBUS_GUARD_H

#include "session/session.h"

/* Install the handler.  0 or -errno. */
int sigbus_guard_init(void);

/*
 * Let the calling thread read these rings' memory at any time.  Both arguments stay where they are
 * while the thread lives, and only this thread changes what they point to.
 */
void sigbus_guard_rings(struct ring *const *rings, const uint32_t *count);

/* Has the session lost memory?  Any thread may ask. */
static inline bool sigbus_guard_has_hit(const struct session *s)
{
	return __atomic_load_n(&s->vanished, __ATOMIC_RELAXED);
}

extern _Thread_local struct session *sigbus_guard_session;

/* Guards nest: pass the result to sigbus_guard_leave. */
static inline struct session *sigbus_guard_enter(struct session *s)
{
	struct session *outer = sigbus_guard_session;

	sigbus_guard_session = s;
	return outer;
}

extern _Thread_local struct session *sigbus_guard_source;

/*
 * Let the calling thread read the memory of this session, too (NULL: of none); returns the one that
 * it could read before.
 */
static inline struct session *sigbus_guard_read_from(struct session *s)
{
	struct session *before = sigbus_guard_source;

	sigbus_guard_source = s;
	return before;
}

static inline void sigbus_guard_leave(struct session *outer)
{
	sigbus_guard_session = outer;
}

#endif
