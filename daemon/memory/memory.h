/* SPDX-License-Identifier: MIT */
/*
 * memory.h - when a job gets its bytes.
 *
 * The theorem: a program that fits into its lease when its jobs run one at a time, in fetch order,
 * never gets -ENOMEM, however deep its queue; and a job that gets -ENOMEM would have got it then,
 * too.  Why it holds:
 *
 * - A create costs nothing.  Bytes are reserved for the first job that touches the buffer, and
 *   strictly in fetch order: a job that does not fit waits at the head of a queue, and no job
 *   fetched later gets bytes before it.
 * - Bytes released by a free go only to jobs fetched after that free.  While an older job waits
 *   they stay charged, parked on the last job that waited when the free was fetched.
 * - So when everything fetched before the head has ended, exactly those bytes are charged that a
 *   run one at a time would have charged there.  If the head does not fit then, it never would
 *   have.
 * - Everything before the head has its bytes and waits for older jobs only, so it ends: there is
 *   no deadlock.
 *
 * A hold (job/hold.h) does not count as a job before the head: its acquire has been granted, so it
 * has ended in the serial run, too.  So if only holds are left before a head that does not fit, it
 * is refused.  A job that waits for a hold is a job before the head: in the serial run it waits for
 * the release, and so does all behind it.  The head waits for it, and is not refused, since the
 * bytes of that job may come back.  This never ends only if the program waits for the head before
 * it releases; then the serial run does not end either.  Bytes of what is freed while it is held
 * come back by the release: they go to jobs that are fetched after both.
 *
 * Whole size classes are charged, so fragmentation cannot break this (region.h).  Bytes of the
 * pinned and of the shared region are counted apart, in whole pages, but wait in the same queue:
 * the head gets all that it lacks of every kind at once, or nothing.  Such bytes that are free but
 * not in one place are moved together once everything before the head has ended (memory_pinned.h),
 * so they cannot break it either.  The exception: pieces that the program holds stay where they
 * are, since it has their addresses.  An acquire is granted only after all jobs before it have got
 * their bytes, so only jobs after it find its piece in their way.  A head that finds no place
 * between held pieces is refused.  So for a program that holds tensors, the theorem counts the
 * longest place that they leave.
 *
 * If the lease grows (lease.h), all this holds for the promised part.  Bytes beyond it are only
 * added: a job that gets -ENOMEM did not fit when everything before it had ended, and the user's
 * budget had no more.  While more is asked for, the head waits.  The answer comes whatever other
 * sessions do, so there is no deadlock.
 *
 * Cached pieces are given back before the resident bytes would exceed the lease; then a job waits
 * for pages, not for bytes.
 *
 * Owned by the session's reactor.
 */
#ifndef QUOITD_MEMORY_H
#define QUOITD_MEMORY_H

#include "memory_thread.h"
#include "session/session.h"

/* Up to so many bytes get their pages in the reactor itself, more in the memory thread. */
#define MEMORY_INLINE_BYTES (64u << 10)

typedef void memory_ready_fn(struct session *s, struct job *job);

/*
 * Try to give all buffers of a job their bytes, with pages, at once.  tensors: bits of those to
 * look at.  False: no buffer has got any, and the job must go through memory_admit.
 */
bool memory_take_now(struct session *s, uint8_t tensors, const uint32_t *view);

/* The same for one buffer that has no bytes. */
bool memory_take_one(struct session *s, struct buffer *b);

/* For tests (config.h, eager): give a new buffer its bytes, whatever the lease says. */
void memory_take_eagerly(struct session *s, struct buffer *b);

/* Reserve bytes for a new job's buffers, or queue the job, so that job->waits goes up. */
void memory_admit(struct session *s, struct job *job);

/*
 * Does the job write all of tensor i's buffer without reading it?  A client's kernel is not
 * believed when it says so: it could read what another session left there.
 */
bool memory_is_overwritten(const struct session *s, const struct job *job, unsigned i);

/* Does any buffer of the job still lack its bytes? */
bool memory_lacking(const struct session *s, const struct job *job);

/*
 * The job's waits have changed: count it as waiting for memory exactly while it waits for nothing
 * else.  memory_recount skips the call where there is nothing to do, as nearly always.
 */
void memory_count(struct session *s, struct job *job, uint64_t now);

static inline void memory_recount(struct session *s, struct job *job, uint64_t now)
{
	if (job->memory_waits || job->allocating)
		memory_count(s, job, now);
}

/* Go on with the queue, after something was released or has ended, and while memory.more is set. */
void memory_advance(struct session *s, memory_ready_fn *ready);

/* The SQE being fetched frees the buffer's last tensor: remember the last job that waits now. */
void memory_mark_free(struct session *s, struct buffer *b);

/* A buffer has no views left: its bytes come back now, or when older jobs have theirs. */
void memory_release(struct session *s, uint32_t buffer);

/*
 * Nothing uses the session's region any more: have it given back.  True: that is done.  False: call
 * again after the next answers.
 */
bool memory_close(struct session *s);

/* Handle an answer of the memory thread. */
void memory_answer(struct session *s, const struct memory_message *m, memory_ready_fn *ready);

/* Give back cached pieces beyond the recent peak, once a second or so. */
void memory_trim(struct session *s);

#endif
