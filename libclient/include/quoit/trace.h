/* SPDX-License-Identifier: MIT */
/*
 * trace.h - a session's file of what happened to each job, while somebody records it.
 *
 * "trace.N" lies beside "session.N" and is for the same: the session's uid and root.  It is there
 * from a recorder's QUOIT_CTL_TRACE until its connection ends, and what was under way already is in
 * it from its first record on; when the session ends before that, `ended` says so and the file
 * stays.
 *
 * It is a ring of records of 64 bytes that the session's reactor writes over again and again: who
 * reads too seldom loses the oldest, and `head` tells how many.  It is read so: load head, copy
 * records, load head again (acquire, and an acquire fence before the second); what is within
 * `records`, less a margin of 8 that may just be written, of the second head is whole.  A program's
 * busiest moments are thinned out before they come here
 * (`dropped`): so is each ring's part that the client writes, into its own pages, and that the
 * reactor copies.
 */
#ifndef QUOIT_TRACE_H
#define QUOIT_TRACE_H

#include <quoit/abi.h>
#include <quoit/stats.h>

#define QUOIT_STATS_TRACE "trace.%llu"

#define QUOIT_TRACE_MARGIN 8u /* as said above */

#define QUOIT_TRACE_LEAST   4096u /* records: a power of two; */
#define QUOIT_TRACE_DEFAULT 8192u
#define QUOIT_TRACE_MOST    65536u

enum quoit_trace_kind {
	QUOIT_TRACE_NONE,
	QUOIT_TRACE_JOB,    /* it has ended, with a CQE; */
	QUOIT_TRACE_QUIET,  /* it has ended, without one */
	QUOIT_TRACE_CLIENT, /* what the client says it did: hostile */
	QUOIT_TRACE_COUNTS, /* how much there was of what at one moment */
};

/* Who ran it. */
enum quoit_trace_place {
	QUOIT_TRACE_NOWHERE,     /* it was refused, cancelled, or failed before it ran */
	QUOIT_TRACE_REACTOR,     /* the reactor, by itself */
	QUOIT_TRACE_WORKERS,     /* cores of its node, in tiles */
	QUOIT_TRACE_KERNEL,      /* a file's system */
	QUOIT_TRACE_BRIDGE,      /* a copy from device to device */
	QUOIT_TRACE_MODULE = 16, /* and up: the process of the module with this number less this */
	QUOIT_TRACE_DEVICE = 32, /* the same of a device, whose numbers begin with 1; and where it
				    is known by which of its streams: */
	QUOIT_TRACE_STREAM = 64, /* and up: QUOIT_TRACE_STREAMS of each device, from the first on */
};

/*
 * Places of a device's streams: as it numbers them, and behind them its GPU-direct ring.  Streams
 * of copies in and out come first.  What was in the ring when its consumer stopped is there, though
 * a stream did it then.
 */
#define QUOIT_TRACE_STREAMS 16u
#define QUOIT_TRACE_DIRECT  15u

/* All times are TSC; 0: it did not come to that.  QUIET: post is when it would have been. */
struct quoit_trace_job {
	uint32_t sq_index; /* both free-running; */
	uint32_t cq_index; /* QUIET: of the CQE that came next */
	uint64_t fetch;
	uint64_t data;   /* it waited for data until then */
	uint64_t memory; /* and for memory until then */
	uint64_t start, end;
	uint64_t post;
};

enum quoit_trace_event_kind {
	QUOIT_EVENT_NONE,
	QUOIT_EVENT_SUBMIT, /* SQEs before `index` are published */
	QUOIT_EVENT_REAP,   /* CQEs before `index` are reaped */
	QUOIT_EVENT_WAIT,   /* it begins to wait, at `site`, for CQEs from `index` on */
	QUOIT_EVENT_GO,     /* and has waited */
};

struct quoit_trace_event {
	uint64_t tsc;
	uint32_t index; /* free-running */
	uint16_t kind;  /* enum quoit_trace_event_kind */
	uint16_t site;  /* of the ring's call sites (legs.N); 0: unknown */
};

#define QUOIT_TRACE_EVENTS 3u /* in a record */

struct quoit_trace_counts {
	uint64_t tsc;
	uint32_t open;                   /* jobs fetched and not ended */
	uint32_t running;                /* of these, with who runs them */
	uint64_t host_used, device_used; /* bytes; the latter on all devices together */
	uint32_t sq_depth, cq_depth;     /* of all its rings, as far as was looked */
};

struct quoit_trace_record {
	uint8_t kind;   /* enum quoit_trace_kind; a reader skips what it does not know */
	uint8_t ring;   /* index in the session */
	uint8_t opcode; /* JOB; CLIENT: how many events */
	uint8_t place;  /* enum quoit_trace_place */
	int32_t res;    /* JOB, QUIET: as in the CQE; QUIET that ended at its fetch: 0 or -EIO */
	QUOIT_UNNAMED union {
		struct quoit_trace_job job;
		struct quoit_trace_event event[QUOIT_TRACE_EVENTS];
		struct quoit_trace_counts counts;
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
	uint32_t records;    /* so many, a power of two, */
	uint32_t records_at; /* at this offset, */
	uint32_t record_bytes;
	uint64_t begun;    /* TSC, */
	uint64_t begun_ns; /* and CLOCK_REALTIME of the same moment */
	char name[32];
	QUOIT_ALIGNED(QUOIT_LINE) uint64_t head; /* of the next record, since the first; */
	uint64_t dropped;        /* jobs that have none, since there were too many at a time; */
	uint64_t events_dropped; /* and what rings' clients did not note for that reason */
	uint64_t ended;          /* 1: nothing comes any more */
};

/* ---- what a ring's client writes, at `events` of its pages, while `tracing` is not 0 ---- */

/* So many events at most for each value of `tracing`: a new one comes when they were taken. */
#define QUOIT_EVENTS_ALLOWED 256u
#define QUOIT_EVENTS         (2 * QUOIT_EVENTS_ALLOWED)

struct quoit_ring_events {
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t head; /* free-running */
	uint32_t dropped;                        /* in all; it may wrap */
	QUOIT_ALIGNED(QUOIT_LINE) struct quoit_trace_event event[QUOIT_EVENTS];
};

#endif
