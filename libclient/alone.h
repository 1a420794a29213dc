/* SPDX-License-Identifier: MIT */
/*
 * alone.h - a ring belongs to one thread at a time: notice when two use it at once.
 *
 * A thread leaves its mark in the ring while it puts an SQE in, and while it sleeps in a wait.
 * Another thread that finds a mark gets -EBUSY.  The mark is a plain word, since an atomic exchange
 * would cost as much as the rest of a push.  So if two threads begin within nanoseconds, both may
 * go on, but not for long.
 */
#ifndef LIBQUOIT_ALONE_H
#define LIBQUOIT_ALONE_H

#include "library.h"

/* otherwise the mark is the thread's id; that thread may have ended meanwhile */
#define MARK_PUSHES UINT32_MAX

/* This thread's mark, while it waits. */
uint32_t libquoit_alone_me(const struct quoit_ring *q);

/* 0: the mark is of this thread or of one that has ended; else -EBUSY. */
__attribute__((cold)) int libquoit_alone_look(struct quoit_ring *q);

/* 0 or -EBUSY */
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
