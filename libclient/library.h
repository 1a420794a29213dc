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
 *
 * Functions between files are named libquoit_*, so that a static libquoit collides with no other
 * name; they return 0 or a count, or -errno.
 */
#ifndef LIBQUOIT_LIBRARY_H
#define LIBQUOIT_LIBRARY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Everything else is hidden (the Makefile's -fvisibility). */
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

/* What the client remembers of each tensor, by the tensor's index. */
struct tensor_record {
	uint32_t handle; /* 0: not alive */
	uint16_t generation;
	bool dense; /* created with all strides zero; shape.stride has the real ones */
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

	pthread_mutex_t control; /* held for a whole round trip: one request at a time */
	pthread_mutex_t growing; /* held while the arena grows */
	pthread_mutex_t opening; /* held from RING_OPEN to READY: one opening at a time */
	int socket;
	uint32_t seq;

	struct quoit_info info; /* as granted at hello */
	uint32_t max_entries;
	uint64_t spin;    /* ticks to spin before sleeping; 0: the machine has one CPU */
	bool stays;       /* QUOIT_OPEN_STAY */
	struct cpus near; /* CPUs of the reactor's package, for core.c */

	struct shared shared; /* the arena */
	uint64_t arena_bytes; /* the arena's size now; atomic; changes while `growing` is held */
	struct arena arena;
	/* the last size that quoitd refused, and when; 0: none; guarded by `growing` */
	uint64_t arena_refused, arena_refused_ns;
	struct handle_pool handles;
	/* info.max_tensors records; their memory is touched when used */
	struct tensor_record *tensors;

	pthread_mutex_t list; /* guards rings */
	struct quoit_ring *rings;
};

/* ---- rings ---- */

enum job_state {
	JOB_FREE,
	JOB_OPEN,     /* in flight; the program may ask for it */
	JOB_DETACHED, /* in flight; the program has given up its name */
	JOB_ENDED,
};

/* A slot of the job table: one cache line. */
struct job_slot {
	struct quoit_error error;
	uint32_t generation; /* never 0, so that no quoit_job is 0 */
	uint32_t sq_index;
	int32_t res;
	uint32_t next; /* next slot in the free list */
	uint8_t state; /* enum job_state */
	bool failed;   /* error holds the record */
	uint8_t piece; /* staging[piece - 1] is freed when the job ends; 0: none */
	bool own;      /* a wait's, a window's or a copy's: not the program's */
};

#define NO_SLOT UINT32_MAX

/* Slots beyond the user's: waits, windows and copies use these. */
#define STAGING_PIECES 4u
#define RESERVED_SLOTS (QUOIT_MAX_WINDOW + 2 * STAGING_PIECES)

struct job_table {
	struct job_slot *slot;
	struct quoit_stamps *stamps; /* by slot; NULL without QUOIT_RING_STAMPS */
	uint32_t count;
	uint32_t free; /* first free slot */
	uint32_t free_count;
	/* free slots that are kept for the library: RESERVED_SLOTS less those that it uses */
	uint32_t reserved;
	uint64_t failures; /* of pushed and detached jobs */
	struct quoit_error last_failure;
};

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
	uint64_t spin;   /* ticks that a wait for a CQE spins before it sleeps; see sleep.c */
	bool shares_cpu; /* its last wait had to stay on the reactor's CPU (core.h) */
	/* ticks: when a wait last left that CPU, and how long no further wait leaves it */
	uint64_t left_at, left_pause;
	int broken; /* 0, or the error that ended the ring: -ECONNRESET, -EPROTO (quoitd lied) */
	const struct quoit_cqe *cqes;
	const struct quoit_error *errors;
	const struct quoit_stamps *stamps; /* NULL without QUOIT_RING_STAMPS */
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
		char text[160];
	} refusal; /* the library's last refusal */

	quoit_job window[QUOIT_MAX_WINDOW]; /* the jobs that end the batches, the oldest first */
	unsigned window_count;
	void *staging[STAGING_PIECES]; /* arena memory of copies in flight; NULL: none */
	struct handle_stack handles;
	struct site_table sites;

	struct quoit_session *session;
	struct quoit_ring *next; /* in the session's list */
	uint32_t index;          /* in the session */
	struct quoit_ring_layout layout;
	struct shared shared; /* the client's pages, then the daemon's */
};

/* Is this the process that opened the session? */
static inline bool libquoit_is_mine(const uint32_t *mine)
{
	return __atomic_load_n(mine, __ATOMIC_RELAXED) != 0;
}

