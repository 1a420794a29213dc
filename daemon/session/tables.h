/* SPDX-License-Identifier: MIT */
/*
 * tables.h - what a session's tables are made of: tensors, views, buffers, jobs, edges.
 *
 * They lie in one memfd that only the daemon maps, and refer to each other by index, so that they
 * can be read after a crash.  session.h has the functions that need the session.
 */
#ifndef QUOITD_TABLES_H
#define QUOITD_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/abi.h>
#include <quoit/exec.h>

struct session;

/* What the index of a handle is bound to. */
struct tensor {
	uint32_t handle; /* 0: nothing */
	uint32_t view;
};

/* A view on a buffer: the value of a tensor, and what jobs hold on to. */
struct view {
	uint32_t buffer;
	uint32_t refs; /* the tensor, and open jobs that use it; link in the free list */
	uint32_t dim[QUOIT_MAX_DIMS];
	int32_t stride[QUOIT_MAX_DIMS];
	uint64_t offset; /* of the first element, from the buffer's start */
	uint64_t lo, hi; /* the bytes of the buffer that it can touch: [lo, hi) */
	uint64_t elements;
	uint8_t dtype;
	uint8_t device; /* its buffer's */
	bool dense;     /* row by row without gaps */
	bool plain;     /* dense, on the host, and not in a buffer that is only read */
	bool covers;    /* every byte of [lo, hi) belongs to an element, in any order */
	bool writable;  /* no two elements share bytes, and the session may write its buffer */
};

enum buffer_place {
	PLACE_PAGEABLE,
	PLACE_PINNED = QUOIT_EXEC_PINNED,
	PLACE_ARENA,
	PLACE_DEVICE = QUOIT_EXEC_ON_DEVICE,
	PLACE_NAMED, /* the memory of a tensor with a name: no executor has it */
};

/* A region whose pages are there from the start, and whose pieces can be moved (store/pinned.h). */
enum fixed_region {
	FIXED_NONE,
	FIXED_PINNED,
	FIXED_SHARED, /* at the start of the memory that both sides see; the place is PLACE_ARENA */
	FIXED_REGIONS,
};

struct buffer {
	uint64_t size;   /* as asked for; hazards and poison count within it */
	uint64_t offset; /* in its region, once reserved */
	uint32_t views;  /* views alive */
	uint32_t next;   /* link in the free, parked or dropped list */
	uint32_t class;
	uint8_t place;  /* enum buffer_place */
	uint8_t device; /* 0: the host */
	uint8_t fixed;  /* enum fixed_region */
	uint8_t holds;  /* accesses that the program holds (job/hold.h): it must not move */
	bool reserved;  /* has bytes: charged, with an offset */
	bool in_slab;   /* on a device: the bytes are in the session's slab, at this offset */
	bool zeroed;    /* needs no zero fill any more */
	bool poisoned;
	uint32_t writers; /* open accesses, newest first */
	uint32_t readers;
	uint32_t park_job; /* the last job that waited for memory when the last tensor was freed */
	uint8_t named;     /* of a tensor with a name: its number in the session */
	bool read_only;    /* the same: the session may not write it */
	uint64_t park_order;
	uint64_t poison_lo, poison_hi;    /* hull of failed writes */
	uint64_t poison_run, poison_step; /* runs in it and their step; step 0: all of it */
	struct quoit_error cause;         /* the first failure in it */
};

/* One tensor of an open job: a link in the lists of its buffer. */
struct access {
	uint32_t buffer; /* NIL: not in a list */
	uint32_t next, prev;
	bool write;
	bool gaps; /* only the bytes of the job's view, not all of [lo, hi) */
	uint64_t lo, hi;
};

/* What a job waits for if it waits for memory and nothing else (memory_recount). */
enum lack {
	LACK_NOTHING, /* other things, or nothing */
	LACK_BYTES,
	LACK_PAGES,
};

enum job_state {
	JOB_FREE,
	JOB_WAITING,  /* for data, a link, memory, or all earlier jobs */
	JOB_READY,    /* in a queue of sched.c */
	JOB_RUNNING,  /* with a backend */
	JOB_HELD,     /* an acquire that was granted: with the program (job/hold.h) */
	JOB_RELEASED, /* the same, released before the RELEASE was fetched */
};

