/* SPDX-License-Identifier: MIT */
/*
 * owner.h - the reactor that owns a session: its state, and what it does for the floors below it.
 *
 * Jobs, memory and backends belong to a session, and that to a reactor.  They give it back what has
 * ended, and ask it for what only the loop can do.  So its state is declared here, below them, and
 * the functions of this header are defined in reactor/, above them.  Only the reactor's own thread
 * calls these.
 */
#ifndef QUOITD_OWNER_H
#define QUOITD_OWNER_H

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "base/dear.h"
#include "base/limits.h"
#include "fair/tenant.h"
#include "mail.h"
#include "session.h"

#define REACTOR_RINGS 4096u

/* Size of the hash table of sessions. */
#define REACTOR_PLACES 256u

struct bell_link;
struct exec_port;
struct histograms;
struct io_backend;
struct io_buffers;
struct memory_link;
struct memory_message;
struct reactor_histograms;
struct worker_port;

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
	struct io_buffers *io_buffers;                /* NULL: the kernel has none */
	struct exec_port *executor[CONFIG_EXECUTORS]; /* in the order of executors_count */
	uint32_t executors;

	struct tenancy tenancy;   /* the users of its sessions, and their turns */
	struct session *sessions; /* session/links.h */
	uint32_t session_count;
	struct session *place[REACTOR_PLACES];
	struct session *stale;                /* sessions with counters to publish */
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

	uint32_t requests_open; /* at the memory thread, at most MEMORY_OPEN */
	/* Requests that found the memory thread's ring full. */
	struct memory_message *backlog;
	uint32_t backlog_head, backlog_count;

	struct depth open; /* its sessions' open jobs */

	uint64_t now;           /* TSC of this pass */
	bool single_answered;   /* in this pass a single SQE was answered at once (fetch_alone) */
	uint64_t last_pass_end; /* TSC at the end of the last pass, if it had work; 0: unknown */
	struct session *payer;  /* pays for the time since `charged`; NULL: no session does */
	uint64_t charged;
	uint64_t last_work, last_pass;
	uint64_t awake_since;
	uint64_t spin_ticks; /* how long to spin before sleeping; learned */
	/* How long a session counts as noted after it was served (worker_weight.h). */
	uint64_t note_ticks;
	uint64_t spin_fast, spin_with_tiles, spin_most; /* bounds for reactor_idle.c, in ticks */
	uint64_t next_chores, last_stats, last_trim;
	bool counters_current; /* all counters are published, and nothing has been done since */
	uint64_t count[QUOIT_REACTOR_NR];
	struct quoit_reactor_block *stats;   /* its block of the totals file */
	struct quoit_core_block *cores;      /* blocks of all cores there; NULL: neither is kept */
	uint32_t core_stride;                /* it writes those of index, index + stride, ... */
	const struct histograms *histograms; /* histograms of the cores; NULL: none */
	struct reactor_histograms *own_histograms; /* what its sessions have done; NULL: not kept */
	uint32_t notes;  /* so many notes of traced clients may be taken */
	uint64_t noted;  /* TSC at which `notes` was counted */
	uint64_t passes; /* for the watchdog; atomic */
	pid_t tid;       /* of its thread; atomic */
	clockid_t clock; /* of its CPU time; atomic; 0 until the thread runs */
	int stop;        /* atomic */
	sem_t *settled;  /* posted by the thread when it has started */
	bool is_pinned;  /* to its CPU; set before `settled` is posted */

	/* Calls of services (services.h).  Every pass looks at this first line. */
	_Alignas(64) struct letter *_Atomic letters; /* that have come; the newest first */
	struct letter *to_read;                      /* of these, taken over; the oldest first */
	struct service_call *to_withdraw;            /* calls that are not to begin */
	struct server *servers;                      /* rings of its sessions that serve */
	struct service *bereft;                      /* services with calls that nobody serves */
	struct keyspace *woken_keyspaces;            /* with calls that are to be looked at */
	uint32_t leavers;    /* sessions that leave and have calls under way */
	bool lacks_room;     /* a CQ of a server had none for what is to be posted */
	bool tells;          /* a caller of its own about a call of an object */
	bool callers_letter; /* the control thread has a letter about callers_gone */

	struct keyspace *last_woken_keyspace;
	struct caller *callers_gone; /* that nothing uses any more */
	struct server *next_look;    /* the one whose threads are looked at next; NULL: the first */
	_Atomic uint32_t callers_left; /* free-running; changes when a server has one to tell of */
	uint32_t callers_told;         /* as seen when all servers were looked at */
	uint64_t look_at_room, look_at_leavers, look_at_bereft; /* TSC of the next look at each */
};

/* The session's user, as this reactor sees it. */
static inline struct tenant *reactor_tenant(const struct reactor *r, const struct session *s)
{
	return &s->user->tenant[r->index];
}

/*
 * The reactor whose thread this is; NULL: another thread's.  Only reactors' threads may touch their
 * sessions, which assertions check.
 */
extern _Thread_local const struct reactor *reactor_here;

/* The calling thread may touch the session: it is its reactor's, or there is none (unit tests). */
static inline void assert_owner(const struct reactor *r, const struct session *s)
{
	(void)r;
	(void)s;
	assert(!reactor_here || (reactor_here == r && s->reactor == r));
}

/*
 * Something was done for the session: check in this pass or the next whether it can start jobs, and
 * publish its counters.  A session that is leaving is looked at, too.
 */
void reactor_attend(struct reactor *r, struct session *s);

/* Charge the reactor's time to this session, until the next call or the end of the pass. */
void reactor_charge(struct reactor *r, struct session *s);

/* End a job that a backend has finished. */
void reactor_end_job(struct reactor *r, struct session *s, struct job *job, int32_t res);

/* CQEs were posted to this ring: flush them at the end of the pass. */
void reactor_touch(struct reactor *r, struct ring *ring);

/*
 * A session broke a rule (reason: a QUOIT_DAEMON_KILL_* counter) or lost its memory: fetch nothing
 * more, and tell the control thread to end it.
 */
void reactor_kill(struct reactor *r, struct session *s, uint32_t reason);

/* An acquire's turn has come: it ends, but its access stays with the program (job/hold.h). */
void reactor_leave_hold(struct reactor *r, struct session *s, struct job *job);

/*
 * Send a request to the memory thread, now or once there is room.  False: the session's user has
 * too many open (fair/slot_quota.h); try again later.
 */
bool reactor_send_memory(struct reactor *r, const struct memory_message *m);

/* Wake the client of a ring that sleeps (BELL_WAKE), or ring its armed descriptor (BELL_RING). */
void reactor_bells_ring(struct ring *ring, unsigned op);

/* From any thread: make the reactor look at its mailbox, its letters and its flags. */
static inline void reactor_wake(struct reactor *r)
{
	uint64_t one = 1;
	ssize_t n = write(r->eventfd, &one, sizeof one);

	(void)n;
}

#endif
