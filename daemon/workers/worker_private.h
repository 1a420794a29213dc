/* SPDX-License-Identifier: MIT */
/*
 * worker_private.h - what the files behind worker.h share: work.c (the tiles of one work),
 * worker.c (a thread), worker_turn.c (which of two works), worker_rest.c (a thread without
 * work), worker_port.c (a reactor's side) and workers.c (all of them).
 */
#ifndef QUOITD_WORKER_PRIVATE_H
#define QUOITD_WORKER_PRIVATE_H

#include <pthread.h>
#include <time.h>

#include <quoit/stats.h>

#include "worker.h"
#include "worker_weight.h"

/* From one worker to one reactor: numbers of slots whose work has ended. */
struct worker_done {
	_Alignas(64) uint32_t head;
	_Alignas(64) uint32_t tail;
	uint32_t slot[WORKER_SLOTS];
	struct quoit_producer producer;
	_Alignas(64) struct quoit_consumer consumer;
};

/* Tiles of one work that a worker runs one after the other. */
struct share {
	struct work *work; /* NULL: none is begun */
	uint32_t reactor, slot;
	uint32_t tiles; /* that have been run */
	uint64_t start; /* TSC */
};

/* The threads of a worker, of which one works at a time: see worker_weight.h. */
enum { WORKER_BACKGROUND, WORKER_EQUAL, WORKER_THREADS };

struct worker_thread {
	struct worker *worker;
	pthread_t thread;
	clockid_t clock; /* its CPU time */
	pid_t tid;       /* atomic */
};

/* How a worker rests: worker_rest.c. */
struct worker_rest {
	uint64_t spin_ticks;  /* how long it spins before it sleeps */
	uint64_t slept_ticks; /* how long it has just slept; 0: not at all */
	uint64_t no_spin_until;
	bool spun; /* the bell has just ended a spin */
};

struct worker {
	struct workers *all;
	struct worker_thread thread[WORKER_THREADS];
	_Atomic uint32_t turn; /* modulo WORKER_THREADS, which thread works; a futex */
	struct weight weight;
	uint32_t reactor; /* of this core; `reactors`: none */
	uint32_t index;
	uint32_t cpu;
	bool anywhere; /* its node has no reactor */
	/* Its own: */
	_Alignas(64) struct share share;
	uint64_t read;         /* ns of its CPU time, when it last looked; 0: before it slept */
	uint64_t reactor_read; /* ns of the reactor's, at the same time */
	struct worker_rest rest;
	/* and to be read by others: tiles it has run, ticks that they took, and for the share that
	 * it is at (0: none) its thread's CPU time at the start * WORKER_THREADS + its thread */
	uint64_t tiles, ticks, since;
	uint64_t looks; /* for a tile: for the watchdog */
};

struct workers {
	struct worker_config config;
	struct worker *worker;
	struct worker_port *port; /* one per reactor */
	struct ledger *ledger; /* as many as reactors; used are those of the first of each node */
	_Atomic bool stop;
	/* Workers that spin look at it, so it shares its line with nothing else that changes. */
	_Alignas(64) _Atomic uint32_t bell; /* changes whenever there is something new to claim */
	_Alignas(64) _Atomic uint32_t sleepers;
	_Atomic uint64_t order;               /* of turns: publications, and whenever one is over */
	uint64_t (*times)[QUOIT_LEG_BUCKETS]; /* of each worker's tiles; its own to write */
	uint32_t *cores;                      /* of each reactor: workers that take its works */
	uint32_t started, doubled;            /* workers with their first thread, and with both */
	_Atomic bool both;                    /* all have both; else the first one works, */
	_Atomic bool single;                  /* and the second ones are to end */
};

/* ---- work.c ---- */

/* Wake whoever waits for something to claim; wait for it, unless it has rung since `seen`. */
void workers_ring(struct workers *w);
void workers_wait(struct workers *w, uint32_t seen);

/* In how many tiles its ranges are cleared, 0: there are none; and one of them. */
uint32_t work_clear_tiles(const struct work *work);
void work_clear_tile(const struct work *work, uint64_t tile);

/* In how many tiles it is computed. */
uint32_t work_compute_tiles(const struct workers *w, const struct work *work, uint32_t reactor);

/* Open `tiles` to be claimed by who is awake.  All else about the work is written before. */
void work_offer(struct work *work, uint32_t tiles);

/* ---- worker.c ---- */

/* Does this worker take works of that reactor? */
bool worker_takes_from(const struct worker *me, uint32_t reactor);

/* A thread of it: a struct worker_thread. */
void *worker_run(void *thread);

/* ---- worker_turn.c ---- */

/* Which thread works, for itself; and for others. */
unsigned worker_turn(const struct worker *me);
const struct worker_thread *worker_at_work(const struct worker *me);

/*
 * By which thread a tile of this work is to be run.  publisher: the work's reactor.  On a core
 * without a reactor that one's clients run, and have to be woken as soon as it.
 */
unsigned worker_wanted_turn(struct worker *me, const struct work *work, uint32_t publisher);

/* Between two shares: the other thread goes on, and this one waits for its turn. */
void worker_pass_turn(struct worker *me);

/* This thread is to end. */
bool worker_is_over(const struct worker *me, unsigned which);

/* False: this thread has waited until the turn was passed on, or all is over. */
bool worker_has_turn(struct worker *me, unsigned which);

/* The thread that works has to look at `stop`, and so has the other. */
void worker_call_both(struct worker *me);

/* The share that ends has had so much CPU time. */
void worker_count_weight(struct worker *me, uint64_t cpu_ns);

/* What the reactor on this core has had of it, also to look for work; 0: there is none. */
uint64_t worker_reactor_ns(const struct worker *me);

/* CPU time, in ns, of the share that it is at; 0: it is at none.  Any thread. */
uint64_t worker_share_ns(const struct worker *me);

/* CPU time of a thread by its clock, in ns. */
uint64_t worker_cpu_ns(clockid_t clock);

/* ---- worker_rest.c ---- */

/* Spin if that seems worth it; true: the bell has rung since `seen`. */
bool worker_spin(struct worker *me, uint32_t seen);

/* Sleep until the bell has rung since `seen`. */
void worker_sleep(struct worker *me, uint32_t seen);

/* After each look for a tile: how long it spins next time.  found: there was one. */
void worker_learn_rest(struct worker *me, bool found);

/* ---- worker_port.c ---- */

/* An empty port with a ring from each worker; -ENOMEM.  To be closed even so. */
int worker_port_open(struct worker_port *port, struct workers *w);
void worker_port_close(struct worker_port *port);

#endif
