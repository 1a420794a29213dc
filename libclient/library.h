/* SPDX-License-Identifier: MIT */
/*
 * library.h - what a session and a ring are inside libquoit, and which file does what.
 *
 *	session.c  open, close          connect.c, control.c  the control socket
 *	ring.c     open, close, arm     queue.c  SQ and CQ (slot.h: the path of every SQE)
 *	sleep.c    waiting for them     shared.c memory that quoitd sees, too
 *	job.c      the job table        wait.c   waits, with their call sites (site.c)
 *	event.c    notes for a recorder probes.h USDT probes for tracers
 *	refusal.c  why a call was refused  alone.c  two threads on one ring
 *	symbols.c  inline functions of quoit.h, for other languages
 *	tensor.c   handles (handle.c)   region.c memory both see (arena.c, transfer.c)
 *	file.c     files                kernels.c kernels
 *	acquire.c  the program's own accesses to tensors
 *	named*.c   tensors with names, which other programs use, too
 *	order.c    events between rings
 *	team_*.c   the program's own functions as jobs: team_serve.c takes and runs calls
 *	serve_*.c  the same for other processes: serve.c opens, serve_call.c fills in a call
 *	service*.c functions of other processes, to call them
 *	sync*.c    locks and their kin      run.c    a job, put in and waited for
 *	keyspace.c keys and their values, as plain calls
 *
 * A file's functions are declared in the header of its name: those of connect.c and patience.c in
 * control.h, those of strerror.c and error_field.c in refusal.h, those of team_*.c in team.h,
 * those of serve_*.c in serve.h, those of ring.c and tensor.c here.
 * Functions between files are named libquoit_*, so that a static libquoit collides with no other
 * name; they return 0 or a count, or -errno.
 */
#ifndef LIBQUOIT_LIBRARY_H
#define LIBQUOIT_LIBRARY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quoit/ring.h>
#include <quoit/trace.h>

#include "arena.h"
#include "handle.h"
#include "job.h"
#include "named.h"
#include "public.h"
#include "shared.h"
#include "site.h"
#include "sync.h"
#include "unmade.h"

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* ---- sessions ---- */

/* What the client remembers of each tensor, by the tensor's index. */
struct tensor_record {
	uint32_t handle; /* 0: not alive */
	uint16_t generation;
	bool dense;    /* created with all strides zero; shape.stride has the real ones */
	uint8_t named; /* of a tensor with a name: 1 + its number; else 0 */
	struct quoit_shape shape;
};

#define CPUS_MOST (1u << 13) /* what the largest kernels support */

/* A set of CPUs, as the kernel has it. */
struct cpus {
	unsigned long word[CPUS_MOST / (8 * sizeof(long))];
};

struct quoit_session {
	/*
	 * A page of its own that the kernel clears in a child of fork(): 1 in the process that
	 * opened the session.  Each call checks it by one load, without a system call.
	 */
	uint32_t *mine;

	uint64_t serial; /* of the sessions that this process and its parents have opened; not 0 */

	pthread_mutex_t control; /* held for a whole round trip: one request at a time */
	pthread_mutex_t growing; /* held while the arena grows */
	/* held from RING_OPEN or TENSOR to READY, and while a thing with a name is closed */
	pthread_mutex_t opening;
	int socket;
	uint32_t seq;

	struct quoit_info info; /* as granted at hello */
	uint32_t max_entries;
	uint64_t spin;    /* ticks to spin before sleeping; 0: the machine has one CPU */
	bool stays;       /* QUOIT_OPEN_STAY */
	struct cpus near; /* CPUs of the reactor's package, for core.c */

	struct shared shared; /* the shared region (info.shared_bytes), then the arena */
	uint64_t arena_bytes; /* the arena's size now; atomic; changes while `growing` is held */
	struct arena arena;
	/* the last size that quoitd refused, and when; 0: none; guarded by `growing` */
	uint64_t arena_refused, arena_refused_ns;
	struct handle_pool handles;
	/* info.max_tensors records; their memory is touched when used */
	struct tensor_record *tensors;

	pthread_mutex_t list; /* guards rings, teams, services, sync and named */
	struct quoit_ring *rings;
	struct quoit_team *teams;
	struct quoit_service *services;
	struct sync_name sync[QUOIT_MAX_SERVICES]; /* by number; kind 0: none (sync.h) */
	struct named named[QUOIT_MAX_SERVICES];    /* the same; of tensors with names (named.h) */
	uint32_t laneless; /* atomic: how many of them have no threads of their own */
};

/* ---- rings ---- */