struct job {
	struct quoit_sqe sqe;               /* the private copy */
	uint64_t order;                     /* of fetch, over all rings of the session */
	uint64_t fetch, start, end, submit; /* TSC */
	uint64_t data, memory;              /* TSC: end of its waits for them; 0: none */
	uint64_t deadline;                  /* TSC; 0: none */
	uint64_t elements;                  /* of the largest tensor, for the cost */
	uint64_t cost;                      /* predicted nanoseconds on one core */
	uint32_t sq_index;
	uint32_t segment;      /* of its ring, for AFTER_ALL */
	uint32_t waits;        /* how many things it still waits for */
	uint32_t edges;        /* first edge to a job that waits for it */
	uint32_t older, newer; /* the session's open jobs in fetch order */
	uint32_t next;         /* link in a ready queue, the memory queue, the free list */
	uint32_t hash_next;    /* jobs of the ring in the same bucket of sq_index */
	uint32_t parked;       /* buffers to release once this job has its bytes */
	uint32_t allocating;   /* buffers with pages on their way */
	uint16_t ring;
	uint8_t state;
	uint8_t tensors; /* bit i: sqe.tensor[i] is used */
	uint8_t writes;  /* bit i: tensor i is written */
	uint8_t reads;   /* bit i: tensor i is read */
	uint8_t holds;   /* bit i: tensor i must have bytes; a NOP needs none on a device */
	/* Bit i: tensor i's buffer, on the host or in a slab, must be cleared first. */
	uint8_t zero;
	uint8_t on_device; /* bit i: tensor i is on a device */
	uint8_t executor;  /* runs it; NO_EXECUTOR: we do */
	bool in_stream;    /* a device has it, and keeps the order behind it */
	bool follows;      /* it waits for one that workers have, and they begin it after that */
	bool direct;       /* small, and of a session in GPU-direct mode */
	bool in_direct;    /* in its device's direct ring */
	uint8_t stream;    /* of its device, from 1; 0: not known */
	uint8_t call;      /* of a service: its number in its caller (services.h) */
	uint32_t caller;   /* of a service: its caller's number */
	bool collects;     /* the results or the message of that call are being copied */
	bool orders_only;  /* a call of an object: it looks at no bytes (objects.h) */
	bool is_message;   /* of a queue or keyspace: it looks at bytes only while it `collects` */
	bool in_order;     /* of a queue, and not submitted yet (job/message_order.h): */
	bool waits_turn;   /* ready, but for those of its ring before it */
	uint32_t before, behind; /* the next ones of its ring; NIL: none */
	bool keeps_poison;       /* it is done though its tensors are poisoned, which they stay */
	/* No valid job: in its turn its outputs fail, and nothing else happens. */
	bool refused;
	bool memory_waits; /* in the memory queue */
	uint8_t lacks;     /* enum lack, as it is counted */
	bool posted;       /* its end is posted, perhaps before it has ended */
	bool has_cqe;      /* it has a CQE */
	uint32_t cq_index; /* index of that CQE */
	uint64_t post;     /* TSC of the post */
	uint32_t weight; /* its phases count for so many jobs; 0: no sample, counted only if long */
	int32_t failed;  /* decided before it ran: -errno, and error holds the record */
	uint32_t view[QUOIT_MAX_TENSORS_PER_JOB];
	struct access access[QUOIT_MAX_TENSORS_PER_JOB];
	struct quoit_error error;
	uint32_t work; /* slot of the backend that runs it */
	/* Of `waits`: jobs that its own device has.  Without other waits it goes there, too. */
	uint32_t waits_in_stream;
	uint32_t waits_in_direct_ring;     /* of `waits`: in the direct ring; `direct` may follow */
	uint32_t after[QUOIT_EXEC_AFTER];  /* the `waits_in_stream` jobs' slots there */
	uint64_t device_start, device_end; /* TSC; 0: not asked for */
	uint64_t device_error;
};

struct edge {
	uint32_t job; /* the job that waits */
	uint32_t next;
};

struct job_queue {
	uint32_t head, tail; /* linked by job.next; head NIL: empty */
};

/* Does it wait for no job but those that its device runs before it anyway? */
static inline bool job_may_start(const struct job *job)
{
	if (job->state != JOB_WAITING)
		return false;
	/* A failed job has nothing to do there: it ends when all jobs before it have ended. */
	if (job->failed)
		return !job->waits;
	return job->waits == job->waits_in_stream ||
	       (job->direct && job->waits == job->waits_in_direct_ring);
}

/* The buffers on the host that must be cleared before it runs. */
static inline uint8_t job_host_zero(const struct job *job)
{
	return job->zero & (uint8_t)~job->on_device;
}

/*
 * Views, buffers, jobs and edges come in so many parts.  A session that is promised little may use
 * one part, and gets more as it needs them (memory/lease.h).
 */
#define TABLE_PARTS 16u

/* Let so many parts be used from now on. */
void tables_grow(struct session *s, uint32_t parts);

/* Take a free entry, NIL or NULL: there is none; give an entry back (tables.c). */
uint32_t tables_take_view(struct session *s);
uint32_t tables_take_buffer(struct session *s);
void tables_give_view(struct session *s, uint32_t view);
void tables_give_buffer(struct session *s, uint32_t buffer);
struct job *tables_take_job(struct session *s);
void tables_give_job(struct session *s, struct job *job);
uint32_t tables_take_edge(struct session *s);
void tables_give_edge(struct session *s, uint32_t edge);

#endif
