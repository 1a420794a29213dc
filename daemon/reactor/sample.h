/* SPDX-License-Identifier: MIT */
/*
 * sample.h - who is timed on its way from SQE to CQE, and what its legs are (QUOIT_LEGS).
 *
 * One SQE and one CQE of each 64 (quoit/sample.h), but none within LEGS_GAP_NS of the one before;
 * it stands for all since then.  Where they come faster than that, the ring's client is told to
 * note fewer, since a reading of the clock takes it as long as several NOPs.  And every job that
 * ran for long.  What a client says of times goes into its own session's counts and nowhere else.
 */
#ifndef QUOITD_SAMPLE_H
#define QUOITD_SAMPLE_H

#include <quoit/sample.h>

#include "host/tsc.h"
#include "session/legs.h"

void sample_init(struct ring *r);

/* ---- fetch ---- */

/* It is too soon after the last one: none before `end` is timed. */
bool sample_is_early(struct ring *r, uint32_t end);

/* Is one to be timed among the SQEs up to `end`, which are fetched now? */
static inline bool sample_is_in(struct ring *r, uint32_t end)
{
	return LEGS_ON && quoit_sample_precedes(r->samples.sq, end) && !sample_is_early(r, end);
}

struct sample {
	uint64_t fetch;  /* TSC */
	uint32_t weight; /* it stands for so many */
	uint32_t posted; /* index of the next CQE, */
	uint64_t failed; /* and how many had failed, before it */
};

/* Before and after the SQE becomes a job, or has been one. */
struct sample sample_begin(const struct ring *r, uint32_t sq_index);
void sample_is_job(struct ring *r, const struct sample *sample, struct job *job);
void sample_was_run(struct ring *r, const struct sample *sample, uint8_t opcode);

/* ---- a job that has succeeded, after its CQE; posted: it had one ---- */

void sample_count_job(struct ring *r, const struct job *job, bool posted);

/* Small jobs in a device's direct ring are long only by those before them there. */
static inline void sample_job(struct ring *r, const struct job *job, bool posted)
{
	if (LEGS_ON &&
	    (job->weight || (job->end - job->start > r->session->legs_long && !job->direct)))
		sample_count_job(r, job, posted);
}

/* ---- CQEs ---- */

void sample_count_posts(struct ring *r);

/* All CQEs of the ring are about to be seen. */
static inline void sample_flush(struct ring *r)
{
	if (LEGS_ON && __builtin_expect(quoit_sample_precedes(r->samples.watch, r->cq.next), 0))
		sample_count_posts(r);
}

/* Count what the client has reaped since; its line has just been read, or may be: it is guarded
 * (guard.h). */
void sample_collect(struct ring *r);

/* ---- now and then ---- */

void sample_less_rarely(struct ring *r, uint64_t now);

/* A ring that was fast may be so no more.  Its pages are guarded. */
static inline void sample_watch(struct ring *r, uint64_t now)
{
	if (LEGS_ON && (r->samples.sq_rarity || r->samples.cq_rarity))
		sample_less_rarely(r, now);
}

#endif
