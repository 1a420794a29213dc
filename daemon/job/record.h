/* SPDX-License-Identifier: MIT */
/*
 * record.h - what is written into a session's trace while it is recorded (observe/trace.h).
 *
 * A session without a trace pays for one test of a pointer per burst and per job of the table.
 */
#ifndef QUOITD_RECORD_H
#define QUOITD_RECORD_H

#include "observe/trace.h"

/* A reactor that sleeps looks this often whether clients of recorded sessions have noted more. */
#define RECORD_SLEEP_NS 20000000u

/* Lend a trace to a session of this reactor; take back the one with this id. */
void record_attach(struct session *s, struct trace *t);
void record_detach(struct session *s, uint32_t id);

/* A ring comes; a ring goes, while its pages are guarded (sigbus_guard.h). */
void record_ring(struct ring *r);
void record_ring_goes(struct ring *r);

/* Has the session a trace with room for one more job? */
static inline bool record_has_room(const struct session *s)
{
	return s->trace && s->trace->room > 0;
}

/* The state before an SQE is fetched. */
struct record_sqe {
	uint64_t jobs, failed, refused; /* how many there were before it */
	uint32_t posted;                /* index of the next CQE */
};

/* Only while record_has_room. */
struct record_sqe record_begin(const struct ring *r);

/* The SQE has ended at its fetch, or become a job.  *start: TSC of its start, then of the next. */
void record_end(struct ring *r, const struct record_sqe *sqe, uint32_t sq_index, uint64_t *start);

/* A NOP was answered by fetch_alone, before its slot is released: all its times are `at`. */
void record_nop(struct ring *r, uint64_t at);

/* Where a job of the table runs or ran (enum quoit_trace_place); valid once its start is known. */
uint8_t record_place(const struct session *s, const struct job *job);

/* Record a job of the table that has ended, if there is room. */
void record_count_job(struct ring *r, const struct job *job, int32_t res);

static inline void record_job(struct ring *r, const struct job *job, int32_t res)
{
	if (__builtin_expect(r->session->trace != NULL, 0))
		record_count_job(r, job, res);
}

/* The program has released what this acquire was granted.  awaited: TSC, 0: no job waited for it. */
void record_hold(struct session *s, const struct job *job, uint64_t awaited, uint64_t now);

/* A call of a service or a lock has come back (record_named.c); its job is about to end. */
void record_named_call(struct session *s, const struct job *job, const struct service_call *call);

static inline void record_named(struct session *s, const struct job *job,
				const struct service_call *call)
{
	if (__builtin_expect(s->trace != NULL, 0))
		record_named_call(s, job, call);
}

/*
 * When it is time: take what the client has noted, as far as *notes (for all sessions together)
 * allows, publish the counts, and make room.  Rings' pages are guarded.  Returns the ticks that it
 * took, for the caller to charge.
 */
uint64_t record_tick(struct session *s, uint64_t now, uint32_t *notes);

/* Publish the trace's counts now. */
void record_tell(struct session *s, uint64_t now);

#endif
