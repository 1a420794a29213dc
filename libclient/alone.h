/* SPDX-License-Identifier: MIT */
/*
 * alone.h - a ring belongs to one thread at a time: notice when two use it at once.
 *
 * A thread leaves its mark in the ring while it puts an SQE in, and while it sleeps in a wait.
 * Another one that finds a mark is refused with -EBUSY.  The mark is a plain word, since an atomic
 * exchange would cost as much as the rest of a push: of two threads that begin within nanoseconds
 * both may go on, but not for long.
 */
#ifndef LIBQUOIT_ALONE_H
#define LIBQUOIT_ALONE_H

#include "library.h"

#define MARK_PUSHES UINT32_MAX /* else the thread's id, which may have ended meanwhile */

/* 0: the mark is of this thread or of one that has ended; else -EBUSY. */
__attribute__((cold)) int libquoit_alone_look(struct quoit_ring *q);

/* 0, -EBUSY */
static inline int alone_check(struct quoit_ring *q)
{
	return UNLIKELY(__atomic_load_n(&q->mark, __ATOMIC_RELAXED)) ? libquoit_alone_look(q) : 0;
}

static inline void alone_mark(struct quoit_ring *q, uint32_t mark)
{
	__atomic_store_n(&q->mark, mark, __ATOMIC_RELAXED);
}

static inline void alone_clear(struct quoit_ring *q)
{
	alone_mark(q, 0);
}

#endif
