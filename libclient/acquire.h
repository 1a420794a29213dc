/* SPDX-License-Identifier: MIT */
/* acquire.h - what the program itself has acquired by a ring */
#ifndef LIBQUOIT_ACQUIRE_H
#define LIBQUOIT_ACQUIRE_H

#include <stdbool.h>

struct job_slot;
struct quoit_cqe;
struct quoit_ring;

/*
 * The job of an acquire has ended.  True: the program has given it up meanwhile, so its slot was
 * freed.
 */
bool libquoit_acquire_ended(struct quoit_ring *q, struct job_slot *slot,
			    const struct quoit_cqe *cqe);

/* Release all that the ring has acquired: it is about to be closed. */
void libquoit_acquire_release_all(struct quoit_ring *q);

#endif
