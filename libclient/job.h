/* SPDX-License-Identifier: MIT */
/* job.h - the job table of a ring */
#ifndef LIBQUOIT_JOB_H
#define LIBQUOIT_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "public.h"

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
	uint8_t hold;  /* an acquire: holds[hold - 1] is told of its end; 0: none */
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

int libquoit_job_init(struct quoit_ring *q, uint32_t jobs, bool stamps);
void libquoit_job_done(struct quoit_ring *q);

/* Take all ready CQEs over into the table. */
void libquoit_job_reap(struct quoit_ring *q);

/*
 * May this thread ask about jobs and tensors of the ring?  0; else the refusal: this is a
 * child of the process that opened it, the ring is a raw one, or another thread uses it (-EBUSY).
 */
int libquoit_job_check(struct quoit_ring *q);

/*
 * As quoit_start, but on the reserved slots.  piece: see struct job_slot; a job with a piece is
 * detached from the start.
 */
int libquoit_job_start(struct quoit_ring *q, struct quoit_sqe sqe, uint8_t piece, quoit_job *ret);

/* The slot of a job that has a name; NULL: stale, foreign or none. */
struct job_slot *libquoit_job_find(struct quoit_ring *q, quoit_job job);

/* Free the slot of an ended job. */
void libquoit_job_end(struct quoit_ring *q, struct job_slot *slot);

#endif
