/* SPDX-License-Identifier: MIT */
/* reactor_cancel.h - cancels jobs, before they have started or while they run */
#ifndef QUOITD_REACTOR_CANCEL_H
#define QUOITD_REACTOR_CANCEL_H

#include "reactor.h"

/*
 * Cancel the job with this ring and SQ index; if it is not fetched yet, it ends at its fetch.  0;
 * -EINVAL: there is no such ring; -EALREADY: it has started; -EBUSY: too many wait for their fetch.
 */
int32_t reactor_cancel(struct reactor *r, struct session *s, uint32_t index, uint32_t sq_index);

/* Cancel all jobs of the session that have not started. */
void reactor_cancel_all(struct reactor *r, struct session *s);

/*
 * Cancel all jobs, running ones included: their CQEs say so now, and their results are dropped.
 * Returns how many had no CQE yet.
 */
uint32_t reactor_cancel_rest(struct reactor *r, struct session *s);

#endif
