/* SPDX-License-Identifier: MIT */
/*
 * sample.h - samples SQEs and CQEs and times their phases (QUOIT_PHASES).
 *
 * One SQE and one CQE in 64 are timed (quoit/sample.h), and none within LATENCY_GAP_NS of the one
 * before; each stands for all since then.  If they come faster, the ring's client is told to note
 * fewer, since reading the clock takes it as long as several NOPs.  Every job that ran for long is
 * timed, too.  Times that a client noted go into its own session's counts and nowhere else.
 */
#ifndef QUOITD_SAMPLE_H
#define QUOITD_SAMPLE_H

#include <quoit/sample.h>

#include "base/tsc.h"
#include "latency.h"

void sample_init(struct ring *r);

/* ---- fetch ---- */

/* True: the last sample was too recent, and none before `end` is taken. */
bool sample_is_early(struct ring *r, uint32_t end);

/* Is a sample due among the SQEs up to `end`, which are fetched now? */
static inline bool sample_is_in(struct ring *r, uint32_t end)
{
	return LATENCY_ON && quoit_sample_precedes(r->samples.sq, end) && !sample_is_early(r, end);
}

struct sample {
	uint64_t fetch;  /* TSC */
	uint32_t weight; /* how many SQEs it stands for */
	uint32_t posted; /* before it: index of the next CQE */
	uint64_t failed; /* before it: number of failed jobs */
};

/* Before the SQE is run; after it became a job; after it was run. */
struct sample sample_begin(const struct ring *r, uint32_t sq_index);
void sample_is_job(struct ring *r, const struct sample *sample, struct job *job);
void sample_was_run(struct ring *r, const struct sample *sample, uint8_t opcode);

/* ---- a job that has succeeded, after its CQE; posted: it had one ---- */

void sample_count_job(struct ring *r, const struct job *job, bool posted);

/* A small job in a device's direct ring does not count as long: it only waited there for others. */
static inline void sample_job(struct ring *r, const struct job *job, bool posted)
{
	if (LATENCY_ON &&
	    (job->weight || (job->end - job->start > r->session->latency_long && !job->direct)))
		sample_count_job(r, job, posted);
}

/* ---- CQEs ---- */

void sample_count_posts(struct ring *r);

/* Before a flush makes the ring's new CQEs visible. */
static inline void sample_flush(struct ring *r)
{
	if (LATENCY_ON && __builtin_expect(quoit_sample_precedes(r->samples.watch, r->cq.next), 0))
		sample_count_posts(r);
}

/* Count what the client has reaped since the last call.  Reads the client's line, so its pages are
 * guarded (sigbus_guard.h). */
void sample_collect(struct ring *r);

/* ---- now and then ---- */

void sample_less_rarely(struct ring *r, uint64_t now);

/* Make samples frequent again if a fast ring has become slow.  Its pages are guarded. */
static inline void sample_watch(struct ring *r, uint64_t now)
{
	if (LATENCY_ON && (r->samples.sq_rarity || r->samples.cq_rarity))
		sample_less_rarely(r, now);
}

#endif
