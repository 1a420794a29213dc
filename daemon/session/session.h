/* SPDX-License-Identifier: MIT */
/*
 * session.h - one client: its tables, its rings, its memory.
 *
 *	session.h       the session: what is this process's own, as addresses and descriptors
 *	tables.h        its tensors, views, buffers and jobs, which refer to each other by index
 *	session_ring.h  its rings
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
#include "memory/shared.h"
#include "memory/slab.h"
#include "reactor/optable.h"
#include "session/depth.h"
#include "session/links.h"
#include "session/session_ring.h"
#include "session/tables.h"
#include "session/user.h"

/* ---- memory ---- */

/* The pinned region's pieces are being moved together (memory_pinned.h). */
enum tidy_state {
	TIDY_NONE,
	TIDY_WAITS, /* for the session's running jobs */
	TIDY_READY, /* the next part is to be sent */
	TIDY_RUNS,  /* one is with the memory thread, and so are the tables */
};

struct memory {
	uint64_t lease;       /* bytes of host memory, arena and pinned region included, now; */
	uint64_t promise;     /* never less, */
	uint64_t soft;        /* up to here more is asked for before it has to be (lease.h), */
	uint64_t most;        /* and never more */
	uint64_t fixed;       /* of these, arena and pinned region: charged from the start; */
	uint64_t arena_more;  /* and so many came with the arena as it grew */
	uint64_t used;        /* fixed and the pieces of reserved buffers */
	uint64_t peak;        /* of used, ever */
	uint64_t window_peak; /* of used since the last trim */
	uint64_t punching;    /* bytes on their way back to the system */
	uint32_t head, tail;  /* jobs that wait for bytes, in fetch order */
	bool scarce; /* the first of them lacks some, and does not wait for its turn alone */
	/* Jobs that wait for nothing else: in this queue, and for pages that are on their way. */
	uint32_t starved, paging;
	struct depth waiting; /* the latter, and the former while bytes are scarce */
	uint8_t tidying; /* enum tidy_state; else than NONE, no job starts and none is fetched */
	bool more;       /* memory_advance stopped in the middle: it is to be called again */
	/* lease.h */
	bool asks;             /* the control thread is asked for more */
	bool no_tables;        /* it had none, and nobody has heard of that yet */
	uint8_t calm;          /* trims in a row after which less would do */
	uint64_t refused;      /* bytes that were not to be had, */
	uint64_t refused_at;   /* when, TSC; 0: never */
	uint64_t no_tables_at; /* the same of larger tables */
};

/* ---- executors ---- */

/* By executor, as executors_count counts; and what is copied from one device to another. */
struct session_exec {
	struct job_queue waiting[BRIDGE_EXECUTOR + 1][QUOIT_PRIO_NR]; /* ready, not yet sent */
	uint32_t jobs_waiting;
	uint32_t in_flight[CONFIG_EXECUTORS];
	uint32_t in_direct[CONFIG_EXECUTORS]; /* of these, in its GPU-direct ring */
	uint32_t doubtful[CONFIG_EXECUTORS];  /* of in_flight, on a device; who waits for any waits
						 here */
	uint32_t jobs[CONFIG_EXECUTORS]; /* of each: both, and parts of copies between devices */
	uint32_t slot[CONFIG_EXECUTORS]; /* 1 + where the executor has our memory; 0: nowhere */
	uint64_t had;                    /* ticks of modules and of devices' streams */
	uint64_t dead_since;             /* TSC */
};

/* ---- devices ---- */

/* What a session has of one device's memory. */
/* How fast a device is, as its driver says (quoit_device_info). */
struct device_speed {
	uint32_t units, flags;
};

struct device_memory {
	struct device_speed speed;
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
	uint32_t withheld_by; /* as in files.h: why it is not writable, though open so */
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
	struct session *turn[TURNS]; /* who comes behind it (session/turns.h), */
	bool has_turn[TURNS];        /* if it is there itself */
	bool told;    /* its counter file has all that was done for it, else it is in that list */
	bool leaving; /* it, or a ring of it, is to go once nothing of it is in use, */
	bool is_seen; /* and is in the queue of those that are looked at */
	struct links at_reactor; /* the reactor's lists: all of its sessions, */
	struct links untold;     /* those whose counters are behind, */
	struct links recorded;   /* with a trace, */
	struct links with_deadlines;
	struct session *leaves;   /* who is looked at behind it */
	struct session *at_place; /* the next with the same place (reactor_has) */
	int32_t memory_node;      /* where its memory is bound to; -1: nowhere */

