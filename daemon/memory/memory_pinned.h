/* SPDX-License-Identifier: MIT */
/*
 * memory_pinned.h - filling the pinned region at the start, and tidying it when need be.
 *
 * Both may take long, so the memory thread does them, a few MiB at a time, and the reactor
 * only keeps them going.  While the region is tidied no job of the session runs, and none
 * of its SQEs are fetched: nobody else looks at its tables or its memory.
 */
#ifndef QUOITD_MEMORY_PINNED_H
#define QUOITD_MEMORY_PINNED_H

#include "memory_thread.h"
#include "session/session.h"

/* ---- on the reactor ---- */

/*
 * A session has arrived: give its pinned region pages, locked and registered with io_uring as
 * far as that is allowed.  Until then nobody gets bytes of it.
 */
void memory_pinned_fill(struct session *s);

/*
 * There are bytes enough for the head of the queue, but not in one place, so memory.tidying says
 * TIDY_WAITS: once no job of the session runs any more, tidy.  To be called as long as it says so,
 * where nobody is about to start one, or holds an address in the region.
 */
void memory_pinned_tidy(struct session *s);

/* Nothing of the session is left with the memory thread: the region's buffers may be others'. */
void memory_pinned_forget(struct session *s);

/* An answer to one of the two.  True: the queue may go on. */
bool memory_pinned_answer(struct session *s, const struct memory_message *m);

/* ---- on the memory thread ---- */

/* Do the next part.  0: there is more; 1: that was all; or -errno. */
int memory_pinned_fill_part(struct memory_message *m);
int memory_pinned_tidy_part(struct session *s);

/* No transfer will use the region any more: let io_uring have none of it. */
void memory_pinned_withdraw(struct session *s);

#endif
