/* SPDX-License-Identifier: MIT */
/* session_memory.h - what a session has of host memory, and its requests for more (memory/) */
#ifndef QUOITD_SESSION_MEMORY_H
#define QUOITD_SESSION_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "depth.h"

struct memory_work;
struct session;

/* State of moving the pieces of a region of fixed pages together (memory_pinned.h). */
enum tidy_state {
	TIDY_NONE,
	TIDY_WAITS, /* for the session's running jobs */
	TIDY_READY, /* the next part must be sent */
	TIDY_RUNS,  /* the memory thread moves pieces, and owns the tables */
};

struct session_memory {
	uint64_t lease;       /* bytes of host memory, arena and pinned region included */
	uint64_t promise;     /* the lease never falls below this */
	uint64_t soft;        /* up to here it grows before it must (lease.h) */
	uint64_t most;        /* the lease never grows beyond this */
	uint64_t fixed;       /* arena and pinned region, charged from the start */
	uint64_t arena_more;  /* how much the arena has grown */
	uint64_t used;        /* fixed and the pieces of reserved buffers */
	uint64_t peak;        /* of used, ever */
	uint64_t window_peak; /* of used since the last trim */
	uint64_t punching;    /* bytes on their way back to the system */
	uint32_t head, tail;  /* jobs that wait for bytes, in fetch order */
	bool scarce;          /* the head of the queue lacks bytes, not only its turn */
	/* Jobs that wait for nothing but bytes (in this queue), and for nothing but pages. */
	uint32_t starved, paging;
	struct depth waiting; /* paging, and starved while `scarce` */
	/* enum tidy_state; while it is not TIDY_NONE, no job starts and none is fetched. */
	uint8_t tidying;
	uint8_t tidy_regions; /* bit n: of enum fixed_region n */
	uint64_t tidied_for; /* the order of the job for which the last tidying was done; 0: none */
	bool more;           /* memory_advance stopped halfway: call it again */
	/* For lease.h: */
	bool asks;             /* a request to the control thread is open */
	bool no_tables;        /* larger tables were refused, and no caller knows yet */
	uint8_t calm;          /* trims in a row that found the lease too large */
	uint64_t refused;      /* this many bytes were refused */
	uint64_t refused_at;   /* TSC of that; 0: never */
	uint64_t no_tables_at; /* TSC of the last refusal of larger tables */
};

/* ---- losses ---- */

/* session.loss (memory/sigbus_guard.h) */
#define LOSS_OWN      0x1u /* some of its own memory went away under us */
#define LOSS_OF_NAMED 0x2u /* it has tensors with names, and these may be lost */

struct named_tensor;

/*
 * A tensor with a name that the session has; session.named is its address, NULL if there is none.
 * Its reactor changes both (sigbus_guard_name); a worker's signal handler may look meanwhile.
 */
struct named_range {
	uint64_t bytes;
	struct named_tensor *of;
};

/* A session's requests in the thread; only the thread touches it. */
struct memory_turns {
	struct memory_work *first, *last; /* its requests, in order */
	struct session *next;             /* the same user's next session */
};

#endif
