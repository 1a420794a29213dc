/* SPDX-License-Identifier: MIT */
/*
 * worker_weight.h - at which weight a worker competes for its core.
 *
 * A worker has two threads, of which one works at a time, since the kernel lets a thread without
 * privileges raise its nice value and never lower it again:
 *
 * The background thread has nice 19.  It gives way to the core's reactor and to clients that wake
 * there, so another session's small jobs take microseconds beside tiles.  But it gives way to every
 * other program, too: beside one that computes it gets 1.5 % of the core.
 *
 * The equal thread has quoitd's own nice value.  It shares the core evenly with other programs; but
 * a reactor that has had more than its half has to wait for milliseconds.
 *
 * The equal one works while another program takes the core, and while no other session has small
 * jobs on the core's reactor, or the tile's; else the background one does.  So a product takes as
 * long as the same product in a thread of the program, and the reactor answers other sessions in
 * microseconds as long as only quoitd uses the core.
 *
 * Where the kernel gives quoitd no thread more (RLIMIT_NPROC, a cgroup's pids.max), the background
 * thread of each worker works alone.
 */
#ifndef QUOITD_WORKER_WEIGHT_H
#define QUOITD_WORKER_WEIGHT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- sessions that have small jobs: written by a reactor, read by the workers on its core ---- */

/* Two of them, so that one differs from the session of any tile. */
#define WEIGHT_SERVED 2

struct weight_served {
	struct {
		_Atomic uint64_t session; /* its number; 0: none */
		_Atomic uint64_t at;      /* TSC; within WEIGHT_NOTE_NS */
	} last[WEIGHT_SERVED];
};

#define WEIGHT_NOTE_NS 1000000u

/* The reactor served this session, which has no work that workers run. */
void weight_note_new(struct weight_served *served, uint64_t session, uint64_t now);

/* The same.  note_ticks: WEIGHT_NOTE_NS. */
static inline void weight_note(struct weight_served *served, uint64_t session, uint64_t now,
			       uint64_t note_ticks)
{
	if (atomic_load_explicit(&served->last[0].session, memory_order_relaxed) != session ||
	    now - atomic_load_explicit(&served->last[0].at, memory_order_relaxed) > note_ticks)
		weight_note_new(served, session, now);
}

/* Has a session other than this one had small jobs in the last WEIGHT_QUICK_NS? */
bool weight_has_others(const struct weight_served *served, uint64_t session, uint64_t now);

#define WEIGHT_QUICK_NS 100000000u

/* ---- other programs on the core: of one worker ---- */

struct weight {
	uint64_t wall_ns, cpu_ns;  /* of the tiles since the last verdict, */
	bool background;           /* all by this thread */
	uint64_t contested_until;  /* TSC */
	uint64_t background_until; /* TSC; sessions take turns, and the threads need not */
};

/*
 * Tiles have taken so long on the wall, without the time of the core's reactor, and of that so much
 * CPU time.  background: by the thread that gives way.  now: TSC.
 */
void weight_count(struct weight *w, uint64_t wall_ns, uint64_t cpu_ns, bool background,
		  uint64_t now);

/*
 * Is a tile of this session to run in the thread that gives way?
 */
bool weight_gives_way(struct weight *w, const struct weight_served *served, uint64_t session,
		      uint64_t now);

#endif
