/* SPDX-License-Identifier: MIT */
/*
 * sched.h - which of the ready jobs is next.
 *
 * Short jobs (predicted under SCHED_INLINE_NS on one core) and those that only wait are
 * run by the reactor; long ones are handed to the workers, a few of each session at a
 * time, so that one session's flood does not stand before another's job.  Transfers have
 * queues of their own, since one that waits for a slot holds up no computation.  Within a
 * session: by priority, then in the order in which they became ready.
 */
#ifndef QUOITD_SCHED_H
#define QUOITD_SCHED_H

#include "session/session.h"

#define SCHED_INLINE_NS 20000u

/* Predicted nanoseconds of jobs that the reactor runs in one turn of a ring or session, about. */
#define SCHED_TURN_NS 50000u

/* What counts there beside an operation's prediction: any job that is one, and bytes to clear. */
#define SCHED_JOB_NS             300u
#define SCHED_CLEAR_BYTES_PER_NS 16u

/* Works of one session that may be with the workers at a time. */
#define SCHED_PUBLISHED 4u

/* The job waits for nothing any more. */
void sched_push(struct session *s, struct job *job);

/* The session's next short job; NULL: none. */
struct job *sched_next_short(struct session *s);

/* The session's next long job that may be published; NULL: none. */
struct job *sched_next_long(struct session *s);

/* The session's next transfer from or to a file; NULL: none. */
struct job *sched_next_file(struct session *s);

/* A long job or a transfer could not be started after all: it is next again. */
void sched_put_back(struct session *s, struct job *job);

/* ---- queues of a session's jobs, one for each priority, also of others who keep some ---- */

void sched_append(struct session *s, struct job_queue *q, struct job *job);

/* The one whose head is next; NULL: all are empty. */
struct job_queue *sched_most_urgent(struct job_queue queues[QUOIT_PRIO_NR]);

/* Its head, taken out; NULL: all are empty. */
struct job *sched_pop(struct session *s, struct job_queue queues[QUOIT_PRIO_NR]);

#endif
