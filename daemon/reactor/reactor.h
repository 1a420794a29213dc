/* SPDX-License-Identifier: MIT */
/*
 * reactor.h - one pinned thread that owns sessions: it fetches their jobs, runs the
 * short ones, hands the long ones out, and posts the completions.
 *
 * Only the reactor touches its sessions' state, so there are no locks on the path.
 */
#ifndef QUOITD_REACTOR_H
#define QUOITD_REACTOR_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "bells.h"
#include "executors/exec_port.h"
#include "host/config.h"
#include "mail.h"
#include "memory/memory_thread.h"
#include "session/session.h"
#include "tenant.h"
#include "workers/worker.h"

#define REACTOR_RINGS 4096u

/* By which sessions are found. */
#define REACTOR_PLACES 256u

/* What is done in a pass for those who come, go, or have deadlines, whoever they are; a little more
 * where one of them takes longer. */
#define REACTOR_TURN_NS 50000u

struct histograms;
struct io_backend;
struct summary;

struct reactor {
	uint32_t index;
	uint32_t cpu;
	int32_t node;
	pthread_t thread;

	_Alignas(64) uint32_t need_wake; /* 1: asleep in epoll; its threads write the eventfd */
	_Alignas(64) int eventfd;
	int epoll;

	struct mailbox inbox;   /* from the control thread */
	struct mailbox *outbox; /* to it */
	struct memory_link *memory;
	struct bell_link *bells;
	uint32_t bells_open;    /* requests there */
	struct dear_users dear; /* who have left */
	struct worker_port *port;
	struct io_backend *io;
	struct exec_port *executor[CONFIG_EXECUTORS]; /* as executors_count counts */
	uint32_t executors;

	struct tenancy tenancy;   /* the users of its sessions, and whose turn it is */
	struct session *sessions; /* session/links.h */
	uint32_t session_count;
	struct session *place[REACTOR_PLACES];
	struct session *untold;               /* those whose counters are behind, */
	struct session *recorded;             /* with a trace, */
	struct session *with_deadlines;       /* and with jobs that have some */
	struct session *leaves, *leaves_last; /* a queue of those that may be let go, */
	struct session *lingers;  /* and others that an executor still has, by session.leaves: */
	uint64_t look_at_lingers; /* TSC: not before */
	struct ring *rings[REACTOR_RINGS]; /* those that are polled first */
	uint32_t ring_count, polled_count;
	struct ring *stalled;     /* a circle of these; NULL: there is none */
	uint64_t look_at_stalled; /* TSC: not before */
	struct ring *dirty;       /* rings with CQEs to flush */
	uint64_t next_deadline;   /* of all jobs, or earlier; TSC, UINT64_MAX: there is none */

	uint32_t asked; /* requests that it has open at the memory thread, MEMORY_OPEN at most */
	/* Those that found its ring full. */
	struct memory_message *backlog;
	uint32_t backlog_head, backlog_count;

	struct depth open; /* its sessions' jobs */

	uint64_t now;          /* TSC of this pass, */
	bool alone;            /* in which an SQE that came alone was answered at once */
	uint64_t passed;       /* TSC at the end of the last one, which had work; 0: not known */
	struct session *payer; /* whom its time is charged to, from `charged` on; NULL: nobody */
	uint64_t charged;
	uint64_t last_work, last_pass;
	uint64_t awake_since;
	uint64_t spin_ticks; /* how long to spin before sleeping: learned */
	uint64_t note_ticks; /* how long a session that was served counts as noted (worker_weight.h)
			      */
	uint64_t spin_fast, spin_with_tiles, spin_most; /* bounds of reactor_idle.c, in ticks */
	uint64_t next_chores, last_stats, last_trim;
	bool told; /* there was nothing to do since the counters were last copied out */
	uint64_t count[QUOIT_REACTOR_NR];
	struct quoit_reactor_block *stats; /* its block of the totals file, */
	struct quoit_core_block *cores;    /* and there the first of every core; NULL: neither */
	uint32_t core_stride; /* those from its index on, so many apart, are its to write */
	const struct histograms *histograms; /* and where those of cores are, */
	struct summary *summary;             /* and what its sessions have done; NULL: nowhere */
	uint32_t notes;  /* so many of clients that are recorded may be taken, */
	uint64_t noted;  /* as of then; TSC */
	uint64_t passes; /* for the watchdog; atomic, as is */
	pid_t tid;       /* its thread */
	clockid_t clock; /* of its CPU time; atomic, 0 until it runs */
	int stop;        /* atomic */
	sem_t *settled;  /* while it starts */
	bool is_pinned;  /* to its CPU; from then on */
};

/* A session's user, as this reactor sees it. */
static inline struct tenant *reactor_tenant(const struct reactor *r, const struct session *s)
{
	return &s->user->tenant[r->index];
}

/* Start its thread; when this returns, it is where it is to run. */
int reactor_start(struct reactor *r);
void reactor_stop(struct reactor *r);

/* One pass over everything; true: there was work. */
bool reactor_pass(struct reactor *r);

/* CQEs were posted to this ring: flush it at the end of the pass. */
void reactor_touch(struct reactor *r, struct ring *ring);

/*
 * Something was done for the session: whether it can go on is looked at in this pass or the next,
 * and its counters are to be told.  Who waits for others is looked at again and again.
 */
void reactor_attend(struct reactor *r, struct session *s);

/* A session or ring that is to go may be let go now. */
void reactor_look(struct reactor *r, struct session *s);

/* What the reactor does now, it does for this session: until the next call, or the pass ends. */
void reactor_charge(struct reactor *r, struct session *s);

/* The same, where what is done leaves the session nothing to start or to go on with. */
void reactor_charge_only(struct reactor *r, struct session *s);

/* Between two passes so many ticks went into this session: they are its own, and its user's turn is
 * shorter by them. */
void reactor_bill(struct reactor *r, struct session *s, uint64_t ticks);

/* The session is about to leave: it pays for what was done for it, and for nothing more. */
void reactor_discharge(struct reactor *r, const struct session *s);

/* Has this user had its turn of the stage, while others have sessions here? */
bool reactor_turn_is_over(struct reactor *r, const struct tenant *t);

/* A backend is done with a running job. */
void reactor_end_job(struct reactor *r, struct session *s, struct job *job, int32_t res);

/*
 * For memory.c and memory_pinned.c: a request to the memory thread, sent once there is room for it.
 * False: the session's user has too many open (session/places.h), try again later.
 */
bool reactor_send_memory(struct reactor *r, const struct memory_message *m);

#endif
