/* SPDX-License-Identifier: MIT */
/*
 * sync.h - things with a name by which programs wait for each other: locks, flags, semaphores,
 * barriers, and queues of tensors.
 *
 *	int lock = quoit_open_lock(s, "ledger", NULL);
 *
 *	quoit_push(q, quoit_lock(lock, t));      // what follows on t runs under the lock
 *	quoit_push(q, quoit_add(t, t, x));
 *	quoit_push(q, quoit_unlock(lock, t));
 *
 *	quoit_run(q, quoit_lock(lock, 0), 1000); // or as plain calls
 *
 * A name belongs to a user: "ledger" is the caller's own user's, "alice/ledger" that of alice.  What
 * has it is made when the first session opens it, and goes with the last one that has it open.
 *
 * All that is done with it are jobs.  One that is given a tensor (t; or QUOIT_NO_TENSOR) waits for
 * all jobs before that use it, and those behind that use it wait for this one; its bytes are not
 * looked at, and the tensor may be on any device.  If the job fails, the tensor is poisoned, and if
 * it is poisoned, the job is not done; only an unlock and a give are.  A job may have a deadline, and
 * one that waits can be cancelled: then it ends with -ETIME or -ECANCELED and has not happened, or
 * it had happened by then, and ends with its result.  A job that waits costs no thread.  quoit_close
 * waits for it, as for all jobs, unless it is told to cancel them.  Only what sends or receives looks
 * at the bytes, and must have a tensor, on the host.
 *
 * Who holds something is a session, not a thread.  When it ends, or closes it, its locks are given
 * back, and the next holder is told (QUOIT_OWNER_DIED).
 */
#ifndef QUOIT_SYNC_H
#define QUOIT_SYNC_H

#include <quoit/service.h>

struct quoit_sync_params {
	uint32_t flags; /* QUOIT_SYNC_* */
	uint32_t mode;  /* who may open it besides its user and root: QUOIT_SERVE_*, as in */
	uint32_t gid;   /* quoit_serve_params */
	uint32_t reserved;
	/* a semaphore: how many it has at first; a barrier: how many parties; a queue: messages */
	uint64_t value;
	/* a semaphore: the most that it may have; 0: UINT64_MAX, or what it has.  A queue: bytes */
	uint64_t most;
};

/*
 * Open the lock of this name, or make it if there is none.  params may be NULL.  Returns its number,
 * for the builders below, until quoit_close_sync or quoit_close.  -EINVAL: the name or a parameter is
 * not allowed, or something else has the name; -ENOENT: it must exist, and does not, or this user may
 * not open it; -EEXIST: it must be new, and is not; -EPERM: the group is not one of this process's;
 * -ENFILE: the session has 64 services and things with a name, or the user 256; -EDQUOT: the user has
 * no memory left.  quoit_open_text says more.  Thread-safe, as all calls of a session.
 */
QUOIT_TO_CHECK int quoit_open_lock(struct quoit_session *s, const char *name,
				   const struct quoit_sync_params *params);

/* The same for a flag.  One that is made is clear. */
QUOIT_TO_CHECK int quoit_open_flag(struct quoit_session *s, const char *name,
				   const struct quoit_sync_params *params);

/* The same for a semaphore.  One that is there keeps its value and its most. */
QUOIT_TO_CHECK int quoit_open_semaphore(struct quoit_session *s, const char *name,
					const struct quoit_sync_params *params);

/*
 * The same for a barrier, whose parties params->value says.  -EINVAL: one that is there has others.
 * Of one session at most 56 arrive at a time.
 */
QUOIT_TO_CHECK int quoit_open_barrier(struct quoit_session *s, const char *name,
				      const struct quoit_sync_params *params);

/*
 * The same for a queue of tensors.  It is made with room for params->value messages (0: 64; at most
 * 65536) of params->most bytes together (0: 1 MiB; a multiple of 64), which are charged to this
 * user; one that is there keeps its sizes.  It ends with the last session that has it open, and what
 * is in it then is lost.
 */
QUOIT_TO_CHECK int quoit_open_queue(struct quoit_session *s, const char *name,
				    const struct quoit_sync_params *params);

