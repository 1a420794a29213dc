/* SPDX-License-Identifier: MIT */
/*
 * reactor_deadlines.h - ends jobs whose deadline has passed.
 *
 * A job that has not started gets its CQE with -ETIME.  A job that runs here is left to end.
 * backend_exec.h says what becomes of one in an executor.
 */
#ifndef QUOITD_REACTOR_DEADLINES_H
#define QUOITD_REACTOR_DEADLINES_H

#include "reactor.h"

/* Look at the sessions with a deadline that has passed; sets s->next_deadline to the next one. */
void reactor_expire(struct reactor *r);

/* The session may have new deadlines. */
static inline void reactor_meet_deadlines(struct reactor *r, struct session *s)
{
	if (!s->deadlines)
		return;
	LINKS_ADD(&r->with_deadlines, s, with_deadlines);
	if (s->next_deadline < r->next_deadline)
		r->next_deadline = s->next_deadline;
}

#endif
