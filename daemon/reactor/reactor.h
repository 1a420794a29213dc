/* SPDX-License-Identifier: MIT */
/*
 * reactor.h - a pinned thread that owns sessions: it fetches their jobs, runs the short ones, hands
 * the long ones out, and posts the completions.
 *
 * Only the reactor touches its sessions' state, so the path needs no locks.
 */
#ifndef QUOITD_REACTOR_H
#define QUOITD_REACTOR_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "bells.h"
#include "backend/executor/exec_port.h"
#include "config/config.h"
#include "session/mail.h"
#include "memory/memory_thread.h"
#include "session/session.h"
#include "fair/tenant.h"
#include "backend/cpu/worker.h"

#define REACTOR_RINGS 4096u

/* Size of the hash table of sessions. */
#define REACTOR_PLACES 256u

/* One pass spends at most so long on letters, on leaving sessions and on deadlines, whatever the
 * user; it overruns by at most one of them. */
#define REACTOR_TURN_NS 50000u

struct histograms;
struct io_backend;
struct summary;

struct reactor {
	uint32_t index;
	uint32_t cpu;
	int32_t node;
	pthread_t thread;

	_Alignas(64) uint32_t need_wake; /* 1: asleep in epoll; other threads write the eventfd */
	_Alignas(64) int eventfd;
	int epoll;

	struct mailbox inbox;   /* from the control thread */
	struct mailbox *outbox; /* to the control thread */
	struct memory_link *memory;
	struct bell_link *bells;
	uint32_t bells_open;    /* requests open at the bells thread */
	struct dear_users dear; /* users that have left, with dear wake-ups */
	struct worker_port *port;
	struct io_backend *io;
	struct exec_port *executor[CONFIG_EXECUTORS]; /* in the order of executors_count */
	uint32_t executors;

	struct tenancy tenancy;   /* the users of its sessions, and their turns */
	struct session *sessions; /* session/links.h */
	uint32_t session_count;
	struct session *place[REACTOR_PLACES];
	struct session *untold;               /* sessions with counters to publish */
	struct session *recorded;             /* sessions with a trace */
	struct session *with_deadlines;       /* sessions with jobs that have deadlines */
	struct session *leaves, *leaves_last; /* queue of sessions that may be able to leave */
	struct session *lingers;              /* leaving, and waiting for executors or memory */
	uint64_t look_at_lingers;             /* TSC of the next look at them */
	struct ring *rings[REACTOR_RINGS];    /* polled rings come first */
	uint32_t ring_count, polled_count;
	struct ring *stalled;     /* circle of stalled rings; NULL: there is none */
	uint64_t look_at_stalled; /* TSC of the next look at them */
	struct ring *dirty;       /* rings with CQEs to flush */
	uint64_t next_deadline;   /* no job's is earlier; TSC; UINT64_MAX: there is none */

	uint32_t asked; /* requests open at the memory thread, at most MEMORY_OPEN */
	/* Requests that found the memory thread's ring full. */
	struct memory_message *backlog;
	uint32_t backlog_head, backlog_count;

	struct depth open; /* its sessions' open jobs */

	uint64_t now;          /* TSC of this pass */
	bool alone;            /* in this pass a single SQE was answered at once (fetch_alone) */
	uint64_t passed;       /* TSC at the end of the last pass, if it had work; 0: unknown */
	struct session *payer; /* pays for the time since `charged`; NULL: no session does */
	uint64_t charged;
	uint64_t last_work, last_pass;
	uint64_t awake_since;
	uint64_t spin_ticks; /* how long to spin before sleeping; learned */
	/* How long a session counts as noted after it was served (worker_weight.h). */
	uint64_t note_ticks;
	uint64_t spin_fast, spin_with_tiles, spin_most; /* bounds for reactor_idle.c, in ticks */
	uint64_t next_chores, last_stats, last_trim;
	bool told; /* all counters are published, and nothing has been done since */
	uint64_t count[QUOIT_REACTOR_NR];
	struct quoit_reactor_block *stats;   /* its block of the totals file */
	struct quoit_core_block *cores;      /* blocks of all cores there; NULL: neither is kept */
	uint32_t core_stride;                /* it writes those of index, index + stride, ... */
	const struct histograms *histograms; /* histograms of the cores; NULL: none */
	struct summary *summary;             /* what its sessions have done; NULL: not kept */
	uint32_t notes;                      /* so many notes of traced clients may be taken */
	uint64_t noted;                      /* TSC at which `notes` was counted */
	uint64_t passes;                     /* for the watchdog; atomic */
	pid_t tid;                           /* of its thread; atomic */
	clockid_t clock;                     /* of its CPU time; atomic; 0 until the thread runs */
	int stop;                            /* atomic */
	sem_t *settled;                      /* posted by the thread when it has started */
	bool is_pinned;                      /* to its CPU; set before `settled` is posted */
};

/* The session's user, as this reactor sees it. */
static inline struct tenant *reactor_tenant(const struct reactor *r, const struct session *s)
{
	return &s->user->tenant[r->index];
}

/* Start the reactor's thread; returns once it is on its CPU.  0 or -errno. */
int reactor_start(struct reactor *r);
void reactor_stop(struct reactor *r);

/* Run one pass over everything; true: there was work. */
bool reactor_pass(struct reactor *r);

/* CQEs were posted to this ring: flush them at the end of the pass. */
void reactor_touch(struct reactor *r, struct ring *ring);

/*
 * Something was done for the session: check in this pass or the next whether it can start jobs, and
 * publish its counters.  A session that is leaving is looked at, too.
 */
void reactor_attend(struct reactor *r, struct session *s);

/* Check soon whether this session, or a ring of it, can leave now. */
void reactor_look(struct reactor *r, struct session *s);

/* Charge the reactor's time to this session, until the next call or the end of the pass. */
void reactor_charge(struct reactor *r, struct session *s);

/* The same, where the session surely has nothing new to start. */
void reactor_charge_only(struct reactor *r, struct session *s);

/* Charge the session and its user for so many ticks that were spent on it between two passes. */
void reactor_bill(struct reactor *r, struct session *s, uint64_t ticks);

/* The session is about to leave: charge it for the time until now, and for nothing more. */
void reactor_discharge(struct reactor *r, const struct session *s);

/* Has this user had its turn of the stage, while other users have sessions here? */
bool reactor_turn_is_over(struct reactor *r, const struct tenant *t);

/* End a job that a backend has finished. */
void reactor_end_job(struct reactor *r, struct session *s, struct job *job, int32_t res);

/*
 * For memory.c and memory_pinned.c: send a request to the memory thread, now or once there is
 * room.  False: the session's user has too many open (fair/slot_quota.h); try again later.
 */
bool reactor_send_memory(struct reactor *r, const struct memory_message *m);

#endif