/* ---- patience.c ---- */

/*
 * Between begin and end, sends and receives on the socket fail with EAGAIN now and then, so that
 * the caller can decide whether to go on.  -errno.
 */
int libquoit_patience_begin(int socket);
void libquoit_patience_end(int socket);

/* False: quoitd is stopped, or has used up its time since began_ns (clock_ns()); sets the text. */
bool libquoit_patience_left(int socket, uint64_t began_ns);

/* ---- mine.c ---- */

/* Make the word that libquoit_is_mine reads; -errno. */
int libquoit_mine_new(uint32_t **ret);
void libquoit_mine_free(uint32_t *mine); /* may be NULL */

/* ---- connect.c, control.c ---- */

/*
 * Pass a new descriptor, or -1 with errno.  Returns a descriptor above 2 in its place, or -errno.
 * If the program's standard descriptors are closed, ours would take their numbers, and the program
 * would print into them.
 */
int libquoit_above_standard(int fd);

/*
 * Connect to quoitd at `path` (NULL: at the usual places), and check the server's user.  *ret_fd is
 * the caller's.
 */
int libquoit_connect(const char *path, int *ret_fd);

/*
 * Send one request and receive its reply, in place.  `count` descriptors go along, at most
 * QUOIT_MAX_RINGS.  A success must bring exactly `want` descriptors, which are the caller's in
 * ret_fds.  quoit_open_text gets the text of a refusal.
 */
int libquoit_control_call(struct quoit_session *s, struct quoit_ctl *message, const int *fds,
			  unsigned count, int *ret_fds, unsigned want);

/* The same for a reply without descriptors; fd: the one to send, or -1. */
static inline int libquoit_control_ask(struct quoit_session *s, struct quoit_ctl *message, int fd)
{
	return libquoit_control_call(s, message, &fd, fd >= 0, NULL, 0);
}

/* ---- shared.c: a failure leaves a text for quoit_open_text ---- */

/*
 * Make a memfd of `bytes`, sealed against shrinking and growing, and map it.  It is not inherited
 * by fork() and not dumped.  It has no pages yet, so that quoitd can first choose their node.
 */
int libquoit_shared_make(struct shared *ret, const char *name, uint64_t bytes);

/*
 * Allocate the pages of the first `bytes`, and add the seals that quoitd asked for.  If these are
 * all pages, close the memfd; otherwise libquoit_shared_more allocates others later.
 */
int libquoit_shared_fill(struct shared *m, uint64_t bytes, uint32_t seals);
int libquoit_shared_more(const struct shared *m, uint64_t from, uint64_t upto);

/* Give these pages back to the system if the seals allow it; quoitd must not use them. */
void libquoit_shared_less(const struct shared *m, uint64_t from, uint64_t upto);

/* Unmap, and close the open descriptors. */
void libquoit_shared_drop(struct shared *m);

/* ---- region.c: the arena ---- */

/* The arena's size now. */
uint64_t libquoit_arena_bytes(const struct quoit_session *s);

/*
 * Grow the arena by at least `more` bytes, if possible.  seen: the size at which the caller found
 * it too small; growth by another thread since then is enough.  False: it has not grown.  After a
 * refusal the library does not ask for as much again for a tenth of a second.
 */
bool libquoit_arena_grow(struct quoit_session *s, uint64_t seen, uint64_t more);

/* ---- strerror.c ---- */

/* Set what quoit_open_text returns in this thread. */
__attribute__((format(printf, 1, 2))) void libquoit_text_set(const char *format, ...);

/* The same, and return the error. */
__attribute__((cold, format(printf, 2, 3))) int libquoit_text_refuse(int error, const char *format,
								     ...);

/* ---- refusal.c: each returns the error ---- */

/* For quoit_open_text.  Refuse: this is a child; there is no memory; quoitd's reply is invalid. */
__attribute__((cold)) int libquoit_text_refuse_child(void);
__attribute__((cold)) int libquoit_text_refuse_memory(void);
__attribute__((cold)) int libquoit_text_refuse_reply(void);

/* The flags of a call have bits that are not known; names: of those that are.  -EINVAL. */
__attribute__((cold)) int libquoit_text_refuse_flags(unsigned flags, unsigned known,
						     const char *names);

/* For quoit_error_text. */

__attribute__((cold, noinline, format(printf, 3, 4))) int libquoit_refuse(struct quoit_ring *q,
									  int error,
									  const char *format, ...);

/* Refuse: this is a child of the process that opened the session. */
__attribute__((cold)) int libquoit_refuse_child(struct quoit_ring *q);

