/* SPDX-License-Identifier: MIT */
/*
 * session.h - one client: its tables, its rings, its memory.
 *
 * The tables (tensors, views, buffers, jobs, edges) lie in one memfd that only the
 * daemon maps, and refer to each other by index: it is the evidence after a crash.
 * struct session itself holds what is this process's own: addresses, descriptors.
 *
 * Life: the control thread makes a session and hands it to a reactor; from then
 * on only that reactor touches it, until it hands it back to be freed.
 */
#ifndef QUOITD_SESSION_H
#define QUOITD_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <quoit/abi.h>
#include <quoit/ctl.h>
#include <quoit/exec.h>
#include <quoit/ring.h>
#include <quoit/stats.h>
#include <quoit/trace.h>

#include "executors/bridge.h"
#include "host/config.h"
#include "memory/memory_thread.h"
#include "memory/pinned.h"
#include "memory/region.h"
#include "memory/slab.h"
#include "reactor/optable.h"
#include "session/depth.h"
#include "session/user.h"

/* ---- tables ---- */

/* What a handle's index is bound to. */
struct tensor {
	uint32_t handle; /* 0: nothing */
	uint32_t view;
};

/* A view on a buffer: what a tensor is, and what jobs hold on to. */
struct view {
	uint32_t buffer;
	uint32_t refs; /* the tensor and the open jobs that use it; next in the free list */
	uint32_t dim[QUOIT_MAX_DIMS];
	int32_t stride[QUOIT_MAX_DIMS];
	uint64_t offset; /* of the first element in the buffer */
	uint64_t lo, hi; /* the bytes of the buffer that the view can touch: [lo, hi) */
	uint64_t elements;
	uint8_t dtype;
	uint8_t device; /* of its buffer */
	bool dense;     /* row by row without gaps */
	bool plain;     /* dense, and on the host */
	bool covers;    /* every byte of [lo, hi) belongs to an element, in any order */
	bool disjoint;  /* no two elements share bytes: can be written */
};

enum buffer_place {
	PLACE_PAGEABLE,
	PLACE_PINNED = QUOIT_EXEC_PINNED,
	PLACE_ARENA,
	PLACE_DEVICE = QUOIT_EXEC_ON_DEVICE,
};

struct buffer {
	uint64_t size;   /* as asked for; hazards and poison count within it */
	uint64_t offset; /* in its region, once reserved */
	uint32_t views;  /* views alive; next in the free and parked lists */
	uint32_t next;
	uint32_t class;
	uint8_t place;  /* enum buffer_place */
	uint8_t device; /* 0: the host */
	bool reserved;  /* has bytes: charged, with an offset */
	bool in_slab;   /* on a device: they are in the session's slab, and the offset is there */
	bool zeroed;    /* needs no zero fill any more */
	bool poisoned;
	uint32_t writers; /* open accesses, newest first */
	uint32_t readers;
	uint32_t park_job; /* the last job that waited for memory when the last tensor was freed */
	uint64_t park_order;
	uint64_t poison_lo, poison_hi; /* hull of failed writes */
	struct quoit_error cause;      /* the first failure in it */
};

/* One tensor of one open job: a place in the lists of its buffer. */
struct access {
	uint32_t buffer; /* NIL: not in a list */
	uint32_t next, prev;
	bool write;
	uint64_t lo, hi;
};

enum job_state {
	JOB_FREE,
	JOB_WAITING, /* for data, a link, memory, or all earlier jobs */
	JOB_READY,   /* in a queue of sched.c */
	JOB_RUNNING, /* with a backend */
};

