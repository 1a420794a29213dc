/* SPDX-License-Identifier: MIT */
/*
 * worker.h - threads that run tiles, one pinned to each core (nice values: worker_weight.h).
 *
 * A job that is too long for the reactor becomes a work: a number of tiles that the workers claim
 * one by one from a counter.  A worker shares its core with a reactor that preempts it
 * (worker_weight.h), so tiles may be as large as the BLAS likes.
 *
 * A node's workers take the works of that node's reactors; workers of a node without a reactor help
 * everywhere.  A reactor publishes works in slots of its own, and learns from a ring of each worker
 * which have ended.
 */
#ifndef QUOITD_WORKER_H
#define QUOITD_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <quoit/ring.h>

#include "fair/ledger.h"
#include "ops/ops.h"
#include "worker_weight.h"

struct session;
struct workers;

/*
 * Works that one reactor can have published at a time: WORKER_SHARED, and besides one of each user
 * as far as slots go.  A work may take minutes; a user that had to wait for the end of another's
 * would have no share of the workers until then.
 */
#define WORKER_SLOTS  64u /* a bit each */
#define WORKER_SHARED 16u

struct zero_range {
	void *start;
	uint64_t bytes;
};

/* A published job.  The owner fills in what is above the line, workers the rest. */
struct work {
	const struct op_impl *impl;
	struct session *session;
	_Atomic uint64_t session_id; /* unique; any worker may read it */
	uint32_t job;
	uint64_t cost; /* predicted nanoseconds on one core */
	/* The user's number and share; any worker may read them. */
	_Atomic uint32_t user, share;
	struct op_args args;
	struct zero_range zero[QUOIT_MAX_TENSORS_PER_JOB]; /* cleared first */
	uint32_t zeros;
	/* Its owner's: works in a line (worker_follow), and whether it has ended before `ahead` has. */
	struct work *ahead, *behind;
	bool early;
	/* ---- */
	_Alignas(64) _Atomic uint64_t claim; /* tiles << 32 | next tile */
	_Atomic uint64_t order;              /* of turns among its session's works: older first */
	_Atomic uint32_t flow;               /* index of the session's flow in its port */
	_Atomic uint32_t left;               /* tiles not yet finished */
	_Atomic bool clearing;               /* the tiles are ranges to clear */
	_Atomic bool abandoned;              /* the result is not wanted: finish without working */
	_Atomic uint64_t ticks;              /* CPU time of all cores together */
	_Atomic uint64_t started, ended;     /* TSC */
	_Atomic uint32_t next;               /* slot of the work behind it, or WORK_* */
};

/* Of `next`: nothing is behind it yet; it has ended, and what was behind it goes on, or does not. */
enum { WORK_ALONE = WORKER_SLOTS, WORK_GOES_ON, WORK_STOPS };

/* A session that has published works, or had some and may have more. */
struct worker_flow {
	uint64_t session_id; /* 0: never given */
	struct ledger_page page;
};

/* A reactor's side of the workers: its slots, and a ring from each worker. */
struct worker_port {
	struct work work[WORKER_SLOTS];
	struct worker_flow flow[WORKER_SLOTS]; /* a free flow has no works */
	uint32_t given;                        /* the flow given out last */
	struct ledger *ledger;                 /* of the reactor's node */
	_Alignas(64) _Atomic uint64_t used;    /* bit i: slot i is taken; workers read it */
	uint32_t published, holders;           /* works published, and users that have some */
	uint8_t held[USERS];                   /* works of each user, by number */
	/* Works were published, and sleeping workers have not been called yet. */
	bool unheard;
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
	uint32_t cpu;           /* its thread is pinned there */
	const clockid_t *clock; /* of its thread's CPU time; atomic; 0 until it runs */
	uint32_t *need_wake;
	int eventfd;
};

struct worker_config {
	uint32_t workers;
	const struct worker_seat *seats; /* one per worker */
	uint32_t reactors;
	const struct worker_owner *owners; /* one per reactor */
	uint32_t nice;                     /* nice value of all workers; 0: by worker_weight.h */
};

