/* SPDX-License-Identifier: MIT */
/*
 * hold.h - what a session's program itself has acquired, and until when.
 *
 *	ACQUIRE_* ─► a job ─► granted, CQE ─► held ──RELEASE, end of ring or session──► ended
 *
 * When an acquire is granted, its job ends: no barrier, link or close waits for it, and the memory
 * queue does not count it among the jobs before its head.  But its entry stays in the lists of its
 * buffer (deps.h), so jobs on the same bytes wait for it.  Its view keeps the buffer, and
 * buffer.holds keeps the buffer's bytes where they are.
 *
 * No hold ends while the memory thread moves pieces, since it owns their tables then.
 */
#ifndef QUOITD_HOLD_H
#define QUOITD_HOLD_H

#include "job.h"

/* May the program hold one more access?  If not: fills in the job's error. */
bool hold_is_allowed(const struct session *s, struct job *job);

/* The acquire's turn has come: post its CQE, and leave its access with the program. */
void hold_grant(struct session *s, struct job *job, uint64_t now, job_ready_fn *ready);

/*
 * The reactor has fetched a RELEASE: end the hold that the acquire with this SQ index was granted,
 * or cancel the acquire.  -ENOENT: the program has released it already, or no acquire has this
 * index.
 */
int hold_release(struct ring *r, uint32_t sq_index, uint64_t now, job_ready_fn *ready);

/*
 * End the hold before the reactor can fetch its RELEASE, since the SQEs in front wait, perhaps for
 * this very hold.  The fetch of the RELEASE then finds the entry and removes it.  True: a hold
 * ended.
 */
bool hold_release_ahead(struct ring *r, uint32_t sq_index, uint64_t now, job_ready_fn *ready);

/* End a hold for which the program sends no RELEASE.  False: no hold has this SQ index. */
bool hold_cancel(struct ring *r, uint32_t sq_index, uint64_t now, job_ready_fn *ready);

/* All holds of a ring, NULL: of the session, end: at once, or when no piece is being moved. */
void hold_end_all(struct session *s, const struct ring *r, uint64_t now, job_ready_fn *ready);

/* End those that had to wait for that; call while s->holds.due and nothing is being moved. */
void hold_settle(struct session *s, uint64_t now, job_ready_fn *ready);

#endif