/* Note that a wait's time is over: -ETIME.  Without formatting, since a program may poll. */
int libquoit_refuse_late(struct quoit_ring *q);

/* Refuse: the ring has ended, by q->broken. */
__attribute__((cold)) int libquoit_refuse_broken(struct quoit_ring *q);

/* Refuse: there is no such job; the ring is a raw one; the handle is not a tensor's. */
__attribute__((cold)) int libquoit_refuse_job(struct quoit_ring *q);
__attribute__((cold)) int libquoit_refuse_raw(struct quoit_ring *q);
/* sqe->reserved0 is not 0: the number given to quoit_launch names no kernel, or it is a mistake. */
__attribute__((cold)) int libquoit_refuse_reserved(struct quoit_ring *q,
						   const struct quoit_sqe *sqe);
__attribute__((cold)) int libquoit_refuse_tensor(struct quoit_ring *q, int error, quoit_tensor t);

/* ---- error_field.c ---- */

/* Describe an error record's field and values, as ": tensor 1 is missing"; or write "". */
void libquoit_describe_field(const struct quoit_error *e, char *to, size_t size);

/* ---- ring.c ---- */

/* Wait until all jobs of the ring have ended, and drop their CQEs.  The ring's last use. */
int libquoit_ring_settle(struct quoit_ring *q);

/* Free what the ring holds in this process; does not tell quoitd. */
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

/* Give n CQEs back, and note when samples among them were reaped. */
void libquoit_queue_release(struct quoit_ring *q, uint32_t n);

/* ---- sleep.c ---- */

/*
 * Sleep until a CQE is ready (0), the deadline (clock.h) has come (-ETIME), or the
 * ring is broken and no CQE is left.
 */
int libquoit_sleep_cq(struct quoit_ring *q, uint64_t deadline);

/*
 * For callers that poll instead of sleeping: now and then, check that quoitd is still there.  True:
 * it has been checked; look once more for CQEs that it posted before.
 */
bool libquoit_sleep_look(struct quoit_ring *q);

/* Publish, then sleep until a quarter of the SQ is free (-ETIME: q->until).  Reaps meanwhile. */
int libquoit_sleep_sq(struct quoit_ring *q);

/* ---- job.c ---- */

int libquoit_job_init(struct quoit_ring *q, uint32_t jobs, bool stamps);
void libquoit_job_done(struct quoit_ring *q);

/* Take all ready CQEs over into the table. */
void libquoit_job_reap(struct quoit_ring *q);

/*
 * As quoit_start, but on the reserved slots.  piece: see struct job_slot; a job with a piece is
 * detached from the start.
 */
int libquoit_job_start(struct quoit_ring *q, struct quoit_sqe sqe, uint8_t piece, quoit_job *ret);

/* The slot of a job that has a name; NULL: stale, foreign or none. */
struct job_slot *libquoit_job_find(struct quoit_ring *q, quoit_job job);

/* Free the slot of an ended job. */
void libquoit_job_end(struct quoit_ring *q, struct job_slot *slot);

/* ---- event.c ---- */

/* Note for a recorder that something was done with the ring's `index` (quoit/trace.h). */
void libquoit_event_note(struct quoit_ring *q, enum quoit_trace_event_kind kind, uint32_t index,
			 uint32_t site);

/* Is the ring recorded?  Called after a sleep; a flush calls it itself. */
static inline void libquoit_event_ask(struct quoit_ring *q)
{
	q->recorded = __atomic_load_n(&q->daemon->tracing, __ATOMIC_RELAXED);
}

/*
 * Note an event if the ring was recorded at the last look.  A fast program uses up its allowance
 * soon; then its events are only counted.
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

/* 0 if the ring allows waits, else -errno.  Forgets the failure of the last wait. */
int libquoit_wait_begin(struct quoit_ring *q);

/*
 * Wait for one job: its result.  The slot is free afterwards, but still has its contents.  If
 * several jobs of one wait fail, the first failure is kept for quoit_get_wait_error.
 */
int libquoit_wait_job(struct quoit_ring *q, quoit_job job, uint64_t deadline, const char *here);

/* Publish, sleep until any job has ended, and count the wait under `here`. */
int libquoit_wait_progress(struct quoit_ring *q, const char *here);

/* ---- tensor.c ---- */

/* The record of a living tensor; NULL: there is none. */
const struct tensor_record *libquoit_tensor_find(const struct quoit_session *s, quoit_tensor t);

#endif
