/* SPDX-License-Identifier: MIT */
/*
 * trace.h - a session's file of what happened to each job, while somebody records it.
 *
 * "trace.N" lies beside "session.N".  Root and quoitd's own user may read it, and
 * quoitd gives the session's user a descriptor of it (QUOIT_CTL_COUNTERS).
 * It exists from a recorder's QUOIT_CTL_TRACE until the recorder's connection ends.  Jobs that are
 * under way at the start are in it from its first record on.  If the session ends earlier, `ended`
 * says so and the file stays.
 *
 * It is a ring of records of 64 bytes that the session's reactor overwrites again and again: a slow
 * reader loses the oldest records, and `head` tells how many.  Read it so: load head, copy records,
 * load head again (acquire, and an acquire fence before the second load).  Records are whole if
 * they lie within `records` of the second head, less a margin of 8 that may just be written.  In a
 * program's busiest moments some jobs get no record (`dropped`), and the client notes fewer events
 * in its ring's pages, from which the reactor copies them (`events_dropped`).
 */
#ifndef QUOIT_TRACE_H
#define QUOIT_TRACE_H

#include <quoit/abi.h>
#include <quoit/stats.h>

#define QUOIT_STATS_TRACE QUOIT_STATS_SESSIONS "/trace.%llu"

#define QUOIT_TRACE_MARGIN 8u /* see above */

#define QUOIT_TRACE_LEAST   4096u /* records of a file: a power of two, from this */
#define QUOIT_TRACE_DEFAULT 8192u
#define QUOIT_TRACE_MOST    65536u

enum quoit_trace_kind {
	QUOIT_TRACE_NONE,
	QUOIT_TRACE_JOB,    /* it has ended, with a CQE */
	QUOIT_TRACE_QUIET,  /* it has ended, without one */
	QUOIT_TRACE_CLIENT, /* the client's own account of what it did: hostile */
	QUOIT_TRACE_COUNTS, /* counts of the session at one moment */
	QUOIT_TRACE_HOLD,   /* the program has released what it had acquired */
	QUOIT_TRACE_NAMED, /* a call of something with a name has come back; its job's comes later */
};

/* Where a job ran. */
enum quoit_trace_place {
	QUOIT_TRACE_NOWHERE, /* nowhere: it was refused, cancelled, or failed before it ran */
	QUOIT_TRACE_REACTOR, /* on the reactor itself */
	QUOIT_TRACE_WORKERS, /* on cores of its node, in tiles */
	QUOIT_TRACE_KERNEL,  /* in the kernel, for a file */
	QUOIT_TRACE_BRIDGE,  /* between devices: a copy from one to another */
	QUOIT_TRACE_TEAM,    /* in the client's own program, as a function of a team */
	QUOIT_TRACE_SERVICE, /* in another program, as a function of a service */
	QUOIT_TRACE_SYNC,    /* nowhere: quoitd itself did what it asked of a lock or its kin */
	/* and up: in the process of the module with this number less this */
	QUOIT_TRACE_MODULE = 16,
	/* and up: on the device with this number less this; devices count from 1 */
	QUOIT_TRACE_DEVICE = 32,
	/* and up: QUOIT_TRACE_STREAMS for each device, if the stream is known */
	QUOIT_TRACE_STREAM = 64,
};

/*
 * Places of a device's streams: the streams as the device numbers them, then its GPU-direct ring.
 * The streams for copies in and out come first.  A job that was in the ring when its consumer
 * stopped counts for the ring, though a stream ran it.
 */
#define QUOIT_TRACE_STREAMS 16u
#define QUOIT_TRACE_DIRECT  15u

/*
 * All times are TSC; 0: the job did not get so far.  QUIET: post is when its CQE would have been
 * posted.
 */
struct quoit_trace_job {
	uint32_t sq_index; /* free-running, like cq_index */
	uint32_t cq_index; /* QUIET: index of the next CQE */
	uint64_t fetch;
	uint64_t data;   /* it waited for data until then */
	uint64_t memory; /* then it waited for memory until then */
	uint64_t start, end;
	uint64_t post;
};

/* Its acquire has a record of its own, as a job.  Times are TSC. */
struct quoit_trace_hold {
	uint32_t sq_index; /* of the acquire */
	uint32_t site; /* of the ring's call sites (latency.N), by which it was made; 0: unknown */
	uint64_t granted, released;
	uint64_t awaited; /* from then on jobs waited for the release; 0: none did */
};

