/* SPDX-License-Identifier: MIT */
/* run_queue.h - queues of a user's sessions; a session is in each queue at most once */
#ifndef QUOITD_RUN_QUEUE_H
#define QUOITD_RUN_QUEUE_H

#include <assert.h>

#include "session.h"

/* Put the session last; if it is there already, it keeps its place. */
static inline void run_queue_add(struct run_queue *all, enum turn which, struct session *s)
{
	if (s->has_turn[which])
		return;
	s->has_turn[which] = true;
	s->turn[which] = NULL;
	if (all->first)
		all->last->turn[which] = s;
	else
		all->first = s;
	all->last = s;
	all->count++;
}

/* Take the first session out; there is one. */
static inline struct session *run_queue_take(struct run_queue *all, enum turn which)
{
	struct session *s = all->first;

	all->first = s->turn[which];
	s->has_turn[which] = false;
	assert(all->count > 0 && (all->first != NULL || all->count == 1));
	all->count--;
	return s;
}

/* Make the session behind this one the first; this one is in the queue. */
static inline void run_queue_rotate(struct run_queue *all, enum turn which, struct session *s)
{
	if (s == all->last)
		return;
	all->last->turn[which] = all->first;
	all->last = s;
	all->first = s->turn[which];
	s->turn[which] = NULL;
}

/* Remove the session, wherever it is. */
static inline void run_queue_remove(struct run_queue *all, enum turn which, struct session *s)
{
	for (uint32_t n = all->count; n && s->has_turn[which]; n--) {
		struct session *i = run_queue_take(all, which);

		if (i != s)
			run_queue_add(all, which, i);
	}
}

#endif
