/* SPDX-License-Identifier: MIT */
/*
 * completion.h - the way back: CQEs, error records, stamps, and waking the client.
 *
 * A job is fetched only with a completion credit in hand, so there is always a free
 * CQ slot here.  Posted CQEs become visible together, at the next flush.
 */
#ifndef QUOITD_COMPLETION_H
#define QUOITD_COMPLETION_H

#include "session/session.h"

/* Enough for a burst by what is known: half of the CQ.  If not, the client's line is asked. */
static inline bool completion_has_plenty(const struct ring *r)
{
	return r->in_flight + (r->cq.next - r->cq.cached_head) <= r->layout.cq_entries / 2;
}

/*
 * How many more jobs may be fetched from this ring.  -EPROTO: the client's CQ head is
 * not where it can be, and the session must end (cq_head).
 */
int completion_credits(struct ring *r);

/*
 * Post the end of a job.  quiet: no CQE if it succeeded.  error: what goes into the record
 * of a failure (user_data, ring and opcode of the failed job are filled in where the
 * record has no cause yet); NULL: none.  stamps may be NULL.
 */
void completion_post(struct ring *r, const struct quoit_sqe *sqe, int32_t res,
		     const struct quoit_error *error, const struct quoit_stamps *stamps);

/*
 * Post the end of a job that has succeeded, and flush.  For a ring without stamps that is not mute,
 * where nothing is posted yet.
 */
void completion_answer(struct ring *r, uint64_t user_data);

/* Publish what was posted; wake the client if it sleeps, ring its descriptor if armed. */
void completion_flush(struct ring *r);

#endif
