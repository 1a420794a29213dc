/* SPDX-License-Identifier: MIT */
/*
 * fetch_job.h - SQEs that need more than fetch.c does by itself.
 *
 * All are called at the SQE's fetch, with the session's pages guarded (sigbus_guard.h).
 */
#ifndef QUOITD_FETCH_JOB_H
#define QUOITD_FETCH_JOB_H

#include "base/fault.h"
#include "reactor.h"

/*
 * Take an operation that computes, or a NOP that wants more than its CQE: refuse it, run it now, or
 * make it a job.  0, or -EAGAIN: a table of the session is full; nothing was done, try again later.
 */
int fetch_job(struct ring *ring, const struct quoit_sqe *sqe, uint32_t sq_index, uint64_t *cost);

/* Refuse a CREATE, VIEW or FREE.  err -EAGAIN is returned: the SQE is to come again. */
int fetch_refuse_control(struct ring *ring, const struct quoit_sqe *sqe, uint32_t sq_index, int err,
			 const struct fault *fault);

/* Post the CQE of a CREATE, VIEW or FREE that was done. */
void fetch_post_control(struct ring *ring, const struct quoit_sqe *sqe, uint32_t sq_index);

/*
 * SQEs of the ring wait for something.  If a program has released what it holds, but the RELEASE
 * stands behind them, end those holds now.  Looks at some SQEs that it has not looked at; true:
 * there were any, or the client lies about its tail.
 */
bool fetch_releases_ahead(struct ring *ring);

#endif