struct job {
	struct quoit_sqe sqe;               /* the private copy */
	uint64_t order;                     /* of fetch, over all rings of the session */
	uint64_t fetch, start, end, submit; /* TSC */
	uint64_t data, memory;              /* TSC: until when it waited for them; 0: not at all */
	uint64_t deadline;                  /* TSC; 0: none */
	uint64_t elements;                  /* largest tensor, for the cost */
	uint64_t cost;                      /* predicted nanoseconds on one core */
	uint32_t sq_index;
	uint32_t segment;      /* of its ring, for AFTER_ALL */
	uint32_t waits;        /* reasons left not to start */
	uint32_t edges;        /* first outgoing edge */
	uint32_t older, newer; /* the session's open jobs in fetch order */
	uint32_t next;         /* ready or memory queue, free list */
	uint32_t hash_next;    /* jobs of the ring in the same bucket of sq_index */
	uint32_t parked;       /* buffers to release once this job has its bytes */
	uint32_t allocating;   /* buffers whose pages are on their way */
	uint16_t ring;
	uint8_t state;
	uint8_t tensors;   /* bit i: sqe.tensor[i] is used */
	uint8_t writes;    /* bit i: tensor i is written */
	uint8_t reads;     /* bit i: tensor i is read */
	uint8_t holds;     /* bit i: tensor i must have bytes; a NOP needs none on a device */
	uint8_t zero;      /* bit i: the buffer of tensor i, on the host or in a slab, is to be
			      cleared first */
	uint8_t on_device; /* bit i: tensor i is on a device */
	uint8_t executor;  /* who runs it, NO_EXECUTOR: we do */
	bool in_stream;    /* a device has it, and orders what comes behind it there */
	bool direct;       /* small, of a session in GPU-direct mode, */
	bool in_direct;    /* and in that ring */
	uint8_t stream;    /* of its device, counted from 1; 0: not known */
	bool refused; /* no valid job: its outputs fail in its place, and it has nothing else */
	bool memory_waits; /* in the memory queue */
	bool posted;       /* its CQE is out although it has not ended, */
	bool has_cqe;      /* or it has one at all, */
	uint32_t cq_index; /* which is this */
	uint64_t post;     /* TSC */
	uint32_t weight; /* its legs are counted for so many, however short it is; 0: only if not */
	int32_t failed;  /* decided before it ran: -errno, error holds the record */
	uint32_t view[QUOIT_MAX_TENSORS_PER_JOB];
	struct access access[QUOIT_MAX_TENSORS_PER_JOB];
	struct quoit_error error;
	uint32_t work; /* slot of the backend that runs it */
	/* Of waits: for jobs that its own device has.  Who waits for no others goes there, too. */
	uint32_t eased;
	uint32_t behind; /* of waits: for jobs in its device's direct ring; `direct` may follow */
	uint32_t after[QUOIT_EXEC_AFTER];  /* these jobs' slots there */
	uint64_t device_start, device_end; /* TSC; 0: not asked for */
	uint64_t device_error;
};

struct edge {
	uint32_t job; /* who waits */
	uint32_t next;
};

/* ---- rings ---- */

#define CANCEL_SLOTS 16

/* What is timed on its way to the client (reactor/sample.h). */
#define SAMPLES_POSTING 16u
#define SAMPLES_POSTED  8u
struct ring_samples {
	uint32_t watch;          /* a flush of this CQE, or a later one, is of interest */
	uint32_t sq, cq;         /* the next samples' indices, */
	uint32_t sq_from;        /* the first that the former stands for, */
	uint32_t submit_from;    /* and of those whose submit is known; */
	uint64_t noted;          /* what the client has noted of it; 0: nothing was looked at */
	uint64_t sq_gap, cq_gap; /* TSC: none before */
	uint32_t posting;        /* so many have a CQE that is not yet flushed: */
	struct {
		uint64_t end; /* TSC */
		uint32_t weight;
		uint8_t device; /* that it ran on; 0: none */
	} job[SAMPLES_POSTING];
	uint32_t posted, reaped; /* free-running, into: */
	struct {
		uint64_t tsc;
		uint32_t index, weight;
	} cqe[SAMPLES_POSTED];
	uint32_t cq_from; /* the first that the next CQE stands for */
};

enum ring_place {
	RING_IDLE,    /* need_wake is up */
	RING_POLLED,  /* in a circle of its user's */
	RING_STALLED, /* in one of the reactor's: its next SQE waits, and so it was for a while */
};

