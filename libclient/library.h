/* SPDX-License-Identifier: MIT */
/*
 * library.h - what a session and a ring are inside libquoit, and who calls whom.
 *
 *	session.c  open, close          connect.c, control.c  the control socket
 *	ring.c     open, close, arm     queue.c  SQ and CQ (slot.h: the path of every SQE)
 *	sleep.c    waiting for them    shared.c memory that quoitd sees, too
 *	job.c      the job table        wait.c   waits, with their call sites (site.c)
 *	event.c    what a recorder sees  probes.h what a tracer sees
 *	refusal.c  why a call was refused  alone.c  two threads on one ring
 *	symbols.c  what quoit.h has inline, for other languages
 *	tensor.c   handles (handle.c)   region.c memory both see (arena.c, transfer.c)
 *	file.c     files                kernels.c kernels
 *
 * Functions between files are named libquoit_*, so that a static libquoit collides
 * with nobody; what they return is 0 or a count, or -errno.
 */
#ifndef LIBQUOIT_LIBRARY_H
#define LIBQUOIT_LIBRARY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All else is hidden (the Makefile's -fvisibility); this header is what is not. */
#pragma GCC visibility push(default)
#include <quoit.h>
#pragma GCC visibility pop
#include <quoit/ctl.h>
#include <quoit/ring.h>
#include <quoit/trace.h>

#include "arena.h"
#include "handle.h"
#include "site.h"

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* ---- memory that both sides see ---- */

struct shared {
	int fd;        /* -1: closed */
	uint8_t *base; /* NULL: not mapped */
	uint64_t bytes;
};

/* ---- sessions ---- */

/* What the client remembers of a tensor, by index. */
struct tensor_record {
	uint32_t handle; /* 0: not alive */
	uint16_t generation;
	bool dense; /* whatever shape.stride says: created with all strides zero */
	struct quoit_shape shape;
};

#define CPUS_MOST (1u << 13) /* the largest kernels */

/* A set of CPUs, as the kernel has it. */
struct cpus {
	unsigned long word[CPUS_MOST / (8 * sizeof(long))];
};

struct quoit_session {
	/*
	 * A page of its own that the kernel clears in a child of fork(): 1 in the
	 * process that opened the session.  One load on every path, no system call.
	 */
	uint32_t *mine;

	pthread_mutex_t control; /* held for a whole round trip: one request at a time */
	pthread_mutex_t growing; /* held while the arena grows */
	pthread_mutex_t opening; /* held from RING_OPEN to READY: one opening at a time */
	int socket;
	uint32_t seq;

	struct quoit_info info; /* as it was at hello */
	uint32_t max_entries;
	uint64_t spin;    /* ticks to spin before sleeping; 0: only one CPU */
	bool stays;       /* QUOIT_OPEN_STAY */
	struct cpus near; /* to the reactor's CPU, for core.c */

	struct shared shared; /* the arena, */
	uint64_t arena_bytes; /* of which so many are there; atomic, changes with `growing` */
	struct arena arena;
	uint64_t arena_refused, arena_refused_ns; /* the last size that it did not get, and when;
						     with `growing`; 0: none */
	struct handle_pool handles;
	struct tensor_record *tensors; /* info.max_tensors of them, touched when used */

	pthread_mutex_t list; /* guards rings */
	struct quoit_ring *rings;
};

/* ---- rings ---- */

enum job_state {
	JOB_FREE,
	JOB_OPEN,     /* in flight, somebody will ask for it */
	JOB_DETACHED, /* in flight, nobody will */
	JOB_ENDED,
};

/* A slot of the job table: one cache line. */
struct job_slot {
	struct quoit_error error;
	uint32_t generation; /* never 0, so that a quoit_job is never 0 */
	uint32_t sq_index;
	int32_t res;
	uint32_t next; /* in the free list */
	uint8_t state; /* enum job_state */
	bool failed;   /* error holds the record */
	uint8_t piece; /* staging[piece - 1] is freed when the job ends; 0: none */
	bool own;      /* the library's: a wait's, a window's or a copy's */
};

#define NO_SLOT UINT32_MAX

/* Slots beyond the user's, for waits, windows and copies, which take none of the user's. */
#define STAGING_PIECES 4u
#define RESERVED_SLOTS (QUOIT_MAX_WINDOW + 2 * STAGING_PIECES)

