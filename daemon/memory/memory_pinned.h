/* SPDX-License-Identifier: MIT */
/*
 * memory_pinned.h - fills the pinned region at the start, and tidies it when necessary.
 *
 * Both may take long, so the memory thread does them, a few MiB at a time, and the reactor only
 * asks for the next part.  While the region is tidied, no job of the session runs and none of its
 * SQEs is fetched, so no other thread looks at its tables or its memory.
 */
#ifndef QUOITD_MEMORY_PINNED_H
#define QUOITD_MEMORY_PINNED_H

#include "memory_pages.h"
#include "memory_thread.h"
#include "session/session.h"

/* ---- on the reactor ---- */

/*
 * A session has come: have its pinned region filled, locked, and registered with io_uring, as far
 * as that is allowed.  Until then no job gets bytes of it.
 */
void memory_pinned_fill(struct session *s);

/*
 * Tidy the region once no job of the session runs.  The head of the queue finds enough free bytes,
 * but not in one place, so memory.tidying is TIDY_WAITS.  Call this while it is, where no job is
 * about to be started and no address in the region is held.
 */
void memory_pinned_tidy(struct session *s);

/* The memory thread has nothing of the session left: give its io_uring buffers to others. */
void memory_pinned_forget(struct session *s);

/* Handle an answer to either.  True: the queue may go on. */
bool memory_pinned_answer(struct session *s, const struct memory_message *m);

/* ---- on the memory thread ---- */

/* Do the next part.  0: there is more; 1: that was the last; or -errno. */
int memory_pinned_fill_part(struct memory_message *m, struct memory_huge *huge);
int memory_pinned_tidy_part(struct session *s);

/* No transfer uses the region any more: unregister it from io_uring. */
void memory_pinned_withdraw(struct session *s);

#endif