struct ring {
	struct session *session;
	struct ring *next, *previous; /* in a circle */
	enum ring_place place;
	uint32_t index;
	int socket;
	uint32_t flags; /* QUOIT_RING_* */
	struct quoit_ring_layout layout;
	struct quoit_client_words *client;
	struct quoit_daemon_words *daemon;
	const struct quoit_sqe *sqes;
	const struct quoit_note *notes;
	const struct quoit_site *sites;
	const struct quoit_ring_events *events;
	uint32_t events_taken;   /* of these, free-running, */
	uint32_t events_dropped; /* and how many its client did not note, as last seen */
	struct quoit_cqe *cqes;
	struct quoit_error *errors;
	struct quoit_stamps *stamps; /* NULL: not asked for */
	struct quoit_consumer sq;
	struct quoit_producer cq;
	uint32_t in_flight; /* jobs that hold a completion credit and have no CQE yet */
	uint32_t jobs;      /* of this ring in the job table */
	uint32_t armed;     /* the client's arm word that was last answered */
	bool dirty;         /* CQEs not yet flushed */
	bool queued;        /* in the reactor's list of dirty rings */
	bool hung_up;       /* the client closed its end of the socket */
	uint32_t slot;      /* in the reactor's table */
	bool stalled;       /* the next SQE waits for a resource of the session */
	bool closing;
	bool mute;          /* its client has gone or is leaving: nothing is posted any more */
	uint64_t last_work; /* TSC of the last SQE */
	uint64_t look;      /* TSC; RING_STALLED: when to look again */
	/* Its queues: how deep when they were last looked at, and at most, as far as was looked. */
	uint32_t sq_depth, cq_depth, sq_most, cq_most;
	uint64_t fetched; /* TSC of the burst that is being fetched */
	struct ring_samples samples;
	struct ring *next_dirty;
	uint32_t *bucket;       /* jobs by sq_index: heads, cq_entries of them */
	uint32_t *segment_open; /* open jobs of each segment, cq_entries + 1 of them, wrapping */
	uint32_t *segment_job;  /* the AFTER_ALL job that ends it */
	uint32_t segment_head, segment_tail; /* oldest unfinished, current */
	uint32_t cancel[CANCEL_SLOTS];       /* SQ indices to be cancelled at fetch */
	uint32_t cancels;
};

/* ---- memory ---- */

/* The pinned region's pieces are being moved together (memory_pinned.h). */
enum tidy_state {
	TIDY_NONE,
	TIDY_WAITS, /* for the session's running jobs */
	TIDY_READY, /* the next part is to be sent */
	TIDY_RUNS,  /* one is with the memory thread, and so are the tables */
};

struct memory {
	uint64_t lease;       /* bytes of host memory, arena and pinned region included */
	uint64_t fixed;       /* of these, arena and pinned region: charged from the start */
	uint64_t used;        /* fixed and the pieces of reserved buffers */
	uint64_t peak;        /* of used, ever */
	uint64_t window_peak; /* of used since the last trim */
	uint64_t punching;    /* bytes on their way back to the system */
	uint32_t head, tail;  /* jobs that wait for bytes, in fetch order */
	struct depth waiting; /* these, and those whose pages are on their way */
	uint8_t tidying; /* enum tidy_state; else than NONE, no job starts and none is fetched */
	bool more;       /* memory_advance stopped in the middle: it is to be called again */
};

struct job_queue {
	uint32_t head, tail; /* linked by job.next; head NIL: empty */
};

/* ---- executors ---- */

/* By executor, as executors_count counts; and what is copied from one device to another. */
struct session_exec {
	struct job_queue waiting[BRIDGE_EXECUTOR + 1][QUOIT_PRIO_NR]; /* ready, not yet sent */
	uint32_t jobs_waiting;
	uint32_t in_flight[CONFIG_EXECUTORS];
	uint32_t in_direct[CONFIG_EXECUTORS]; /* of these, in its GPU-direct ring */
	uint32_t jobs[CONFIG_EXECUTORS]; /* of each: both, and parts of copies between devices */
	uint32_t slot[CONFIG_EXECUTORS]; /* 1 + where the executor has our memory; 0: nowhere */
	uint64_t had;                    /* ticks of modules and of devices' streams */
	uint64_t dead_since;             /* TSC */
};

/* ---- devices ---- */

/* What a session has of one device's memory. */
struct device_memory {
	uint64_t lease, used, peak;
	struct job_queue dropped;  /* buffers that are free as soon as the executor was told */
	uint64_t jobs;             /* that ran there */
	uint64_t direct, streamed; /* of these, in GPU-direct mode, or nearly so */
	uint64_t refused;          /* bytes of host memory that its driver did not let it reach */
	struct slab slab;          /* places of small buffers, for GPU-direct mode */
	uint64_t slab_address;     /* on the device; 0: not known */
};

/* ---- sessions ---- */

struct file_slot {
	int fd; /* -1: free */
	uint32_t jobs;
	bool removed;
	bool readable, writable;
};

