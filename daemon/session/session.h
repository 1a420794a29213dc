/* SPDX-License-Identifier: MIT */
/*
 * session.h - one client: its tables, its rings, its memory.
 *
 *	session.h         the session: what is this process's own, such as addresses and descriptors
 *	tables.h          its tensors, views, buffers and jobs, which refer to each other by index
 *	session_ring.h    its rings
 *	session_memory.h  its host memory
 *	session_holds.h   what its program has acquired
 *	session_calls.h   the program's own functions, called
 *	services.h        functions of other processes: services, servers, callers
 *	session_device.h  its jobs and memory on modules and devices
 *	owner.h           the reactor that owns it
 *
 * Life: the control thread makes a session and hands it to a reactor.  From then on only that
 * reactor touches it, until it hands it back to be freed.
 */
#ifndef QUOITD_SESSION_H
#define QUOITD_SESSION_H

#include <assert.h>
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

#include "config/config.h"
#include "depth.h"
#include "fair/user.h"
#include "links.h"
#include "ops/optable.h"
#include "services.h"
#include "session_calls.h"
#include "session_device.h"
#include "session_holds.h"
#include "session_memory.h"
#include "session_ring.h"
#include "store/pinned.h"
#include "store/region.h"
#include "store/shared.h"
#include "tables.h"

/* ---- files ---- */

struct file_slot {
	int fd; /* -1: free */
	uint32_t jobs;
	bool removed;
	bool readable, writable;
	uint32_t withheld_by; /* why it is not writable though open for it (files.h) */
};

/* ---- sessions ---- */

struct blocking;
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
	struct session *turn[TURNS]; /* the next one in each queue (session/run_queue.h) */
	bool has_turn[TURNS];        /* is it in that queue? */
	bool counters_current;       /* its counter file is up to date; else it is in `stale` */
	bool leaving;                /* it, or a ring of it, is to leave */
	bool is_seen;                /* it waits to be looked at, in a queue of the reactor */
	struct links at_reactor;     /* in the reactor's list of all its sessions */
	struct links stale;          /* of sessions with counters to publish */
	struct links recorded;       /* of sessions with a trace */
	struct links with_deadlines;
	struct session *leaves;   /* the next one in the queue of `is_seen` */
	struct session *at_place; /* the next one with the same hash (reactor_has) */
	int32_t memory_node;      /* the node that its memory is bound to; -1: none */

	/* The tables' memfd. */
	int state_fd;
	void *state;
	uint64_t state_bytes;
	uint32_t max_tensors, max_views, max_buffers, max_jobs, max_edges;
	/* How many entries may be used for now (tables_grow). */
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
	uint64_t region_most; /* the largest lease that it is made for; never changes */
	/* Of the memory that both sides see, which must be there before any ring: */
	uint64_t shared_bytes;      /* the shared region, at its start; never changes */
	uint64_t arena_bytes;       /* with the arena behind it, as granted so far */
	uint64_t arena_most;        /* the most of arena_bytes, which is mapped; never changes */
	struct shared arena_memory; /* the client's; none: it has not brought it yet */
	uint8_t *arena;             /* its address */
	/* Bytes of it on other nodes than memory_node when it was handed over. */
	uint64_t arena_away;
	uint8_t *named[QUOIT_MAX_SERVICES]; /* by number: the memory of tensors with names */
	int pinned_fd;
	uint8_t *pinned;
	uint64_t pinned_bytes;
	struct pinned pieces[FIXED_REGIONS];
	bool pinned_filled;         /* it has its pages */
	uint64_t pinned_locked;     /* bytes from its start that cannot be paged out */
	uint64_t pinned_registered; /* bytes registered with the reactor's io_uring */
	uint32_t pinned_buffer;     /* number of its first io_uring buffer, or IO_NO_BUFFER */
	struct session_memory memory;
	struct memory_turns at_memory;               /* for the memory thread */
	struct device_memory device[CONFIG_DEVICES]; /* number n is at n - 1 */
	uint32_t devices;                            /* how many there are */
	uint32_t first_device;                       /* executor of device 1 */
	uint64_t device_job_ns;                      /* most predicted ns of a job there (cost.h) */
	uint32_t drops;                              /* buffers in the dropped lists */

	struct ring *rings[QUOIT_MAX_RINGS];
	uint32_t ring_count; /* highest index ever + 1 */
	uint32_t stalled;    /* rings that are RING_STALLED */
	bool awaits_fetch; /* an SQE waits until one of another ring is fetched (QUOIT_SQE_EVENT) */

	uint64_t order;                             /* of the last fetched job */
	uint32_t oldest, newest;                    /* open jobs in fetch order */
	uint32_t looks;                             /* looks at accesses for this SQE (deps.h) */
	struct depth open;                          /* open jobs */
	uint32_t running;                           /* open jobs that are with a backend */
	struct session_holds holds;                 /* what the program has acquired */
	struct session_calls calls;                 /* of the program's own functions */
	struct session_services services;           /* its calls of services, and its servers */
	struct job_queue short_jobs[QUOIT_PRIO_NR]; /* ready */
	struct job_queue long_jobs[QUOIT_PRIO_NR];
	struct job_queue file_jobs[QUOIT_PRIO_NR];
	uint32_t ready_jobs, ready_long; /* in all of these queues; in those of long jobs */
	uint32_t published;              /* works given to the workers */
	bool may_follow; /* a job may have come that could follow one of these (backend/cpu/line.h) */
	uint32_t client_node; /* 1 + the client's node at HELLO; 0: not known */
	/* Of files, under way; atomic, since the control thread reads it at the session's end. */
	uint32_t transfers;
	uint32_t deadlines;     /* open jobs that have one */
	uint64_t next_deadline; /* no job's deadline is earlier; TSC */

	struct session_exec exec;
	struct bridge bridge;
	struct kernels *kernels; /* brought by the client; NULL: it may bring none */

	struct file_slot files[QUOIT_MAX_FILES];
	struct blocking
		*blocking; /* of its connection, which outlives it; they close descriptors */

	uint8_t loss;      /* LOSS_*: some of its memory may have gone away under us */
	bool stopped;      /* nothing more is fetched, except returns of calls while quoitd ends */
	bool killed;       /* it broke a rule: nothing at all is fetched */
	bool dead;         /* the client is gone: results are no longer wanted */
	bool any_poison;   /* some buffer may be poisoned */
	bool eager;        /* test switch: bytes at create, no budget */
	bool direct;       /* GPU-direct mode */
	bool cut;          /* at the end of a drain: all jobs have their CQEs */
	uint8_t ending;    /* the MAIL_* to answer when the last job has ended; 0: none */
	uint32_t requests; /* open requests to other threads */

	/* Counts since the start. */
	uint64_t memory_waited; /* jobs that had to wait for bytes */
	uint64_t jobs_fetched, jobs_done, jobs_failed, jobs_refused, jobs_inline, jobs_tiled;
	uint64_t ended_before; /* jobs_done + jobs_failed when the drain began */
	uint64_t wakes, kicks;
	uint64_t core_ticks, tile_ticks; /* of its reactor; of workers, for retired works */
	uint64_t bytes_moved;            /* sum of the bytes in its latency file */

	struct quoit_session_stats *stats; /* its counter file */
	int stats_fd;
	struct quoit_session_latency *latency; /* its latency file; NULL: there is none */
	struct quoit_operation_totals *summed; /* per operation: counted in the reactor's totals */
	uint64_t summed_jobs;                  /* jobs fetched plus ended when that was added */
	uint64_t jobs_counted;                 /* jobs counted by operation: all but NOPs */
	uint64_t latency_long, latency_gap;    /* LATENCY_LONG_NS, LATENCY_GAP_NS; TSC */
	int latency_fd;
	bool lent;           /* for the control thread: a trace is lent (control/recorder.h) */
	struct trace *trace; /* what records it (trace.h); NULL: not recorded */
	struct named_range named_range[QUOIT_MAX_SERVICES]; /* more about `named`: seldom read */
};

