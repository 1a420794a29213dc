/* SPDX-License-Identifier: MIT */
/*
 * fetch_job.h - what an SQE becomes where more is to be done than fetch.c does by itself.
 *
 * All of them at the SQE's fetch, with the ring's pages guarded (guard.h).
 */
#ifndef QUOITD_FETCH_JOB_H
#define QUOITD_FETCH_JOB_H

#include "fault.h"
#include "reactor.h"

/*
 * An operation that computes, or a NOP that wants more than its CQE: refused, run here and now, or
 * made a job.  0, or -EAGAIN: a table of the session is full; nothing was done, try again later.
 */
int fetch_job(struct ring *ring, const struct quoit_sqe *sqe, uint32_t sq_index, uint64_t *cost);

/* A CREATE, VIEW or FREE was refused; -EAGAIN: it is to come again. */
int fetch_refuse_control(struct ring *ring, const struct quoit_sqe *sqe, uint32_t sq_index, int err,
			 const struct fault *fault);

/* It was done, and wants its CQE. */
void fetch_post_control(struct ring *ring, const struct quoit_sqe *sqe, uint32_t sq_index);

#endif