struct errands;
struct kernels;
struct reactor;
struct trace;

struct session {
	uint64_t id;
	uid_t uid;
	pid_t pid;
	char name[QUOIT_NAME_BYTES];
	struct user *user;
	struct reactor *reactor;
	struct session *next;        /* in the reactor's list */
	struct session *turn[TURNS]; /* who comes behind it (session/turns.h), */
	bool has_turn[TURNS];        /* if it is there itself */
	struct session *untold;      /* the next in the reactor's list of these */
	int32_t memory_node;         /* where its memory is bound to; -1: nowhere */

	/* the tables' memfd */
	int state_fd;
	void *state;
	uint64_t state_bytes;
	uint32_t max_tensors, max_views, max_buffers, max_jobs, max_edges;
	struct tensor *tensors;
	struct view *views;
	struct buffer *buffers;
	struct job *jobs;
	struct edge *edges;
	uint32_t free_view, free_buffer, free_job, free_edge;
	uint32_t views_used, buffers_used, jobs_used, edges_used; /* entries ever touched */
	uint32_t edges_open;
	uint32_t tensors_alive;

	struct region region;
	int arena_fd;
	uint8_t *arena;
	uint64_t arena_bytes;
	int pinned_fd;
	uint8_t *pinned;
	uint64_t pinned_bytes;
	struct pinned pieces;       /* of the pinned region */
	bool pinned_filled;         /* it has its pages */
	uint64_t pinned_locked;     /* so many bytes from its start cannot be paged out, */
	uint64_t pinned_registered; /* and so many are registered with the reactor's io_uring, */
	uint32_t pinned_buffer;     /* in buffers that begin with this one, or IO_NO_BUFFER */
	struct memory memory;
	struct memory_turns at_memory;               /* the memory thread's */
	struct device_memory device[CONFIG_DEVICES]; /* number n is at n - 1 */
	uint32_t devices;                            /* that there are */
	uint32_t first_device;                       /* the executor of number 1 */
	uint32_t drops;                              /* buffers in the dropped lists */

	struct ring *rings[QUOIT_MAX_RINGS];
	uint32_t ring_count; /* highest index ever + 1 */
	uint32_t stalled;    /* of them, RING_STALLED */

	uint64_t order;          /* of the last fetched job */
	uint32_t oldest, newest; /* open jobs in fetch order */
	uint32_t looks;          /* at accesses of open jobs, for the SQE being fetched */
	struct depth open;       /* so many, */
	uint32_t running;        /* and of these with a backend */
	struct job_queue short_jobs[QUOIT_PRIO_NR]; /* ready */
	struct job_queue long_jobs[QUOIT_PRIO_NR];
	struct job_queue file_jobs[QUOIT_PRIO_NR];
	uint32_t ready_jobs, ready_long; /* in all of these, and in those of long ones */
	uint32_t published;              /* works given to the workers */
	uint32_t transfers;              /* of files, under way */
	uint32_t deadlines;              /* open jobs that have one */
	uint64_t next_deadline;          /* none of them is earlier; TSC */

	struct session_exec exec;
	struct bridge bridge;
	struct kernels *kernels; /* that it has brought; NULL: it brings none */

	struct file_slot files[QUOIT_MAX_FILES];
	struct errands *errands; /* of its connection, which outlives it: who closes these */

	bool vanished;     /* memory of the client went away under us (guard.h) */
	bool stopped;      /* nothing more is fetched */
	bool dead;         /* the client is gone: nobody wants what still runs */
	bool any_poison;   /* some buffer may be poisoned */
	bool eager;        /* test switch: bytes at create, no budget */
	bool direct;       /* GPU-direct mode */
	bool cut;          /* at the end of a drain: all jobs have their CQEs */
	uint8_t ending;    /* the MAIL_* to answer when the last job has ended; 0: none */
	uint32_t requests; /* to other threads, not yet answered */

	/* counts since the start */
	uint64_t memory_waited; /* jobs that had to wait for bytes */
	uint64_t jobs_fetched, jobs_done, jobs_failed, jobs_refused, jobs_inline, jobs_tiled;
	uint64_t ended_before; /* of done and failed: when the drain began */
	uint64_t wakes, kicks;
	uint64_t core_ticks;
	uint64_t bytes_moved; /* as far as its file of legs says of which operations */

