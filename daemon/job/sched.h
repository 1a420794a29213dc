/* SPDX-License-Identifier: MIT */
/*
 * sched.h - which of the ready jobs is next.
 *
 * The reactor runs short jobs (predicted below SCHED_INLINE_NS on one core) and those that only
 * wait.  Long ones go to the workers, a few of each session at a time, so that one session's flood
 * does not delay another's job.  Transfers have queues of their own, so that one that waits for a
 * slot delays no computation.  Within a session: by priority, then in the order in which they
 * became ready.
 */
#ifndef QUOITD_SCHED_H
#define QUOITD_SCHED_H

#include "session/session.h"

#define SCHED_INLINE_NS 20000u

/* About the predicted nanoseconds that the reactor runs in one turn of a ring or session. */
#define SCHED_TURN_NS 50000u

/* Costs that count besides an operation's prediction: of a job, and of bytes to clear. */
#define SCHED_JOB_NS             300u
#define SCHED_CLEAR_BYTES_PER_NS 16u

/* At most so many works of one session are with the workers at a time. */
#define SCHED_PUBLISHED 4u

/* Queue a job that waits for nothing any more. */
void sched_push(struct session *s, struct job *job);

/* The session's next short job; NULL: none. */
struct job *sched_next_short(struct session *s);

/* The session's next long job that may be published; NULL: none. */
struct job *sched_next_long(struct session *s);

/* The session's next transfer from or to a file; NULL: none. */
struct job *sched_next_file(struct session *s);

/* Put back a long job or a transfer that could not be started: it is next again. */
void sched_put_back(struct session *s, struct job *job);

/* ---- queues of jobs, one per priority; executors keep some, too ---- */

/* Queue the job last. */
void sched_append(struct session *s, struct job_queue *q, struct job *job);

/* Is `a` to start before `b`, if both are ready? */
bool sched_is_before(const struct job *a, const struct job *b);

/* The queue that has the next head; NULL: all are empty. */
struct job_queue *sched_most_urgent(struct job_queue queues[QUOIT_PRIO_NR]);

/* Take the next head out; NULL: all are empty. */
struct job *sched_pop(struct session *s, struct job_queue queues[QUOIT_PRIO_NR]);

#endif
