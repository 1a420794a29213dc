/* SPDX-License-Identifier: MIT */
/*
 * backend.h - what a reactor asks of those that run its jobs: the host's cores (cpu/), the kernel's
 * files (file/), modules and devices (executor/), the client's own program (program/), which
 * acquires tensors and is called, and services (service/), which other processes serve.
 *
 * A job comes to a backend by `start` and goes back by reactor_end_job(), once.  Small jobs never
 * come here: the reactor runs them itself, by a direct call.  Hooks marked "optional" may be NULL:
 * then there is nothing to do.  Only the reactor's own thread calls them.
 */
#ifndef QUOITD_BACKEND_H
#define QUOITD_BACKEND_H

#include "job/job.h"
#include "session/owner.h"

struct backend {
	/* Take a ready job.  0, or -EBUSY: there is no room now, and the job stays ready. */
	int (*start)(struct reactor *r, struct session *s, struct job *job);

	/* Optional.  Give back the jobs that have ended.  True: there were some. */
	bool (*poll)(struct reactor *r);

	/*
	 * Optional, both.  Go on with jobs of the session that were taken and could not begin; true:
	 * something was done.  Does the session have such jobs?
	 */
	bool (*advance)(struct reactor *r, struct session *s);
	bool (*has_waiting)(const struct session *s);

	/* Optional.  A job that `follows` is to wait as any other.  False: it may have begun. */
	bool (*take_back)(struct reactor *r, struct session *s, struct job *job);

	/* Optional.  A pass ends: hand over what was started, before CQEs are flushed; after it. */
	void (*submit)(struct reactor *r);
	void (*wake)(struct reactor *r);

	/*
	 * Optional.  Before a sleep, with need_wake set.  True: nothing has come, and what comes
	 * will wake us.
	 */
	bool (*may_sleep)(struct reactor *r);
	/* Optional.  The longest sleep in ns; UINT64_MAX: any. */
	uint64_t (*sleep_ns)(struct reactor *r);
	/* Optional.  After a sleep; when one of our own descriptors has ended it. */
	void (*awake)(struct reactor *r);
	void (*drain)(struct reactor *r);

	/* Optional.  Has it jobs that will end by computing?  Transfers of files may never end. */
	bool (*computes)(const struct reactor *r);
	/* Optional.  Bring the reactor's counters up to date. */
	void (*count)(struct reactor *r);

	/*
	 * Optional, both.  Is the job there and can be late?  Its deadline has passed: returns the
	 * time (TSC) at which to ask again; *ret_posted: its CQE was posted.
	 */
	bool (*can_be_late)(const struct job *job);
	uint64_t (*late)(struct reactor *r, struct session *s, struct job *job, bool *ret_posted);

	/*
	 * Optional.  Cancel a job that runs: it will end with -ECANCELED, or with its result if it
	 * has one by then.  False: it cannot be cancelled any more.
	 */
	bool (*cancel)(struct reactor *r, struct session *s, struct job *job);

	/* Optional.  The session's client has died: its results are not wanted. */
	void (*abandon)(struct reactor *r, struct session *s);
	/* Optional.  The ring is to go, and has no jobs of its own any more.  False: ask again. */
	bool (*ring_may_go)(struct reactor *r, struct ring *ring);
	/*
	 * Optional.  The ring goes; it has no jobs of its own any more, and all its SQEs were
	 * taken.
	 */
	void (*ring_closes)(struct reactor *r, struct ring *ring);
	/*
	 * Optional.  The session is leaving, and its jobs may still be here: make them end.  The
	 * reactor calls it each time that it looks at the session.
	 */
	void (*leaving)(struct reactor *r, struct session *s);
	/* Optional.  The session has no jobs any more: let go of its memory.  False: ask again. */
	bool (*leave)(struct reactor *r, struct session *s);
};

/* All of them; X gets each one's name. */
#define BACKENDS(X)                                                                                \
	X(cpu_backend)                                                                             \
	X(file_backend) X(exec_backend) X(acquire_backend) X(call_backend) X(service_backend)

#define DECLARE(name) extern const struct backend name;
BACKENDS(DECLARE)
#undef DECLARE

#define ADDRESS(name) &(name),
static const struct backend *const backends[] = {BACKENDS(ADDRESS)};
#undef ADDRESS

/* Loop over them; `b` points to a pointer. */
#define for_each_backend(b)                                                                        \
	for (const struct backend *const *b = backends;                                            \
	     b < backends + sizeof backends / sizeof backends[0]; b++)

/* What every pass does is written out, so that the linker makes direct calls of it. */

static inline bool backends_poll(struct reactor *r)
{
	bool any = false;

#define POLL(name)                                                                                 \
	if (name.poll)                                                                             \
		any |= name.poll(r);
	BACKENDS(POLL)
#undef POLL
	return any;
}

static inline void backends_submit(struct reactor *r)
{
#define SUBMIT(name)                                                                               \
	if (name.submit)                                                                           \
		name.submit(r);
	BACKENDS(SUBMIT)
#undef SUBMIT
}

static inline void backends_wake(struct reactor *r)
{
#define WAKE(name)                                                                                 \
	if (name.wake)                                                                             \
		name.wake(r);
	BACKENDS(WAKE)
#undef WAKE
}

/* The one that runs the job, if the reactor does not. */
static inline const struct backend *backend_of(const struct job *job)
{
	const unsigned flags = optable_row(job->sqe.opcode)->flags;

	if (job->executor != NO_EXECUTOR)
		return &exec_backend;
	if (!(flags & (OP_FILE | OP_ACQUIRE | OP_CALL)))
		return &cpu_backend;
	if (flags & OP_FILE)
		return &file_backend;
	if (!(flags & OP_CALL))
		return &acquire_backend;
	return job->sqe.team < QUOIT_TEAM_SERVICE ? &call_backend : &service_backend;
}

#endif
