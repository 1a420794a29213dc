/* SPDX-License-Identifier: MIT */
/*
 * legs.h - how long a session's jobs took, leg by leg, and how many of each operation there were.
 *
 * Counts are written directly into the mapped file (quoit_session_legs).
 */
#ifndef QUOITD_LEGS_H
#define QUOITD_LEGS_H

#include "session/session.h"

/* To measure what this costs: make CFLAGS='-O2 -g -DQUOIT_WITHOUT_LEGS' B=build/bare. */
#ifdef QUOIT_WITHOUT_LEGS
#define LEGS_ON false
#else
#define LEGS_ON true
#endif

#define LEGS_LONG_NS 10000u /* all longer jobs are timed */
/* Least gap between a ring's samples: many jobs are shorter than the timing of one. */
#define LEGS_GAP_NS  16000u

/*
 * Make the session's file, readable for its user and us.  -errno: there is no file, or its user
 * cannot read it; the daemon works without.  Control thread, before the reactor has the session.
 */
int legs_open(struct session *s, int directory);

/* Remove the file.  Control thread, after the reactor. */
void legs_close(struct session *s, int directory);

/* Count `weight` jobs that took so long: on a leg; in their run.  The session's reactor. */
void legs_add(struct session *s, unsigned leg, uint64_t ticks, uint32_t weight);
void legs_run(struct session *s, uint8_t opcode, uint64_t ticks, uint32_t weight);

/* Publish how many NOPs were fetched; call it before the number of jobs is published. */
void legs_tell_nops(struct session *s);

/* Add to the reactor's totals (reactor_histograms.h) what was done of each operation since the last call. */
void legs_hand_over(struct session *s);

/* Copy what a ring's client notes of its waits; `from` is guarded (sigbus_guard.h). */
void legs_tell_sites(struct session *s, uint32_t ring, const struct quoit_site *from);

/* Count bytes that a job of this operation has moved. */
static inline void legs_move(struct session *s, uint8_t opcode, uint64_t bytes)
{
	uint64_t *moved;

	if (!LEGS_ON || !s->legs)
		return;
	moved = &s->legs->bytes[opcode];
	__atomic_store_n(moved, *moved + bytes, __ATOMIC_RELAXED);
	s->bytes_moved += bytes;
}

/*
 * Count fetched jobs of this operation.  NOPs are not counted as they come, since each may be the
 * only one of its burst: their number is what is left of all that were fetched (legs_tell_nops).
 */
static inline void legs_count(struct session *s, uint8_t opcode, uint32_t count)
{
	uint64_t *jobs;

	if (!LEGS_ON || opcode == QUOIT_OP_NOP || !s->legs)
		return;
	jobs = &s->legs->operation[opcode].jobs;
	__atomic_store_n(jobs, *jobs + count, __ATOMIC_RELAXED);
	s->jobs_counted += count;
}

#endif