	/* the tables' memfd */
	int state_fd;
	void *state;
	uint64_t state_bytes;
	uint32_t max_tensors, max_views, max_buffers, max_jobs, max_edges;
	/* Of these so many may be used for now (tables_grow). */
	uint32_t table_parts, views_room, buffers_room, jobs_room, edges_room;
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
	uint64_t region_most;       /* the lease that it is made for (never changes) */
	uint64_t arena_bytes;       /* that are granted: at hello, and there before any ring is; */
	uint64_t arena_most;        /* so many it can have: what is mapped (never changes) */
	struct shared arena_memory; /* the client's; none: it has not brought it yet */
	uint8_t *arena;             /* its address */
	uint64_t arena_away; /* of it, on other nodes than memory_node when it was handed over */
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
	uint64_t device_job_ns; /* what one job may take there, as predicted (cost.h) */
	uint32_t drops;         /* buffers in the dropped lists */

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
	uint32_t client_node;            /* 1 + the node its client ran on at hello; 0: not known */
	uint32_t transfers; /* of files, under way; atomic: the control thread looks at its end */
	uint32_t deadlines; /* open jobs that have one */
	uint64_t next_deadline; /* none of them is earlier; TSC */

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
	uint64_t core_ticks, tile_ticks; /* of its reactor; of workers, for works that came back */
	uint64_t bytes_moved;            /* as far as its file of legs says of which operations */

	struct quoit_session_stats *stats; /* its counter file, */
	int stats_fd;
	struct quoit_session_legs *legs;       /* its file of legs; NULL: there is none */
	struct quoit_operation_totals *summed; /* of its operations, what the reactor's have, */
	uint64_t summed_jobs;                  /* and so many jobs were fetched and have ended */
	uint64_t jobs_counted;                 /* by their operations: all that are no NOPs */
	uint64_t legs_long, legs_gap;          /* LEGS_LONG_NS, LEGS_GAP_NS; TSC */
	int legs_fd;
	bool lent;           /* the control thread's: there is a trace of it (control/recorder.h) */
	struct trace *trace; /* what records it (trace.h); NULL: nobody does */
};

struct session_limits {
	uint64_t host_bytes, arena_bytes, pinned_bytes, device_bytes; /* the last of each device */
	uint64_t arena_most;            /* that it may grow to; 0: it does not */
	uint64_t host_soft, host_most;  /* that the lease may grow to (memory/lease.h); 0: it is
					   as large as it gets */
	uint32_t table_parts;           /* of TABLE_PARTS, that may be used at first; 0: all */
	uint32_t devices, first_device; /* how many, and the executor of number 1 */
	struct device_speed speed[CONFIG_DEVICES];
	uint64_t device_job_ns; /* what one job may take there, as predicted */
	uint32_t max_tensors, max_jobs;
	bool eager;   /* the pageable region has room beyond the lease */
	bool kernels; /* it brings some */
	bool direct;  /* GPU-direct mode: a slab on each device */
};

/* Bytes that a session costs besides its lease, once every entry of its tables was used. */
uint64_t session_cost(const struct session_limits *limits);

/* How much more it costs with a lease of `lease` than with one of `from`.  Any thread. */
uint64_t session_growth_cost(const struct session *s, uint64_t from, uint64_t lease);

/* What so many parts of its tables cost.  Any thread. */
uint64_t session_tables_cost(const struct session *s, uint32_t parts);

/* The address space that its pageable region takes, with so many tensors and jobs. */
uint64_t session_span(const struct session_limits *limits);

/* Make a session with its tables and regions; -errno.  Blocks: control thread only. */
int session_new(const struct session_limits *limits, uint64_t id, struct session **ret);

/* Unmap and close everything.  NULL and half-made sessions are fine. */
void session_free(struct session *s);

/* ---- its tables ---- */

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

static inline uint32_t job_index(const struct session *s, const struct job *j)
{
	return (uint32_t)(j - s->jobs);
}

/* Where the bytes of a buffer are; the buffer must be reserved. */
static inline uint8_t *buffer_data(const struct session *s, const struct buffer *b)
{
	if (b->place == PLACE_PAGEABLE)
		return s->region.base + b->offset;
	return (b->place == PLACE_ARENA ? s->arena : s->pinned) + b->offset;
}

#endif