/* Start the first thread of each worker; config and its arrays are copied.  0 or -errno. */
int workers_start(const struct worker_config *config, struct workers **ret);

/*
 * Start the second thread of each worker, unless config.nice is set.  Call it last, since all other
 * threads are needed more.  0, or -errno: no worker has one, and all go on with the first, which
 * gives way to other programs.
 */
int workers_double(struct workers *w);
void workers_stop(struct workers *w);

/* The port of reactor i; valid until workers_stop. */
struct worker_port *workers_port(struct workers *w, uint32_t reactor);

/* Is slot i taken by a work of this session? */
bool worker_has(const struct worker_port *port, uint32_t i, const struct session *s);

/* May this user publish one more work, for a session that has published `of_session`? */
bool worker_admits(const struct worker_port *port, uint32_t user, uint32_t of_session);

/*
 * awaits: jobs of the user wait for places among the works; false: none does any more.  While they
 * wait the user keeps its claim, even if all its works end before the reactor publishes others.
 */
void worker_await(struct worker_port *port, uint32_t user, bool awaits);

/* Get a free slot, fill it in, and then publish it; NULL: all are taken. */
struct work *worker_slot(struct worker_port *port);
void worker_publish(struct worker_port *port, struct work *work);

/*
 * Publish `work`, which worker_slot gave, behind `ahead`: whichever worker runs the last tile of
 * that offers the tiles of `work` at once, unless `ahead` has failed.  So works that wait for each
 * other follow within a microsecond, and not after the reactor has woken up, has run a pass and has
 * woken the workers.  A line has two works at most.  False: `ahead` has just ended; the slot is
 * free again.
 */
bool worker_follow(struct worker_port *port, struct work *ahead, struct work *work);

/* Take back what worker_follow has published; false: it is too late. */
bool worker_take_back(struct worker_port *port, struct work *work);

/* `work` has ended: does what is behind it go on, so that it is published like any other now? */
bool worker_goes_on(const struct work *work);

/*
 * Wake workers for what was published since the last call.  A reactor does this last, before it
 * looks for news: if a worker on its core has had less time than the reactor, the kernel lets any
 * client that it wakes preempt the reactor, and may then run the worker until the next tick of its
 * clock.
 */
void worker_call(struct worker_port *port);

/*
 * The next work that has ended; NULL: none.  Then give the slot back with worker_retire.  One that
 * has ended before its owner has heard of the end of what is ahead of it is marked `early` and left
 * out: after the other is retired, the caller looks at it.
 */
struct work *worker_finished(struct worker_port *port);
void worker_retire(struct worker_port *port, struct work *work);

/* The results of this session's works are no longer wanted. */
void worker_abandon(struct worker_port *port, const struct session *s);

/* CPU time in ticks of the session's works in this port that are not retired yet. */
uint64_t worker_ticks(const struct worker_port *port, const struct session *s);

/*
 * What worker i of workers_start has done: tiles that it has run, and their CPU time in ticks with
 * that of the current share.  Any thread.  False: there is no such worker.
 */
bool workers_count(const struct workers *w, uint32_t i, uint64_t *ret_tiles, uint64_t *ret_ticks);

/* Copy out worker i's counts of tiles by their times (quoit_latency_bucket).  Any thread. */
void workers_tell_times(const struct workers *w, uint32_t i, uint64_t *to);

/*
 * For the watchdog, any thread: a number that changes when worker i looks for a tile, or when its
 * current share gets CPU time, up to tile_ns.  workers_kick makes all workers look.
 */
uint64_t workers_progress(const struct workers *w, uint32_t i, uint64_t tile_ns);

/* The kernel's id of worker i's thread; 0: it has not begun. */
pid_t workers_thread(const struct workers *w, uint32_t i);
void workers_kick(struct workers *w);

/* For the reactor's sleep: true: no work has ended.  The flag is up in either case. */
bool worker_may_sleep(struct worker_port *port, uint32_t *need_wake);

#endif