/*
 * Let go of it, as often as it was opened; then what the session holds of it is given back as if the
 * session had ended, and jobs that wait fail with -ECANCELED.  -EINVAL, -EBADF: the session has none
 * of this number.
 */
int quoit_close_sync(struct quoit_session *s, int number);

/* ---- jobs: `number` is what quoit_open_* returned ---- */

/* Any of these jobs, as the builders below make them.  Without what arg and the scalars say. */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_sync_job(int number, enum quoit_sync_op op,
							   quoit_tensor t)
{
	return quoit_call(number < 0 ? number : number | (int)op, t, 0, 0, 0);
}

/*
 * Lock it: ends when the session has the lock.  Those who wait get it in the order in which they
 * asked.  The result is 0 or QUOIT_OWNER_DIED: the session that held it before has ended without
 * unlocking it, so what it protects may be half changed; its jobs have ended.  A session that nobody
 * else had it open with takes that with it.  -EAGAIN: the session has a recursive lock 16 times.
 *
 * If it fails, later jobs that read t fail, too; one that only writes t, such as quoit_read_file,
 * does not, nor does one without t.  So where it may fail, wait for its result first.
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_lock(int number, quoit_tensor t)
{
	return quoit_sync_job(number, QUOIT_SYNC_LOCK_IT, t);
}

/*
 * Unlock it.  t: the tensor that it was locked with, or a view of it; then it is done after all jobs
 * that use the tensor, and even if some of them have failed.  If the lock itself has failed, so does
 * this, and unlocks nothing.  Without a tensor, a lock that is not recursive is unlocked whatever it
 * was locked with.  -EPERM: the session does not hold the lock, or locked it with another tensor.  It
 * cannot be cancelled once it has begun.
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_unlock(int number, quoit_tensor t)
{
	return quoit_sync_job(number, QUOIT_SYNC_UNLOCK, t);
}

/*
 * Give up a lock that the session holds, wait until another session or ring notifies the condition
 * (0 to QUOIT_CONDITIONS - 1), and get it again: the result is as that of quoit_lock.  -ENOLCK: it
 * was late or was cancelled, also by quoit_run, after it had given the lock up: the session does not
 * hold it.  -EPERM: it did not hold it, as quoit_unlock.  After any other failure it still holds it;
 * -EDEADLK: it holds a recursive lock more than once.
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_wait_condition(int number, unsigned condition,
								 quoit_tensor t)
{
	struct quoit_sqe sqe = quoit_sync_job(number, QUOIT_SYNC_WAIT_CONDITION, t);

	sqe.arg = condition < QUOIT_CONDITIONS ? (uint8_t)condition : UINT8_MAX;
	return sqe;
}

/*
 * Of a lock that the session holds: let n of those who wait for the condition go on, those first who
 * have waited longest; UINT64_MAX: all.  They get the lock after those who wait for it already.
 * -EPERM: as quoit_unlock.
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_notify(int number, unsigned condition, uint64_t n,
							 quoit_tensor t)
{
	struct quoit_sqe sqe = quoit_sync_job(number, QUOIT_SYNC_NOTIFY, t);

	sqe.arg = condition < QUOIT_CONDITIONS ? (uint8_t)condition : UINT8_MAX;
	sqe.scalar[0] = n;
	return sqe;
}

/* Set a flag, which is clear at first: all who wait for it go on. */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_set_flag(int number, quoit_tensor t)
{
	return quoit_sync_job(number, QUOIT_SYNC_SET_FLAG, t);
}

/* Clear a flag. */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_clear_flag(int number, quoit_tensor t)
{
	return quoit_sync_job(number, QUOIT_SYNC_CLEAR_FLAG, t);
}

/* Wait for a flag: ends when it is set. */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_wait_flag(int number, quoit_tensor t)
{
	return quoit_sync_job(number, QUOIT_SYNC_WAIT_FLAG, t);
}

