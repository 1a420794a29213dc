/* SPDX-License-Identifier: MIT */
/*
 * sigbus_guard.h - survives the loss of memory that sessions use.
 *
 * Any access to a session's memory may raise SIGBUS: where a client's memory could not be sealed
 * against punching (shared.h), where a memory limit refuses a page, where a page is broken
 * (CONFIG_MEMORY_FAILURE), and where one that was swapped out cannot be read back.  The handler maps
 * zero pages over the fault and marks whose memory it is.  It never jumps, so a BLAS call simply goes
 * on with zeros.  What happens next depends on the owner:
 *
 *	a session             the job fails with -EFAULT, and the session ends
 *	a tensor with a name  each job that uses it fails with -EFAULT, of all sessions and from now on;
 *	                      its name is free, and the sessions go on (named_tensor_lose)
 *
 * The latter is found out by sigbus_guard_result, whenever a job has used memory.  A session without
 * such tensors pays one load of a byte for both questions.
 *
 * Between sigbus_guard_enter and sigbus_guard_leave the calling thread may touch that session's mappings, and
 * after sigbus_guard_rings the memory of those rings at any time.  A SIGBUS elsewhere is a bug of ours and
 * kills the daemon.
 */
#ifndef QUOITD_SIGBUS_GUARD_H
#define QUOITD_SIGBUS_GUARD_H

#include "session/named_tensor.h"
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
	return __atomic_load_n(&s->loss, __ATOMIC_RELAXED) & LOSS_OWN;
}

/* Is there a reason to ask the following?  One load.  Any thread may ask. */
static inline bool sigbus_guard_must_look(const struct session *s)
{
	return __atomic_load_n(&s->loss, __ATOMIC_RELAXED);
}

/*
 * Has it, or may a tensor with a name that it has be lost?  Any thread may ask; one that has just
 * used memory which is lost gets true.
 */
static inline bool sigbus_guard_may_have_hit(const struct session *s)
{
	const uint8_t loss = __atomic_load_n(&s->loss, __ATOMIC_RELAXED);

	return loss && (loss & LOSS_OWN || __atomic_load_n(&named_losses.count, __ATOMIC_ACQUIRE));
}

/* Is it a tensor with a name, and lost?  Its reactor only. */
static inline bool sigbus_guard_buffer_is_lost(const struct session *s, const struct buffer *b)
{
	const struct named_tensor *t = b->place == PLACE_NAMED ? s->named_range[b->named].of : NULL;

	return t && named_tensor_is_lost(t);
}

/* The rest of sigbus_guard_result, for which there seldom is a reason. */
int sigbus_guard_look(const struct session *s, uint8_t tensors, const uint32_t *view,
		      struct quoit_error *error);

/*
 * A job has used these tensors: 0, or -EFAULT if memory was lost, and *error says of which tensor.
 * Its reactor only.
 */
static inline int sigbus_guard_result(const struct session *s, uint8_t tensors,
				      const uint32_t *view, struct quoit_error *error)
{
	return __builtin_expect(sigbus_guard_may_have_hit(s), 0)
		       ? sigbus_guard_look(s, tensors, view, error)
		       : 0;
}

/*
 * The session may use this tensor as its number n.  NULL: it does not any more, before anybody can
 * free the tensor.  Its reactor only, while no job uses it.
 */
void sigbus_guard_name(struct session *s, uint32_t n, struct named_tensor *t);

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
