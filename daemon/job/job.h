/* SPDX-License-Identifier: MIT */
/*
 * job.h - the life of a job between its fetch and its CQE.
 *
 *	admitted ─► waiting ─► ready ─► running ─► ended
 *
 * A short job that waits for nothing never enters the table: it runs at its fetch (fetch.c).
 */
#ifndef QUOITD_JOB_H
#define QUOITD_JOB_H

#include "ops/optable.h"
#include "validate.h"

/* Does the job move a file's bytes? */
static inline bool job_names_file(const struct job *job)
{
	return optable_row(job->sqe.opcode)->flags & OP_FILE;
}

/* Does the program itself do what the job is for? */
static inline bool job_is_acquire(const struct job *job)
{
	return optable_row(job->sqe.opcode)->flags & OP_ACQUIRE;
}

typedef void job_ready_fn(struct session *s, struct job *job);

/*
 * Make a job of a checked SQE and find out what it must wait for; calls ready() if that is
 * nothing.  0, or -EAGAIN: a table is full until other jobs end, and nothing was done.
 */
int job_admit(struct ring *r, const struct quoit_sqe *sqe, const struct plan *plan,
	      uint32_t sq_index, uint64_t now, job_ready_fn *ready);

/*
 * Decide a job's end before it has started.  Its CQE is posted now; the job keeps its place in the
 * order, without running, until those before it have ended.
 */
void job_fail_early(struct session *s, struct job *job, int32_t res, uint64_t now);

/*
 * The same, with -ETIME: its deadline has passed.  begun: the TSC at which its backend got it, 0: it
 * has not begun.  And the error of such a job.
 */
void job_fail_late(struct session *s, struct job *job, uint64_t begun, uint64_t now);
struct quoit_error job_missed_deadline(const struct job *job, uint64_t begun, uint64_t now);

/*
 * As job_fail_early, for a job that was admitted with a plan of its outputs alone
 * (validate_outputs).  The caller posts its CQE next, with this error.
 */
void job_refuse(struct session *s, struct job *job, const struct quoit_error *error);

/*
 * A granted acquire (hold.h): its CQE is posted, with flags, and it is counted as ended.  But it
 * stays in the lists of its buffer, so that later jobs wait for it, and keeps its entry.
 */
void job_leave_hold(struct session *s, struct job *job, int32_t res, uint32_t flags, uint64_t now,
		    job_ready_fn *ready);

/* End a job with res.  Everything that waited for it goes on; calls ready() for what may start. */
void job_end(struct session *s, struct job *job, int32_t res, uint64_t now, job_ready_fn *ready);

#endif