struct job_table {
	struct job_slot *slot;
	struct quoit_stamps *stamps; /* by slot; NULL without QUOIT_RING_STAMPS */
	uint32_t count;
	uint32_t free; /* first free slot */
	uint32_t free_count;
	uint32_t reserved; /* of these, the library's own: RESERVED_SLOTS less what it has in flight
			    */
	uint64_t failures; /* of pushed and detached jobs */
	struct quoit_error last_failure;
};

struct quoit_ring {
	/* every push */
	const uint32_t *mine; /* the session's */
	struct quoit_producer sq;
	struct quoit_sqe *sqes;
	struct quoit_note *notes;
	uint32_t sampling;              /* the daemon's word, as last seen (quoit/sample.h); */
	uint32_t sq_sample;             /* by it, the next index that is a sample, */
	uint32_t sq_noted[QUOIT_NOTED]; /* behind which index each word may tell of another, */
	uint32_t sq_mask;
	uint32_t claimed; /* the first slot, not before sq.next, that is not (slot.h), */
	uint32_t ahead;   /* and how many are at a time */
	uint32_t batch;   /* so many unpublished SQEs publish themselves */
	uint32_t site;    /* the call site that the library submits for; 0: none */
	uint32_t mark;    /* not 0: a thread is at work in it (alone.h) */
	bool raw;
	uint8_t device; /* where creates go */
	int socket;
	uint64_t until; /* deadline for room in the SQ: NEVER, but in a wait with a timeout */

	/* every reap */
	struct quoit_consumer cq;
	uint32_t cq_mask;
	bool carried;           /* the next CQE came in the tail's line, and is */
	struct quoit_cqe alone; /* here, too */
	uint32_t cq_sample;     /* and of the CQ */
	uint32_t vain;          /* looks of quoit_peek that found none, one after the other */
	uint64_t looked;        /* ticks of libquoit_sleep_look's last look */
	uint64_t spin;   /* ticks that a wait for a CQE spins before it sleeps; see sleep.c */
	bool shares_cpu; /* its last wait was on the reactor's CPU, for want of another (core.h) */
	uint64_t left_at,
		left_pause; /* ticks: when a wait last left that CPU, and how long none does */
	int broken;         /* 0, or what ended the ring: -ECONNRESET, -EPROTO (quoitd lied) */
	const struct quoit_cqe *cqes;
	const struct quoit_error *errors;
	const struct quoit_stamps *stamps; /* NULL without QUOIT_RING_STAMPS */
	struct quoit_client_words *client;
	const struct quoit_daemon_words *daemon;
	struct job_table jobs;
	struct quoit_error wait_error; /* of what the last wait has returned, */
	bool wait_failed;              /* if that was a job's failure */

	struct quoit_ring_events *events; /* what is noted while somebody records (event.c), */
	uint32_t recorded;                /* the daemon's word for that, at the last flush; */
	uint32_t spent;                   /* the last one of which nothing is left; */
	uint32_t allowance;               /* the one that allowed the last note, */
	uint32_t events_left;             /* and how many more */

	struct {
		int error; /* what the call returned; 0: none since the last wait began */
		char text[160];
	} refusal; /* the last one of the library's own */

	quoit_job window[QUOIT_MAX_WINDOW]; /* ends of batches, the oldest first */
	unsigned window_count;
	void *staging[STAGING_PIECES]; /* arena memory of copies in flight; NULL: none */
	struct handle_stack handles;
	struct site_table sites;

	struct quoit_session *session;
	struct quoit_ring *next; /* in the session's list */
	uint32_t index;          /* in the session */
	struct quoit_ring_layout layout;
	struct shared shared; /* client, daemon, and what is behind them */
};

/* Is this the process that opened the session? */
static inline bool libquoit_is_mine(const uint32_t *mine)
{
	return __atomic_load_n(mine, __ATOMIC_RELAXED) != 0;
}

/* ---- patience.c ---- */

/*
 * Between the two, sends to the socket and receives from it fail with EAGAIN now and then, so that
 * it can be asked whether to go on.  -errno.
 */
int libquoit_patience_begin(int socket);
void libquoit_patience_end(int socket);

