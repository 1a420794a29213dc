/* SPDX-License-Identifier: MIT */
/*
 * fetch.h - takes SQEs from a ring: fetch, validate, and then one of three ways.
 *
 * An invalid SQE ends here, and so does one that only changes the tables (CREATE, VIEW, FREE).  A
 * short job runs here and now if its bytes are there and no other job uses them.  Every other SQE
 * becomes a job (job.h).
 */
#ifndef QUOITD_FETCH_H
#define QUOITD_FETCH_H

#include "reactor.h"

/*
 * Take up to a burst from the ring, as far as its completion credits and its turn allow.  True:
 * something was done.  The caller flushes what was posted.
 */
bool fetch_ring(struct reactor *r, struct ring *ring);

#endif
