/* SPDX-License-Identifier: MIT */
/* call_entry.h - what a call hands to its function, and what a RETURN says of it */
#ifndef QUOITD_CALL_ENTRY_H
#define QUOITD_CALL_ENTRY_H

#include <errno.h>

#include "base/fault.h"
#include "base/tsc.h"
#include "session/session.h"

/* Calls that threads have ahead of their turn take about so long. */
#define CALL_AHEAD_NS 50000u

/* Threads that a program may say it has: more are taken for so many. */
#define CALL_LANES_MOST 1024u

/*
 * Fill in an entry for this job.  Of the tensors only those are written that the function takes:
 * each line costs its reader a miss.
 */
void call_entry_fill(const struct session *s, const struct job *job, struct quoit_call_entry *e);

/* A RETURN has no flags but QUIET.  0, or fault->code. */
int call_return_check(const struct quoit_sqe *sqe, struct fault *fault);

/* Its result: a count or an errno; -EPROTO for what is neither. */
static inline int32_t call_return_result(const struct quoit_sqe *sqe)
{
	return sqe->result > -QUOIT_EPOISON ? sqe->result : -EPROTO;
}

/* What it says of a failure. */
static inline struct quoit_error call_return_error(const struct quoit_sqe *sqe)
{
	return (struct quoit_error){.field = sqe->about < QUOIT_FIELD_NR ? (uint8_t)sqe->about : 0,
				    .value = {sqe->found[0], sqe->found[1]}};
}

/*
 * When it began and ended, by its own clock: not before *began, which is when it was handed out,
 * and not after now.
 */
static inline void call_return_stamps(const struct quoit_sqe *sqe, uint64_t now, uint64_t *began,
				      uint64_t *ret_ended)
{
	if (sqe->began)
		*began = tsc_between(*began, tsc_of_raw(sqe->began), now);
	*ret_ended = sqe->finished ? tsc_between(*began, tsc_of_raw(sqe->finished), now) : now;
}

/* Note how long a call ran in the mean over the last few; 0: none has run. */
static inline void call_learn(uint64_t *run_ticks, uint64_t ticks)
{
	*run_ticks = *run_ticks ? *run_ticks - *run_ticks / 8 + ticks / 8 : ticks;
	*run_ticks += !*run_ticks;
}

#endif
