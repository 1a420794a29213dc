/* SPDX-License-Identifier: MIT */
/*
 * record.h - what is written into a session's trace while somebody records it (session/trace.h).
 *
 * Who is not recorded pays for a look at a pointer, once for each burst and each job of the table.
 */
#ifndef QUOITD_RECORD_H
#define QUOITD_RECORD_H

#include "session/trace.h"

/* While it is recorded, a reactor that sleeps looks so often whether its client has noted more. */
#define RECORD_SLEEP_NS 20000000u

/* A trace is lent, or asked back by its number; the session is this reactor's. */
void record_attach(struct session *s, struct trace *t);
void record_detach(struct session *s, uint32_t id);

/* A ring has come; it goes, while its pages are guarded (guard.h). */
void record_ring(struct ring *r);
void record_ring_goes(struct ring *r);

/* Is it recorded, and is there room for one more job? */
static inline bool record_has_room(const struct session *s)
{
	return s->trace && s->trace->room > 0;
}

/* An SQE that is being fetched. */
struct record_sqe {
	uint64_t jobs, failed, refused; /* so many there were before it */
	uint32_t posted;                /* index of the next CQE */
};

struct record_sqe record_begin(const struct ring *r);

/* It has ended at its fetch, or has become a job.  *start: TSC of its start; then of the next. */
void record_end(struct ring *r, const struct record_sqe *sqe, uint32_t sq_index, uint64_t *start);

/* A NOP that came alone has been answered, and is about to be released: all in one moment. */
void record_nop(struct ring *r, uint64_t at);

/* Who runs a job of the table, or has (enum quoit_trace_place); once its start is known. */
uint8_t record_place(const struct session *s, const struct job *job);

/* A job of the table has ended. */
void record_count_job(struct ring *r, const struct job *job, int32_t res);

static inline void record_job(struct ring *r, const struct job *job, int32_t res)
{
	if (__builtin_expect(r->session->trace != NULL, 0))
		record_count_job(r, job, res);
}

/*
 * When it is time: take what clients have noted, as far as *notes allows for all sessions together,
 * say how much there is of what, and make room.  Rings' pages are guarded.  Returns the ticks that
 * it took, for the caller to charge.
 */
uint64_t record_tick(struct session *s, uint64_t now, uint32_t *notes);

/* Say how much there is of what now. */
void record_tell(struct session *s, uint64_t now);

#endif
