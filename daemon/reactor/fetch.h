/* SPDX-License-Identifier: MIT */
/*
 * fetch.h - taking SQEs from a ring: fetch, validate, and then one of three ways.
 *
 * What is invalid, and what only changes the tables (CREATE, VIEW, FREE), ends here.  A short
 * job whose bytes are there and that nobody else uses is run here and now.  All else becomes
 * a job (job.h).
 */
#ifndef QUOITD_FETCH_H
#define QUOITD_FETCH_H

#include "reactor.h"

/*
 * Take what the ring has: up to a burst, as far as its completion credits and its turn go.
 * True: something was done.  What was posted is to be flushed.
 */
bool fetch_ring(struct reactor *r, struct ring *ring);

#endif
