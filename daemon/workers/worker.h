/* SPDX-License-Identifier: MIT */
/*
 * worker.h - threads that run tiles, one pinned to each core (at which nice value:
 * worker_weight.h).
 *
 * A job too long to run in the reactor becomes a work: a count of tiles that the
 * workers claim one by one from a counter.  A worker shares its core with a reactor
 * that preempts it (worker_weight.h), so tiles may be as large as the BLAS likes.
 *
 * A node's workers take the works of that node's reactors; those of a node without a
 * reactor help everywhere.  A reactor publishes works in slots of its own and learns through a ring
 * from each worker that one has ended.
 */
#ifndef QUOITD_WORKER_H
#define QUOITD_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <quoit/ring.h>

#include "host/ledger.h"
#include "ops/ops.h"
#include "worker_weight.h"

struct session;
struct workers;

/*
 * Works that one reactor can have published at a time: those that its users share, and one of each
 * user's own, as far as the others go.  A work may take minutes, and who had to wait for the end of
 * somebody else's would have no share of the workers until then.
 */
#define WORKER_SLOTS  64u /* a bit each */
#define WORKER_SHARED 16u

struct zero_range {
	void *start;
	uint64_t bytes;
};

/* One published job.  The owner fills in what is above the line, workers the rest. */
struct work {
	const struct op_impl *impl;
	struct session *session;
	_Atomic uint64_t session_id; /* no other session has had it; any worker may look */
	uint32_t job;
	uint64_t cost; /* predicted nanoseconds on one core */
	/* Whose it is, by number, and with what share; any worker may look. */
	_Atomic uint32_t user, share;
	struct op_args args;
	struct zero_range zero[QUOIT_MAX_TENSORS_PER_JOB]; /* to be cleared first */
	uint32_t zeros;
	/* ---- */
	_Alignas(64) _Atomic uint64_t claim; /* tiles << 32 | next tile */
	_Atomic uint64_t order;              /* of turns among its session's works: older first */
	_Atomic uint32_t flow;               /* its session, among those of the port */
	_Atomic uint32_t left;               /* tiles not yet finished */
	_Atomic bool clearing;               /* the tiles are ranges to clear */
	_Atomic bool abandoned;              /* nobody wants the result: finish without working */
	_Atomic uint64_t ticks;              /* of CPU time, of all cores together */
	_Atomic uint64_t started;
};

/* A session that has works published, or had them and may have more. */
struct worker_flow {
	uint64_t session_id; /* 0: nobody's yet */
	struct ledger_page page;
};

/* What a reactor owns of the workers: its slots, and a ring from each worker. */
struct worker_port {
	struct work work[WORKER_SLOTS];
	struct worker_flow flow[WORKER_SLOTS]; /* free ones have no works */
	uint32_t given;                        /* the last flow that was given to a session */
	struct ledger *ledger;                 /* of its node */
	_Alignas(64) _Atomic uint64_t used;    /* bit i: slot i is taken, for workers to see, too */
	uint32_t published, holders;           /* works, and users that have some: */
	uint8_t held[USERS];                   /* how many each, by number */
	bool unheard; /* works were published, and sleeping workers not called */
	struct weight_served served;
	struct workers *workers;
	struct worker_done *done; /* one per worker */
};

struct worker_seat {
	uint32_t cpu; /* where to pin it */
	uint32_t node;
};

struct worker_owner {
	uint32_t node;
	uint32_t cpu;           /* where it is pinned */
	const clockid_t *clock; /* of its thread's CPU time; atomic, 0 until it runs */
	uint32_t *need_wake;
	int eventfd;
};

struct worker_config {
	uint32_t workers;
	const struct worker_seat *seats; /* one per worker */
	uint32_t reactors;
	const struct worker_owner *owners; /* one per reactor */
	uint32_t nice;                     /* of each worker, always; 0: by worker_weight.h */
};

/* Start a thread of each worker; config and its arrays are copied.  -errno. */
int workers_start(const struct worker_config *config, struct workers **ret);

/*
 * Start the second ones, where there is to be one: last of all threads, since all others are
 * needed. -errno: no worker has one, and all go on with the first, which gives way to other
 * programs.
 */
int workers_double(struct workers *w);
void workers_stop(struct workers *w);

/* The port of reactor i; valid until workers_stop. */
struct worker_port *workers_port(struct workers *w, uint32_t reactor);

/* May one more work of this user be published, of a session that has `of_session`? */
bool worker_admits(const struct worker_port *port, uint32_t user, uint32_t of_session);

/* A free slot to fill in, NULL: all are taken.  Then worker_publish it. */
struct work *worker_slot(struct worker_port *port);
void worker_publish(struct worker_port *port, struct work *work);

/*
 * Wake workers for what was published since the last call.  The last thing that a reactor does
 * before it looks for news: beside a worker on its core that has had less than it, the kernel
 * would let any client that it wakes preempt it, and after that client perhaps run the worker,
 * until the next tick of its clock.
 */
void worker_call(struct worker_port *port);

/* The next work that has ended, NULL: none.  Give the slot back with worker_retire. */
struct work *worker_finished(struct worker_port *port);
void worker_retire(struct worker_port *port, struct work *work);

/* Nobody wants the results of this session's works any more. */
void worker_abandon(struct worker_port *port, const struct session *s);

/* CPU time, in ticks, of a session's works of this port that have not been retired. */
uint64_t worker_ticks(const struct worker_port *port, const struct session *s);

/*
 * What worker i of workers_start has done: tiles, and the CPU time that they took, in ticks, with
 * that of those that it is at.  Any thread; false: there is no such worker.
 */
bool workers_count(const struct workers *w, uint32_t i, uint64_t *ret_tiles, uint64_t *ret_ticks);

/* Copy out how many of its tiles took how long (quoit_leg_bucket), those that it has counted.  As
 * above. */
void workers_tell_times(const struct workers *w, uint32_t i, uint64_t *to);

/*
 * For the watchdog: a number that changes when worker i has looked for a tile, or, in one, has had
 * CPU time, of which tile_ns count.  And have all of them look.  Any thread.
 */
uint64_t workers_progress(const struct workers *w, uint32_t i, uint64_t tile_ns);

/* Its thread, as the kernel knows it; 0: it has not begun. */
pid_t workers_thread(const struct workers *w, uint32_t i);
void workers_kick(struct workers *w);

/* For the reactor's sleep: true if no work has ended; the flag is up either way. */
bool worker_may_sleep(struct worker_port *port, uint32_t *need_wake);

#endif
