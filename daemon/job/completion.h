/* SPDX-License-Identifier: MIT */
/*
 * completion.h - CQEs, error records, stamps, and waking the client.
 *
 * A job is fetched only with a completion credit in hand, so there is always a free CQ slot here.
 * Posted CQEs become visible together, at the next flush.
 */
#ifndef QUOITD_COMPLETION_H
#define QUOITD_COMPLETION_H

#include "session/session.h"

/* Is half of the CQ free, as far as we know?  Then a burst need not read the client's head. */
static inline bool completion_has_plenty(const struct ring *r)
{
	return r->in_flight + (r->cq.next - r->cq.cached_head) <= r->layout.cq_entries / 2;
}

/*
 * How many more jobs may be fetched from this ring.  -EPROTO: the client's CQ head has an
 * impossible value, and the session must end.
 */
int completion_credits(struct ring *r);

/*
 * Post the end of a job; a QUIET job that succeeded gets no CQE.  error: what goes into the record
 * of a failure, NULL: nothing.  Where the record has no cause yet, the failed job is named as its
 * cause.  stamps may be NULL.
 */
void completion_post(struct ring *r, const struct quoit_sqe *sqe, int32_t res,
		     const struct quoit_error *error, const struct quoit_stamps *stamps);

/* The error's first cause is the job of this SQE. */
static inline void completion_name_cause(struct quoit_error *e, const struct ring *r,
					 const struct quoit_sqe *sqe)
{
	const bool is_call = sqe->opcode == QUOIT_OP_CALL;

	e->cause = sqe->user_data;
	e->opcode = sqe->opcode;
	e->ring = (uint16_t)r->index;
	e->function = is_call ? sqe->function : 0;
	e->team = is_call ? sqe->team : 0;
}

/* Add these flags to the CQE of a job that has succeeded; it was posted, and is not flushed yet. */
void completion_add_flags(struct ring *r, uint32_t index, uint32_t flags);

/*
 * Post the end of a job that has succeeded, and flush.  Only for a ring without stamps that is not
 * mute and has nothing posted yet.
 */
void completion_answer(struct ring *r, uint64_t user_data);

/* Publish what was posted; wake the client if it sleeps; ring its descriptor if it is armed. */
void completion_flush(struct ring *r);

#endif