/* Times are TSC. */
struct quoit_trace_named {
	uint32_t sq_index; /* of the job */
	uint8_t kind;      /* enum quoit_sync_kind; 0: a service */
	uint8_t function;  /* of the service, or enum quoit_sync_op */
	uint16_t reserved;
	uint64_t number;       /* of the service or its kin; latency.N has its name */
	uint64_t asked;        /* it waited from then on, */
	uint64_t began, ended; /* until then; a lock and its kin end at once */
	uint64_t stalled;      /* ticks of the wait in which the session did nothing else */
	uint32_t pid;          /* of the process that ran it; 0: none did */
	uint32_t reserved_too;
};

enum quoit_trace_event_kind {
	QUOIT_EVENT_NONE,
	QUOIT_EVENT_SUBMIT, /* SQEs before `index` are published */
	QUOIT_EVENT_REAP,   /* CQEs before `index` are reaped */
	QUOIT_EVENT_WAIT,   /* the client begins to wait, at `site`, for CQEs from `index` on */
	QUOIT_EVENT_GO,     /* the client's wait has ended */
};

struct quoit_trace_event {
	uint64_t tsc;
	uint32_t index; /* free-running */
	uint16_t kind;  /* enum quoit_trace_event_kind */
	uint16_t site;  /* of the ring's call sites (latency.N); 0: unknown */
};

#define QUOIT_TRACE_EVENTS 3u /* events in one record */

struct quoit_trace_counts {
	uint64_t tsc;
	uint32_t open;                   /* jobs fetched and not ended */
	uint32_t running;                /* jobs of these that are being run */
	uint64_t host_used, device_used; /* bytes; device_used: on all devices together */
	uint32_t sq_depth, cq_depth;     /* of all its rings, as far as quoitd has looked */
};

struct quoit_trace_record {
	uint8_t kind;   /* enum quoit_trace_kind; a reader skips kinds that it does not know */
	uint8_t ring;   /* index in the session */
	uint8_t opcode; /* JOB, QUIET, HOLD, NAMED: the operation; CLIENT: the number of events */
	uint8_t place;  /* enum quoit_trace_place */
	int32_t res; /* JOB, QUIET: as in the CQE; a QUIET job that ended at its fetch: 0 or -EIO */
	QUOIT_UNNAMED union {
		struct quoit_trace_job job;
		struct quoit_trace_event event[QUOIT_TRACE_EVENTS];
		struct quoit_trace_counts counts;
		struct quoit_trace_hold hold;
		struct quoit_trace_named named;
		uint64_t word[7];
	};
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_trace_record) == 64, "a line each");

/* trace.N */
struct quoit_trace {
	struct quoit_stats_header header; /* no counters */
	uint64_t session;
	uint32_t uid;
	uint32_t pid; /* in the daemon's PID namespace */
	uint32_t reactor;
	int32_t cpu, node;   /* the reactor's */
	uint32_t records;    /* number of records, a power of two */
	uint32_t records_at; /* offset of the records */
	uint32_t record_bytes;
	uint64_t begun;    /* TSC of the recording's begin */
	uint64_t begun_ns; /* CLOCK_REALTIME of the same moment */
	char name[32];
	/* number of the next record, counted from the first */
	QUOIT_ALIGNED(QUOIT_LINE) uint64_t head;
	uint64_t dropped;        /* jobs without a record, because too many came at a time */
	uint64_t events_dropped; /* events that clients did not note for the same reason */
	uint64_t ended;          /* 1: no more records will come */
};

/* ---- what a ring's client writes, at `events` of its pages, while `tracing` is not 0 ---- */

/*
 * At most this many events for each value of `tracing`; quoitd changes `tracing` when it has taken
 * them.
 */
#define QUOIT_EVENTS_ALLOWED 256u
#define QUOIT_EVENTS         (2 * QUOIT_EVENTS_ALLOWED)

struct quoit_ring_events {
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t head; /* free-running */
	uint32_t dropped; /* events that were not noted, in all; it may wrap */
	QUOIT_ALIGNED(QUOIT_LINE) struct quoit_trace_event event[QUOIT_EVENTS];
};

#endif
