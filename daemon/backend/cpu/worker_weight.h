/* SPDX-License-Identifier: MIT */
/*
 * worker_weight.h - the weight with which a worker competes for its core.
 *
 * A worker has two threads, and one of them works at a time: the kernel lets an unprivileged thread
 * raise its nice value but never lower it again.
 *
 * The background thread has nice 19.  It gives way to the core's reactor and to clients that wake
 * there, so another session's small jobs take microseconds beside tiles.  But it gives way to every
 * other program, too: beside one that computes it gets 1.5 % of the core.
 *
 * The equal thread has quoitd's own nice value.  It shares the core evenly with other programs, but
 * a reactor that has had more than its half must wait for milliseconds.
 *
 * The equal thread works while another program uses the core, and while no session but the tile's
 * has small jobs on the core's reactor.  Otherwise the background thread works.  So a product takes
 * as long as the same product in a thread of the program, and while only quoitd uses the core, the
 * reactor answers other sessions in microseconds.
 *
 * Where the kernel allows quoitd no more threads (RLIMIT_NPROC, a cgroup's pids.max), each worker
 * has its background thread alone.
 */
#ifndef QUOITD_WORKER_WEIGHT_H
#define QUOITD_WORKER_WEIGHT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- sessions with small jobs: written by a reactor, read by the workers on its core ---- */

/* The last two sessions: one of them differs from the session of any tile. */
#define WEIGHT_SERVED 2

struct weight_served {
	struct {
		_Atomic uint64_t session; /* its id; 0: none */
		_Atomic uint64_t at;      /* TSC; up to WEIGHT_NOTE_NS too early */
	} last[WEIGHT_SERVED];
};

#define WEIGHT_NOTE_NS 1000000u

/* The reactor served this session, which has no work with the workers. */
void weight_note_new(struct weight_served *served, uint64_t session, uint64_t now);

/* The same, but at most once in note_ticks (WEIGHT_NOTE_NS) for the same session. */
static inline void weight_note(struct weight_served *served, uint64_t session, uint64_t now,
			       uint64_t note_ticks)
{
	if (atomic_load_explicit(&served->last[0].session, memory_order_relaxed) != session ||
	    now - atomic_load_explicit(&served->last[0].at, memory_order_relaxed) > note_ticks)
		weight_note_new(served, session, now);
}

/* Has another session than this one had small jobs in the last WEIGHT_QUICK_NS? */
bool weight_has_others(const struct weight_served *served, uint64_t session, uint64_t now);

#define WEIGHT_QUICK_NS 100000000u

/* ---- other programs on the core, as one worker sees them ---- */

struct weight {
	uint64_t wall_ns, cpu_ns;  /* of the tiles since the last verdict */
	bool background;           /* by which thread: the one that gives way */
	uint64_t contested_until;  /* TSC */
	uint64_t background_until; /* TSC; longer than a note, so that threads need not alternate */
};

/*
 * Count a share of tiles: its wall-clock time without that of the core's reactor, and its CPU
 * time.  background: the thread that gives way ran it.  now: TSC.
 */
void weight_count(struct weight *w, uint64_t wall_ns, uint64_t cpu_ns, bool background,
		  uint64_t now);

/* Should a tile of this session run in the thread that gives way? */
bool weight_gives_way(struct weight *w, const struct weight_served *served, uint64_t session,
		      uint64_t now);

#endif