/* False: quoitd is stopped, or has had its time since began_ns (clock_ns()); the text is set. */
bool libquoit_patience_left(int socket, uint64_t began_ns);

/* ---- mine.c ---- */

/* What libquoit_is_mine looks at; -errno. */
int libquoit_mine_new(uint32_t **ret);
void libquoit_mine_free(uint32_t *mine); /* NULL is fine */

/* ---- connect.c, control.c ---- */

/*
 * A descriptor that was just made, else -1 and errno: the same, or one above 2, or -errno.  Where
 * the program's standard descriptors are closed, ours would take their places, and be what the
 * program prints into.
 */
int libquoit_above_standard(int fd);

/*
 * Connect to quoitd at `path` (NULL: where it is looked for) and check who serves
 * there.  *ret_fd is the caller's.
 */
int libquoit_connect(const char *path, int *ret_fd);

/*
 * One request and its reply, in place.  `count` descriptors are sent along, QUOIT_MAX_RINGS at
 * most; exactly `want` must come back with a success and are the caller's in ret_fds.
 * A refusal's text goes to quoit_open_text.
 */
int libquoit_control_call(struct quoit_session *s, struct quoit_ctl *message, const int *fds,
			  unsigned count, int *ret_fds, unsigned want);

/* The same where nothing comes back, with one descriptor, or (-1) none. */
static inline int libquoit_control_ask(struct quoit_session *s, struct quoit_ctl *message, int fd)
{
	return libquoit_control_call(s, message, &fd, fd >= 0, NULL, 0);
}

/* ---- shared.c: a failure leaves a text for quoit_open_text ---- */

/*
 * A new memfd of `bytes`, sealed against shrinking and growing, and mapped; neither inherited by
 * fork() nor dumped.  It has no pages yet: they are to come where quoitd wants them.
 */
int libquoit_shared_make(struct shared *ret, const char *name, uint64_t bytes);

/*
 * See to it that the pages of the first `bytes` are there, and add the seals that quoitd has asked
 * for.  Where these are not all, libquoit_shared_more does as much with others later; else it is
 * closed.
 */
int libquoit_shared_fill(struct shared *m, uint64_t bytes, uint32_t seals);
int libquoit_shared_more(const struct shared *m, uint64_t from, uint64_t upto);

/* Unmap, and close what is open. */
void libquoit_shared_drop(struct shared *m);

/* ---- region.c: the arena ---- */

/* Bytes of it now. */
uint64_t libquoit_arena_bytes(const struct quoit_session *s);

/*
 * Have it grow by at least so many bytes, if they are to be had.  seen: its size when it was found
 * too small; if another thread has had it grow since, that is enough.  False: it is as it was, and
 * for a tenth of a second after a refusal as much is not asked for again.
 */
bool libquoit_arena_grow(struct quoit_session *s, uint64_t seen, uint64_t more);

/* ---- strerror.c ---- */

/* What quoit_open_text returns in this thread. */
__attribute__((format(printf, 1, 2))) void libquoit_text_set(const char *format, ...);

/* ---- refusal.c: for quoit_error_text; each returns the error ---- */

__attribute__((cold, noinline, format(printf, 3, 4))) int libquoit_refuse(struct quoit_ring *q,
									  int error,
									  const char *format, ...);

/* This is a child of the process that opened the session. */
__attribute__((cold)) int libquoit_refuse_child(struct quoit_ring *q);

/* The ring is, by q->broken. */
__attribute__((cold)) int libquoit_refuse_broken(struct quoit_ring *q);

/* There is no such job, the ring is a raw one, the handle is none. */
__attribute__((cold)) int libquoit_refuse_job(struct quoit_ring *q);
__attribute__((cold)) int libquoit_refuse_raw(struct quoit_ring *q);
__attribute__((cold)) int libquoit_refuse_tensor(struct quoit_ring *q, int error, quoit_tensor t);

/* ---- error_field.c ---- */

/* ": tensor 1 is missing", and the like: what an error record's field and values say; or "". */
void libquoit_describe_field(const struct quoit_error *e, char *to, size_t size);

/* ---- ring.c ---- */

/* Wait until all jobs of the ring have ended; their CQEs are dropped.  Its last use. */
int libquoit_ring_settle(struct quoit_ring *q);

/* Give back what the ring holds in this process; quoitd is not told. */
void libquoit_ring_free(struct quoit_ring *q);