struct quoit_ring {
	/* used by every push */
	const uint32_t *mine; /* the session's */
	struct quoit_producer sq;
	struct quoit_sqe *sqes;
	struct quoit_note *notes;
	uint32_t sampling;  /* the daemon's word, as last seen (quoit/sample.h) */
	uint32_t sq_sample; /* the next SQ index that is a sample by that word */
	/* for each note word, the index from which it may be overwritten */
	uint32_t sq_noted[QUOIT_NOTED];
	uint32_t sq_mask;
	uint32_t claimed; /* the first unclaimed slot, at or behind sq.next (slot.h) */
	uint32_t ahead;   /* how many slots are claimed at a time */
	uint32_t batch;   /* this many unpublished SQEs are published without a flush */
	uint32_t site;    /* the call site for which the library submits; 0: none */
	uint32_t mark;    /* not 0: a thread works in the ring (alone.h) */
	bool raw;
	bool no_calls;  /* its waits run no calls of teams */
	bool has_calls; /* some were put in since a wait last found none to run */
	bool inner;     /* opened by a function of a team, which uses it */
	uint8_t device; /* the place of new tensors */
	int socket;
	/* how long to wait for room in the SQ: NEVER, except in a wait with a timeout */
	uint64_t until;

	/* used by every reap */
	struct quoit_consumer cq;
	uint32_t cq_mask;
	bool carried;           /* the next CQE came in the tail's line */
	struct quoit_cqe alone; /* its copy */
	uint32_t cq_sample;     /* the next CQ index that is a sample */
	uint32_t vain;          /* how many looks of quoit_peek in a row found no CQE */
	uint64_t looked;        /* ticks at the last look of libquoit_sleep_look */
	uint32_t waits_from;    /* what the consumer's `next` was when the present wait began */
	uint64_t spin;   /* ticks that a wait for a CQE spins before it sleeps; see sleep.c */
	bool shares_cpu; /* its last wait had to stay on the reactor's CPU (core.h) */
	/* ticks: when a wait last left that CPU, and how long no further wait leaves it */
	uint64_t left_at, left_pause;
	int broken; /* 0, or the error that ended the ring: -ECONNRESET, -EPROTO (quoitd lied) */
	const struct quoit_cqe *cqes;
	const struct quoit_error *errors;
	const struct quoit_stamps *stamps;    /* NULL without QUOIT_RING_STAMPS */
	const struct quoit_call_entry *calls; /* NULL: it is not a team's (team.h) */
	const uint32_t
		*results; /* of a team: serials of calls whose results quoitd has, by number */
	const struct quoit_call_text *texts; /* what services said of their failures */
	struct quoit_client_words *client;
	const struct quoit_daemon_words *daemon;
	struct job_table jobs;
	struct quoit_error wait_error; /* the record of the failure that the last wait returned */
	bool wait_failed;              /* the last wait returned a job's failure */

	struct quoit_ring_events *events; /* notes for a recorder (event.c) */
	uint32_t recorded;    /* the daemon's word `tracing`, at the last flush or sleep */
	uint32_t spent;       /* the last value of that word whose allowance is used up */
	uint32_t allowance;   /* the value that allowed the last note */
	uint32_t events_left; /* how many more notes it allows */

	struct {
		int error; /* the call's error; 0: none since the last wait began */
		char text[256];
	} refusal; /* the library's last refusal */
	struct unmade unmade;

	quoit_job window[QUOIT_MAX_WINDOW]; /* the jobs that end the batches, the oldest first */
	unsigned window_count;
	struct hold *holds;            /* QUOIT_MAX_HOLDS; NULL: nothing was acquired yet */
	void *staging[STAGING_PIECES]; /* arena memory of copies in flight; NULL: none */
	struct handle_stack handles;
	struct site_table sites;

	struct quoit_session *session;
	struct quoit_ring *next; /* in the session's list */
	uint32_t index;          /* in the session */
	struct quoit_ring_layout layout;
	struct shared shared; /* the client's pages, then the daemon's */
};

/* Where the arena begins, behind the shared region. */
static inline uint8_t *arena_base(const struct quoit_session *s)
{
	return s->shared.base + s->info.shared_bytes;
}

/* ---- ring.c ---- */

/* Wait until all jobs of the ring have ended, and drop their CQEs.  The ring's last use. */
int libquoit_ring_settle(struct quoit_ring *q);

/*
 * Open and close the ring of a team (team.h), with so many entries of the SQ; 0: the default.  It is
 * not in the session's list.
 */
int libquoit_ring_open_team(struct quoit_session *s, uint32_t entries, struct quoit_ring **ret);
int libquoit_ring_close_team(struct quoit_ring *q);

/* Free what the ring holds in this process; does not tell quoitd. */
void libquoit_ring_free(struct quoit_ring *q);

/* ---- tensor.c ---- */

/* The record of a living tensor; NULL: there is none. */
const struct tensor_record *libquoit_tensor_find(const struct quoit_session *s, quoit_tensor t);

/* A tensor with a name, as quoit_attach_tensor; number: in the session. */
quoit_tensor libquoit_tensor_attach(struct quoit_ring *q, const struct quoit_shape *shape,
				    uint32_t number);

/* Bytes of an element; 0: there is no such type. */
uint64_t libquoit_element_bytes(uint8_t dtype);

#endif
