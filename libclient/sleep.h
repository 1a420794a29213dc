/* SPDX-License-Identifier: MIT */
/* sleep.h - waits for CQEs, or for room in the SQ */
#ifndef LIBQUOIT_SLEEP_H
#define LIBQUOIT_SLEEP_H

#include <stdbool.h>
#include <stdint.h>

struct quoit_ring;

/*
 * Sleep until a CQE is ready (0), the deadline (clock.h) has come (-ETIME), or the
 * ring is broken and no CQE is left.
 */
int libquoit_sleep_cq(struct quoit_ring *q, uint64_t deadline);

/*
 * For callers that poll instead of sleeping: now and then, check that quoitd is still there.  True:
 * it has been checked; look once more for CQEs that it posted before.
 */
bool libquoit_sleep_look(struct quoit_ring *q);

/* Publish, then sleep until a quarter of the SQ is free (-ETIME: q->until).  Reaps meanwhile. */
int libquoit_sleep_sq(struct quoit_ring *q);

#endif
