/* SPDX-License-Identifier: MIT */
/*
 * memory.h - when a job gets its bytes.
 *
 * The theorem: a program that fits into its lease when its jobs run one at a time,
 * in fetch order, never gets -ENOMEM, however deep its queue; and a job that gets
 * -ENOMEM would have got it then too.  Why it holds:
 *
 *   - a create costs nothing; bytes are reserved for the first job that touches the
 *     buffer, and strictly in fetch order: who does not fit waits at the head of a
 *     queue, and nobody fetched later gets bytes before it;
 *   - bytes released by a free go only to jobs fetched after that free: while an
 *     older job waits they stay charged, parked on the last job that waited when
 *     the free was fetched;
 *   - so when everything fetched before the head has ended, exactly those bytes are
 *     charged that a run one at a time would have charged there.  If the head does
 *     not fit then, it never would have;
 *   - everything before the head has its bytes and waits for older jobs only, so it
 *     ends: no deadlock.
 *
 * Charged are whole size classes, so fragmentation cannot break this (region.h).  Bytes of
 * the pinned region are counted apart, in whole pages, but wait in the same queue: the head
 * gets all that it lacks of both kinds at once, or nothing.  Pinned bytes that are there but
 * not in one place are moved together once everything before the head has ended
 * (memory_pinned.h), so that cannot break it either.
 * Where the lease grows (lease.h), all this is true of what of it was promised.  What comes beyond
 * that only adds bytes: who gets -ENOMEM did not fit when everything before it had ended, and the
 * user's budget had no more.  While more is asked for, the head waits; the answer comes whatever
 * other sessions do, so that there is no deadlock.
 *
 * Free pieces that keep their pages are given back before the resident bytes would
 * exceed the lease; that is waiting for pages, not for bytes.
 *
 * Owned by the session's reactor.
 */
#ifndef QUOITD_MEMORY_H
#define QUOITD_MEMORY_H

#include "memory_thread.h"
#include "session/session.h"

/* Pages up to here are taken in the reactor itself; more in the memory thread. */
#define MEMORY_INLINE_BYTES (64u << 10)

typedef void memory_ready_fn(struct session *s, struct job *job);

/*
 * Try to give all buffers of a job that have none their bytes, with their pages, at once.
 * False: it must go through memory_admit, and no buffer has got any.
 */
bool memory_take_now(struct session *s, uint8_t tensors, const uint32_t *view);

/* The same for one buffer that has none. */
bool memory_take_one(struct session *s, struct buffer *b);

/* For tests (config.h, eager): give a new buffer its bytes, whatever the lease says. */
void memory_take_eagerly(struct session *s, struct buffer *b);

/* A new job's buffers: reserve what fits, else queue the job; job->waits goes up. */
void memory_admit(struct session *s, struct job *job);

/*
 * Does the job write all of tensor i's buffer, without reading it?  A client's kernel may say so:
 * it is not believed, or it could read there what was somebody's.
 */
bool memory_is_overwritten(const struct session *s, const struct job *job, unsigned i);

/* Does any buffer of the job still lack its bytes? */
bool memory_lacking(const struct session *s, const struct job *job);

/*
 * What the job waits for has changed: count it as waiting for memory if that is all that it waits
 * for.  Nearly always there is nothing to do.
 */
void memory_count(struct session *s, struct job *job, uint64_t now);

static inline void memory_recount(struct session *s, struct job *job, uint64_t now)
{
	if (job->memory_waits || job->allocating)
		memory_count(s, job, now);
}

/* Go on with the queue after something was released or has ended, and while memory.more says so. */
void memory_advance(struct session *s, memory_ready_fn *ready);

/* The last tensor of a buffer was freed by the SQE being fetched: remember who waits. */
void memory_mark_free(struct session *s, struct buffer *b);

/* A buffer has no views left: its bytes come back, now or when older jobs have theirs. */
void memory_release(struct session *s, uint32_t buffer);

/*
 * Nothing uses the session's region any more: have it given back.  True once that is done;
 * until then ask again after the answers.
 */
bool memory_close(struct session *s);

/* An answer of the memory thread. */
void memory_answer(struct session *s, const struct memory_message *m, memory_ready_fn *ready);

/* Once a second or so: give back cached pieces beyond the recent peak. */
void memory_trim(struct session *s);

#endif