/*
 * Take n from a semaphore as soon as it has as many; those who wait get theirs in the order in which
 * they asked.  -EINVAL: it never has as many.
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_take(int number, uint64_t n, quoit_tensor t)
{
	struct quoit_sqe sqe = quoit_sync_job(number, QUOIT_SYNC_TAKE, t);

	sqe.scalar[0] = n;
	return sqe;
}

/*
 * Give n to a semaphore, whoever took them.  If t is poisoned, it gives only what the session has
 * taken.  -EOVERFLOW: it would have more than it may.
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_give(int number, uint64_t n, quoit_tensor t)
{
	struct quoit_sqe sqe = quoit_sync_job(number, QUOIT_SYNC_GIVE, t);

	sqe.scalar[0] = n;
	return sqe;
}

/*
 * Arrive at a barrier: ends when as many have arrived as it has parties.  The result is how many
 * arrived before.  -EPIPE: another one has given up waiting; -EOWNERDEAD: a session that had it open
 * has died, or has closed it while others waited.  A death is told to each session that has it open
 * once, when it waits or when it arrives next.  Those who arrive after that are the first again.
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_arrive(int number, quoit_tensor t)
{
	return quoit_sync_job(number, QUOIT_SYNC_ARRIVE, t);
}

/*
 * Send a copy of t, whole or not at all: waits while the queue is full, and ends when it has the
 * message.  Jobs of one ring send in the order in which they were put in, whichever has its data
 * first; those of several rings in any order.  -EMSGSIZE: the queue never has room for as many
 * bytes; -ENOTSUP: t is on a device.
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_send(int number, quoit_tensor t)
{
	return quoit_sync_job(number, QUOIT_SYNC_SEND, t);
}

/*
 * The same, but not before all jobs before it that use `behind` have ended: so a small message can
 * say that a large tensor is ready (docs/howto/tensor.md).  If `behind` is poisoned, nothing is sent.
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_send_behind(int number, quoit_tensor t,
							      quoit_tensor behind)
{
	struct quoit_sqe sqe = quoit_sync_job(number, QUOIT_SYNC_SEND, t);

	sqe.tensor[1] = behind;
	return sqe;
}

/*
 * Send each row of t, its last dim, as a message of its own: as quoit_send, and many small messages by
 * one job.  At most QUOIT_MESSAGE_ROWS rows; the queue has them all at the same time.
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_send_rows(int number, quoit_tensor t)
{
	return quoit_sync_job(number, QUOIT_SYNC_SEND_ROWS, t);
}

/*
 * Receive the next message into t: waits for one.  Each message has one receiver; jobs of one ring
 * receive in the order in which they were put in.  -EMSGSIZE: the message has other dims, or another
 * type, than t, and stays for the next receiver.  A receiver that dies before it has all of a message
 * leaves it to the next one, which may have a later one of that sender by then.  If the job fails, t
 * is poisoned, as by any job, until something is written to all of it.
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_receive(int number, quoit_tensor t)
{
	return quoit_sync_job(number, QUOIT_SYNC_RECEIVE, t);
}

/*
 * Receive the next messages into the rows of t, however they were sent: waits for one, and takes as
 * many as are there then, at most one for each row, and QUOIT_MESSAGE_ROWS.  The result is how many
 * have come, in the first rows; the other rows become zeros.  The next message must be as a row of t,
 * else as quoit_receive; a later one that is not ends what is taken.
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_receive_rows(int number, quoit_tensor t)
{
	return quoit_sync_job(number, QUOIT_SYNC_RECEIVE_ROWS, t);
}

/*
 * Wait for the next message, and write what it is to t, a vector of five QUOIT_I64 (struct
 * quoit_message).  The message stays: if there are other receivers, one of them may get it.
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_peek_message(int number, quoit_tensor t)
{
	return quoit_sync_job(number, QUOIT_SYNC_PEEK, t);
}

/*
 * Receive the next message, whatever it is, into a tensor that is made for it: *ret, which the caller
 * frees.  Waits for one, up to timeout_ms (QUOIT_FOREVER: any time).  -ETIME: none came; -ENOMEM: no
 * tensor could be made, and the message stays; else as quoit_run.
 */
QUOIT_TO_CHECK int quoit_receive_next_at(struct quoit_ring *q, int number, int timeout_ms,
					 quoit_tensor *ret, const char *here);
QUOIT_TO_CHECK int quoit_receive_next(struct quoit_ring *q, int number, int timeout_ms,
				      quoit_tensor *ret);
#define quoit_receive_next(...) quoit_receive_next_at(__VA_ARGS__, QUOIT_HERE)

#endif
