/* SPDX-License-Identifier: MIT */
/*
 * worker_private.h - what the files behind worker.h share.
 *
 *	work.c         the tiles of a work
 *	worker.c       a thread
 *	worker_turn.c  which of a worker's two threads works
 *	worker_rest.c  a thread without work
 *	worker_port.c  a reactor's side
 *	workers.c      all workers
 */
#ifndef QUOITD_WORKER_PRIVATE_H
#define QUOITD_WORKER_PRIVATE_H

#include <pthread.h>
#include <time.h>

#include <quoit/stats.h>

#include "worker.h"
#include "worker_weight.h"

/* From a worker to a reactor: the slots of works that have ended. */
struct worker_done {
	_Alignas(64) uint32_t head;
	_Alignas(64) uint32_t tail;
	uint32_t slot[WORKER_SLOTS];
	struct quoit_producer producer;
	_Alignas(64) struct quoit_consumer consumer;
};

/* Tiles of one work that a worker runs one after another. */
struct share {
	struct work *work; /* NULL: none is begun */
	uint32_t reactor, slot;
	uint32_t tiles; /* tiles run so far */
	uint64_t start; /* TSC */
};

/* The threads of a worker; one works at a time (worker_weight.h). */
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
	uint64_t ban_ticks; /* how long it did not spin after it last lost its core in a spin */
	bool spun;          /* the bell has just ended a spin */
};

struct worker {
	struct workers *all;
	struct worker_thread thread[WORKER_THREADS];
	_Atomic uint32_t turn; /* which thread works, modulo WORKER_THREADS; a futex */
	struct weight weight;
	uint32_t reactor; /* pinned to the same core; config.reactors: none */
	uint32_t index;
	uint32_t cpu;
	bool anywhere; /* its node has no reactor */
	/* Only the thread that works touches these. */
	_Alignas(64) struct share share;
	uint64_t read;         /* its CPU time in ns at the last reading; 0: not known */
	uint64_t reactor_read; /* the reactor's in ns, at the same time */
	struct worker_rest rest;
	/* Others read these: tiles run, their ticks, and for the current share (0: none) its
	 * thread's CPU time at the start in ns * WORKER_THREADS + the thread's number. */
	uint64_t tiles, ticks, since;
	uint64_t looks; /* looks for a tile, for the watchdog */
};

struct workers {
	struct worker_config config;
	struct worker *worker;
	struct worker_port *port; /* one per reactor */
	struct ledger *ledger;    /* one per reactor; a node uses that of its first */
	_Atomic bool stop;
	uint64_t (*times)[QUOIT_LATENCY_BUCKETS]; /* of each worker's tiles; only it writes them */
	uint32_t *cores;           /* for each reactor: workers that take its works */
	uint32_t started, doubled; /* workers with a first thread, and with a second */
	_Atomic bool both;         /* all have both; else the first threads work */
	_Atomic bool single;       /* the second threads are to end */
	/* Workers that spin look at it, so its line has nothing else that changes. */
	_Alignas(64) _Atomic uint32_t bell; /* changes whenever there is something new to claim */
	_Alignas(64) _Atomic uint32_t sleepers;
	_Atomic uint64_t order; /* numbers turns: each new work and each ended turn takes one */
};

/* ---- work.c ---- */

/* Wake all workers that wait for tiles; wait for tiles, unless the bell has rung since `seen`. */
void workers_ring(struct workers *w);
void workers_wait(struct workers *w, uint32_t seen);

/* How many tiles clear the work's ranges, 0: it has none; and clear one of them. */
uint32_t work_clear_tiles(const struct work *work);
void work_clear_tile(const struct work *work, uint64_t tile);

/* How many tiles compute the work. */
uint32_t work_compute_tiles(const struct workers *w, const struct work *work, uint32_t reactor);

/* Offer its first tiles: those that clear its ranges, or, where it has none, those that compute. */
void work_begin(struct workers *w, struct work *work, uint32_t reactor);

/* Let workers claim `tiles` of the work; all else about it has been written before. */
void work_offer(struct work *work, uint32_t tiles);

/* ---- worker.c ---- */

/* Does this worker take works of that reactor? */
bool worker_takes_from(const struct worker *me, uint32_t reactor);

/* The body of a worker's thread; takes a struct worker_thread. */
void *worker_run(void *thread);

/* ---- worker_turn.c ---- */

/* The thread that has the turn: for the worker's own threads; and for any thread. */
unsigned worker_turn(const struct worker *me);
const struct worker_thread *worker_at_work(const struct worker *me);

/*
 * Which thread should run a tile of this work?  publisher: the work's reactor.  It counts on a core
 * that has no reactor, since its clients run there and must be woken quickly.
 */
unsigned worker_wanted_turn(struct worker *me, const struct work *work, uint32_t publisher);

/* Between two shares: let the other thread go on; this one then waits for its turn. */
void worker_pass_turn(struct worker *me);

/* Is this thread to end? */
bool worker_is_over(const struct worker *me, unsigned which);

/* Has this thread the turn?  False: it has slept; call again. */
bool worker_has_turn(struct worker *me, unsigned which);

/* Make both threads look at `stop` and `single`. */
void worker_call_both(struct worker *me);

/* Count a share that ends, with so much CPU time. */
void worker_count_weight(struct worker *me, uint64_t cpu_ns);

/* CPU time in ns of the reactor on this core, its looks for work included; 0: there is none. */
uint64_t worker_reactor_ns(const struct worker *me);

/* CPU time in ns of the current share; 0: there is none.  Any thread. */
uint64_t worker_share_ns(const struct worker *me);

/* A thread's CPU time in ns, by its clock. */
uint64_t worker_cpu_ns(clockid_t clock);

/* ---- worker_rest.c ---- */

/* Spin if that has paid off lately; true: the bell has rung since `seen`. */
bool worker_spin(struct worker *me, uint32_t seen);

/* It has just lost its core while it spun: it does not spin for a while. */
void worker_lost_core(struct worker *me, uint64_t now);

/* Sleep until the bell has rung since `seen`. */
void worker_sleep(struct worker *me, uint32_t seen);

/* After each look for a tile: how long it spins next time.  found: there was one. */
void worker_learn_rest(struct worker *me, bool found);

/* ---- worker_port.c ---- */

/* Set up an empty port with a ring from each worker.  0 or -ENOMEM; close it in either case. */
int worker_port_open(struct worker_port *port, struct workers *w);
void worker_port_close(struct worker_port *port);

#endif
