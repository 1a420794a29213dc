/* SPDX-License-Identifier: MIT */
/*
 * probes.h - quoitd's USDT probes for tracers; quoit_probes(7) lists them.
 *
 * The kernel counts a probe's semaphore up while it is traced.  Until then a probe costs a load, a
 * comparison and a branch not taken, and the code for its arguments is out of the way.  On the hot
 * path there is one probe per burst, not one per SQE or CQE.
 */
#ifndef QUOITD_PROBES_H
#define QUOITD_PROBES_H

#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#include "base/fault.h"
#include "session/session.h"

/* sdt.h prescribes the name.  It has a cache line to itself, so that no write disturbs it. */
#define PROBE_SEMAPHORE(name)                                                                      \
	__attribute__((visibility("hidden"))) unsigned short                                       \
		quoit_##name##_semaphore[QUOIT_LINE / sizeof(unsigned short)]
#define PROBE_IS_TRACED(name) __builtin_expect(quoit_##name##_semaphore[0] != 0, 0)

extern PROBE_SEMAPHORE(fetch);
extern PROBE_SEMAPHORE(refuse);
extern PROBE_SEMAPHORE(start);
extern PROBE_SEMAPHORE(end);
extern PROBE_SEMAPHORE(post);
extern PROBE_SEMAPHORE(wake);

/* sdt.h's macros are not strict C; clang warns where they are used. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"

/* A burst of `count` SQEs has been fetched, and its slots are about to be given back. */
static inline void probe_fetch(const struct ring *r, uint32_t count)
{
	if (PROBE_IS_TRACED(fetch))
		STAP_PROBE4(quoit, fetch, r->session->id, r->index, r->sq.next, count);
}

/* An SQE was refused. */
static inline void probe_refuse(const struct ring *r, const struct quoit_sqe *sqe,
				uint32_t sq_index, const struct fault *fault)
{
	if (PROBE_IS_TRACED(refuse))
		STAP_PROBE6(quoit, refuse, r->session->id, r->index, sq_index,
			    (uint32_t)sqe->opcode, fault->code, (uint32_t)fault->field);
}

/* The probe itself, behind its semaphore. */
static inline void probe_start_at(const struct session *s, const struct job *job, uint32_t place)
{
	STAP_PROBE6(quoit, start, s->id, (uint32_t)job->ring, job->sq_index, job->sqe.user_data,
		    (uint32_t)job->sqe.opcode, place);
}

void probe_start_traced(const struct session *s, const struct job *job);

/* A job of the table goes to its executor; its time of start is set. */
static inline void probe_start(const struct session *s, const struct job *job)
{
	if (PROBE_IS_TRACED(start))
		probe_start_traced(s, job);
}

/* A job of the table has ended. */
static inline void probe_end(const struct session *s, const struct job *job, int32_t res)
{
	if (PROBE_IS_TRACED(end))
		STAP_PROBE6(quoit, end, s->id, (uint32_t)job->ring, job->sq_index,
			    job->sqe.user_data, (uint32_t)job->sqe.opcode, res);
}

/* CQEs are about to be published. */
static inline void probe_post(const struct ring *r)
{
	if (PROBE_IS_TRACED(post))
		STAP_PROBE4(quoit, post, r->session->id, r->index, r->cq.published,
			    r->cq.next - r->cq.published);
}

/* The client is woken, since it slept when these CQEs were published. */
static inline void probe_wake(const struct ring *r)
{
	if (PROBE_IS_TRACED(wake))
		STAP_PROBE3(quoit, wake, r->session->id, r->index, r->cq.published);
}

#pragma GCC diagnostic pop

#endif
