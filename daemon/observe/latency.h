/* SPDX-License-Identifier: MIT */
/*
 * latency.h - how long a session's jobs took, phase by phase, and how many of each operation there
 * were.
 *
 * Counts are written directly into the mapped file (quoit_session_latency).
 */
#ifndef QUOITD_LATENCY_H
#define QUOITD_LATENCY_H

#include "session/session.h"

/* To measure what this costs: make CFLAGS='-O2 -g -DQUOIT_WITHOUT_LATENCY' B=build/bare. */
#ifdef QUOIT_WITHOUT_LATENCY
#define LATENCY_ON false
#else
#define LATENCY_ON true
#endif

#define LATENCY_LONG_NS 10000u /* all longer jobs are timed */
/* Least gap between a ring's samples: many jobs are shorter than the timing of one. */
#define LATENCY_GAP_NS  16000u

/*
 * Make the session's file, which its user and quoitd can read.  -errno: there is no file, or its
 * user cannot read it; quoitd works without.  Control thread, before the reactor has the session.
 */
int latency_open(struct session *s, int directory);

/* Remove the file.  Control thread, after the reactor. */
void latency_close(struct session *s, int directory);

/* Count `weight` jobs that took so long: in a phase; in their run.  The session's reactor. */
void latency_add(struct session *s, unsigned phase, uint64_t ticks, uint32_t weight);
void latency_add_run(struct session *s, uint8_t opcode, uint64_t ticks, uint32_t weight);

/* Publish how many NOPs were fetched; call it before the number of jobs is published. */
void latency_tell_nops(struct session *s);

/*
 * Add to the reactor's totals (reactor_histograms.h) what was done of each operation since the last
 * call.
 */
void latency_hand_over(struct session *s);

/* Copy what a ring's client notes of its waits; `from` is guarded (sigbus_guard.h). */
void latency_tell_sites(struct session *s, uint32_t ring, const struct quoit_site *from);

/*
 * What the program had acquired at this call site is released, and jobs waited for that from `from`
 * until now (TSC).  Of holds at one site each moment counts once, unless a hold that began and ended
 * within another one ends first: then the time before that does not count.
 */
void latency_count_held(struct session *s, uint32_t ring, uint32_t site, uint64_t from,
			uint64_t now);

/* Count bytes that a job of this operation has moved. */
static inline void latency_count_bytes(struct session *s, uint8_t opcode, uint64_t bytes)
{
	uint64_t *moved;

	if (!LATENCY_ON || !s->latency)
		return;
	moved = &s->latency->bytes[opcode];
	__atomic_store_n(moved, *moved + bytes, __ATOMIC_RELAXED);
	s->bytes_moved += bytes;
}

/*
 * Count fetched jobs of this operation.  NOPs are not counted as they come, since each may be the
 * only one of its burst: their number is what is left of all that were fetched (latency_tell_nops).
 */
static inline void latency_count_jobs(struct session *s, uint8_t opcode, uint32_t count)
{
	uint64_t *jobs;

	if (!LATENCY_ON || opcode == QUOIT_OP_NOP || !s->latency)
		return;
	jobs = &s->latency->operation[opcode].jobs;
	__atomic_store_n(jobs, *jobs + count, __ATOMIC_RELAXED);
	s->jobs_counted += count;
}

#endif