	struct quoit_session_stats *stats; /* its counter file, */
	bool told; /* it has all that was done for it, else it is in the reactor's list */
	int stats_fd;
	struct quoit_session_legs *legs;       /* its file of legs; NULL: there is none */
	struct quoit_operation_totals *summed; /* of its operations, what the reactor's have, */
	uint64_t summed_jobs;                  /* and so many jobs were fetched and have ended */
	uint64_t jobs_counted;                 /* by their operations: all that are no NOPs */
	uint64_t legs_long, legs_gap;          /* LEGS_LONG_NS, LEGS_GAP_NS; TSC */
	int legs_fd;
	struct trace *trace; /* what records it (trace.h); NULL: nobody does */
};

struct session_limits {
	uint64_t host_bytes, arena_bytes, pinned_bytes, device_bytes; /* the last of each device */
	uint32_t devices, first_device; /* how many, and the executor of number 1 */
	uint32_t max_tensors, max_jobs;
	bool eager;   /* the pageable region has room beyond the lease */
	bool kernels; /* it brings some */
	bool direct;  /* GPU-direct mode: a slab on each device */
};

/* Bytes that a session costs besides its lease, once every entry of its tables was used. */
uint64_t session_cost(const struct session_limits *limits);

/* Make a session with its tables and regions; -errno.  Blocks: control thread only. */
int session_new(const struct session_limits *limits, uint64_t id, struct session **ret);

/* Unmap and close everything.  NULL and half-made sessions are fine. */
void session_free(struct session *s);

/*
 * Make a ring.  *ret_client, *ret_daemon and *ret_socket are descriptors for the client,
 * to be closed by the caller after they were sent.  -errno.
 */
int ring_new(struct session *s, uint32_t index, const struct quoit_ring_open *open,
	     struct ring **ret, int *ret_client, int *ret_daemon, int *ret_socket);
void ring_free(struct ring *r);

/* The layout that a ring of these sizes has. */
void ring_layout(const struct quoit_ring_open *open, struct quoit_ring_layout *ret);

/* Bytes that such a ring costs: the pages that both sides see, and what only we know of it. */
uint64_t ring_cost(const struct quoit_ring_layout *layout);

/* ---- the tables (tables.c) ---- */

/* Where the job is now; how many are with a backend is counted. */
static inline void job_become(struct session *s, struct job *job, enum job_state state)
{
	s->running -= job->state == JOB_RUNNING;
	s->running += state == JOB_RUNNING;
	job->state = (uint8_t)state;
}

/* The view that a handle names, NIL: none, or another generation. */
static inline uint32_t session_view(const struct session *s, uint32_t handle)
{
	uint32_t index = handle & QUOIT_HANDLE_INDEX_MASK;

	if (handle == QUOIT_NO_TENSOR || index >= s->max_tensors ||
	    s->tensors[index].handle != handle)
		return NIL;
	return s->tensors[index].view;
}

/* Does it wait for nobody but those that its device runs before it anyway? */
static inline bool job_may_start(const struct job *job)
{
	if (job->state != JOB_WAITING)
		return false;
	/* Who has failed has nothing to do there: it ends when all before it have ended. */
	if (job->failed)
		return !job->waits;
	return job->waits == job->eased || (job->direct && job->waits == job->behind);
}

/* The buffers on the host that are to be cleared before it runs. */
static inline uint8_t job_host_zero(const struct job *job)
{
	return job->zero & (uint8_t)~job->on_device;
}

static inline uint32_t job_index(const struct session *s, const struct job *j)
{
	return (uint32_t)(j - s->jobs);
}

uint32_t tables_take_view(struct session *s);
uint32_t tables_take_buffer(struct session *s);
void tables_give_view(struct session *s, uint32_t view);
void tables_give_buffer(struct session *s, uint32_t buffer);
struct job *tables_take_job(struct session *s);
void tables_give_job(struct session *s, struct job *job);
uint32_t tables_take_edge(struct session *s);
void tables_give_edge(struct session *s, uint32_t edge);

/* Where the bytes of a buffer are; the buffer must be reserved. */
static inline uint8_t *buffer_data(const struct session *s, const struct buffer *b)
{
	if (b->place == PLACE_PAGEABLE)
		return s->region.base + b->offset;
	return (b->place == PLACE_ARENA ? s->arena : s->pinned) + b->offset;
}

#endif
