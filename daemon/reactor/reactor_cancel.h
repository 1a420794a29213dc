/* SPDX-License-Identifier: MIT */
/* reactor_cancel.h - jobs that end before they have started, or whose end nobody waits for */
#ifndef QUOITD_REACTOR_CANCEL_H
#define QUOITD_REACTOR_CANCEL_H

#include "reactor.h"

/*
 * One that was named by its ring and SQ index; if it is not fetched yet, it ends at its fetch.  0,
 * -EINVAL: there is no such ring, -EALREADY: it has started, -EBUSY: too many wait for their fetch.
 */
int32_t reactor_cancel(struct reactor *r, struct session *s, uint32_t index, uint32_t sq_index);

/* All that have not started. */
void reactor_cancel_all(struct reactor *r, struct session *s);

/*
 * Those that run as well: their CQEs say so now, and what comes of them nobody learns.  How many
 * had no CQE yet.
 */
uint32_t reactor_cancel_rest(struct reactor *r, struct session *s);

#endif
