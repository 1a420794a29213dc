/* SPDX-License-Identifier: MIT */
/*
 * legs.h - how long a session's jobs took, leg by leg, and how many there were of each operation.
 *
 * The file (quoit_session_legs) is written where it lies.
 */
#ifndef QUOITD_LEGS_H
#define QUOITD_LEGS_H

#include "session.h"

/* To measure what all this costs: make CFLAGS='-O2 -g -DQUOIT_WITHOUT_LEGS' B=build/bare. */
#ifdef QUOIT_WITHOUT_LEGS
#define LEGS_ON false
#else
#define LEGS_ON true
#endif

#define LEGS_LONG_NS 10000u /* jobs that run longer are all timed */
/* Samples of a ring are no closer: many a job is shorter than its timing. */
#define LEGS_GAP_NS  16000u

/*
 * Make the session's file, for its user and us to read; -errno: there is none, or its user cannot
 * read it.  The daemon works without.  Control thread, before the reactor has the session.
 */
int legs_open(struct session *s, int directory);

/* Remove the file.  Control thread, after the reactor. */
void legs_close(struct session *s, int directory);

/* `weight` jobs took so long; the second: for their run.  The session's reactor. */
void legs_add(struct session *s, unsigned leg, uint64_t ticks, uint32_t weight);
void legs_run(struct session *s, uint8_t opcode, uint64_t ticks, uint32_t weight);

/* Tell how many NOPs were fetched, before anybody is told how many jobs. */
void legs_tell_nops(struct session *s);

/* Add what was done of each operation since the last time to what its reactor has (summary.h). */
void legs_hand_over(struct session *s);

/* Copy what a ring's client tells of its waits; `from` is guarded (guard.h). */
void legs_tell_sites(struct session *s, uint32_t ring, const struct quoit_site *from);

/* A job of this operation has moved so many bytes. */
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
 * So many jobs of this operation were fetched.  NOPs are not counted as they come, each may be the
 * only one of its burst: they are what is left of all that were fetched (legs_tell_nops).
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