/* ---- queue.c ---- */

/*
 * A free slot of the SQ, its index in *ret_index.  A managed ring waits for room;
 * a raw one returns -EAGAIN.
 */
int libquoit_queue_take(struct quoit_ring *q, uint32_t *ret_index);

/* Claim slots from q->claimed on, for slot_claim. */
void libquoit_queue_claim(struct quoit_ring *q);

/* Fill a taken slot with a job that posts a CQE, and publish when a batch is full. */
void libquoit_queue_put(struct quoit_ring *q, uint32_t index, const struct quoit_sqe *sqe,
			uint64_t user_data);

/* How many CQEs are ready.  A tail that lies breaks the ring. */
uint32_t libquoit_queue_ready(struct quoit_ring *q);

/* Give n CQEs back; when samples among them were reaped is noted. */
void libquoit_queue_release(struct quoit_ring *q, uint32_t n);

/* ---- sleep.c ---- */

/*
 * Sleep until a CQE is ready (0), the deadline (clock.h) has come (-ETIME), or the
 * ring is broken and no CQE is left.
 */
int libquoit_sleep_cq(struct quoit_ring *q, uint64_t deadline);

/*
 * For those who ask again and again instead of sleeping: now and then, look whether
 * quoitd is still there.  True: it has been looked for, and what it has posted must be
 * looked at once more.
 */
bool libquoit_sleep_look(struct quoit_ring *q);

/* Publish, then sleep until a quarter of the SQ is free (-ETIME: q->until).  Reaps meanwhile. */
int libquoit_sleep_sq(struct quoit_ring *q);

/* ---- job.c ---- */

int libquoit_job_init(struct quoit_ring *q, uint32_t jobs, bool stamps);
void libquoit_job_done(struct quoit_ring *q);

/* Take all ready CQEs over into the table. */
void libquoit_job_reap(struct quoit_ring *q);

/* quoit_start on the reserved slots; piece as in struct job_slot: detached from the start. */
int libquoit_job_start(struct quoit_ring *q, struct quoit_sqe sqe, uint8_t piece, quoit_job *ret);

/* The slot of a job that somebody may ask for, NULL: stale, foreign or none. */
struct job_slot *libquoit_job_find(struct quoit_ring *q, quoit_job job);

/* Free the slot of an ended job. */
void libquoit_job_end(struct quoit_ring *q, struct job_slot *slot);

/* ---- event.c ---- */

/* Note that something was done with the ring's `index` (quoit/trace.h), for who records it. */
void libquoit_event_note(struct quoit_ring *q, enum quoit_trace_event_kind kind, uint32_t index,
			 uint32_t site);

/* Is the ring recorded?  After a sleep; a flush asks by itself. */
static inline void libquoit_event_ask(struct quoit_ring *q)
{
	q->recorded = __atomic_load_n(&q->daemon->tracing, __ATOMIC_RELAXED);
}

/*
 * The same, if somebody recorded when that was asked last.  Nearly all that a fast program does is
 * beyond what it may note, and then is but counted.
 */
static inline void libquoit_event(struct quoit_ring *q, enum quoit_trace_event_kind kind,
				  uint32_t index, uint32_t site)
{
	if (LIKELY(!q->recorded))
		return;
	if (LIKELY(q->recorded == q->spent))
		__atomic_store_n(&q->events->dropped, q->events->dropped + 1, __ATOMIC_RELAXED);
	else
		libquoit_event_note(q, kind, index, site);
}

/* ---- wait.c ---- */

/* Can one wait here?  What the wait before has failed with is forgotten. */
int libquoit_wait_begin(struct quoit_ring *q);

/*
 * The result of one job, whose slot is free afterwards, but what is in it still there.  Of several
 * jobs of a wait the first failure is kept for quoit_wait_error.
 */
int libquoit_wait_job(struct quoit_ring *q, quoit_job job, uint64_t deadline, const char *here);

/* Publish, sleep until any job has ended, and count that under `here`. */
int libquoit_wait_progress(struct quoit_ring *q, const char *here);

/* ---- tensor.c ---- */

/* The record of a tensor alive, NULL: it is none. */
const struct tensor_record *libquoit_tensor_find(const struct quoit_session *s, quoit_tensor t);

#endif