struct session_limits {
	/* The last: of each device.  arena_bytes and arena_most include shared_bytes. */
	uint64_t host_bytes, shared_bytes, arena_bytes, pinned_bytes, device_bytes;
	uint64_t arena_most; /* the arena may grow to this; 0: it does not grow */
	/* The lease may grow to this (memory/lease.h); 0: it does not grow. */
	uint64_t host_soft, host_most;
	uint32_t table_parts;           /* of TABLE_PARTS, usable at first; 0: all */
	uint32_t devices, first_device; /* how many, and the executor of device 1 */
	struct device_speed speed[CONFIG_DEVICES];
	uint64_t device_job_ns; /* most predicted ns of one job on a device */
	uint32_t max_tensors, max_jobs;
	bool eager;   /* the pageable region has room beyond the lease */
	bool kernels; /* the client may bring kernels */
	bool direct;  /* GPU-direct mode: a slab on each device */
};

/* Bytes that a session costs besides its lease once every entry of its tables was used. */
uint64_t session_cost(const struct session_limits *limits);

/* How many bytes more it costs with a lease of `lease` than with one of `from`.  Any thread. */
uint64_t session_growth_cost(const struct session *s, uint64_t from, uint64_t lease);

/* Bytes that so many parts of its tables cost.  Any thread. */
uint64_t session_tables_cost(const struct session *s, uint32_t parts);

/* Bytes of address space that its pageable region takes. */
uint64_t session_span(const struct session_limits *limits);

/* Make a session with its tables and regions.  0 or -errno.  Blocks: control thread only. */
int session_new(const struct session_limits *limits, uint64_t id, struct session **ret);

/* Unmap and close everything.  s may be NULL or half made. */
void session_free(struct session *s);

/* ---- a session's tables ---- */

/* Set the job's state, and count the jobs that are with a backend. */
static inline void job_become(struct session *s, struct job *job, enum job_state state)
{
	assert(s->running > 0 || job->state != JOB_RUNNING);
	s->running -= job->state == JOB_RUNNING;
	s->running += state == JOB_RUNNING;
	job->state = (uint8_t)state;
}

/* The view that a handle names; NIL: there is none, or the handle is of another generation. */
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

/* Where the bytes of a buffer on the host are; the buffer must be reserved. */
static inline uint8_t *buffer_data(const struct session *s, const struct buffer *b)
{
	if (b->place == PLACE_PAGEABLE)
		return s->region.base + b->offset;
	if (b->place == PLACE_NAMED)
		return s->named[b->named] + b->offset;
	return (b->place == PLACE_ARENA ? s->arena : s->pinned) + b->offset;
}

#endif
