/* SPDX-License-Identifier: MIT */
/*
 * graph.h - make random programs for one ring, with the oracle's answer for each job.
 *
 * Programs have vectors of i32 of a few sizes, from none to more than the budget; views, frees, and
 * new tensors on old indices; jobs in place, jobs that fail, jobs that wait.  Some of the host's
 * buffers are pinned or shared, and some of the shared ones are acquired.  With devices, each has
 * as many buffers as the host, and there are copies between them.
 *
 * The generator keeps one rule for its own sake: after a failed write of a part of a buffer, the
 * next job on that buffer spans all of it.  The daemon remembers poison as one interval, so
 * otherwise its extent would depend on which of two independent jobs ends first.
 */
#ifndef TESTS_GRAPH_H
#define TESTS_GRAPH_H

#include <stdio.h>

#include "oracle.h"

/* Parameters of a program. */
struct graph_options {
	uint64_t seed;
	unsigned steps;                 /* about this many */
	uint64_t scale;                 /* in bytes: buffers have up to a little more */
	uint64_t budget[ORACLE_PLACES]; /* bytes of buffers that each place may have */
	uint64_t arena;     /* first byte of the arena's part for this program's checks */
	uint64_t arena_end; /* end of that part */
	uint32_t ring;      /* programs of one session use different tensors */
	unsigned devices;   /* how many devices there are */
	bool acquires;      /* some shared tensors are acquired */
	bool cancels;       /* some jobs get a deadline, and some are marked for cancelling */
};

/* One SQE and how it ends. */
struct graph_step {
	struct quoit_sqe sqe;
	struct oracle_end end;
	bool cancel;
	int32_t *expected; /* NULL, or what the arena contains after this COPY */
	uint64_t at;       /* where in the arena `expected` belongs */
	uint32_t n;        /* elements of `expected` */
	int32_t *acquired; /* NULL, or what the program finds by this acquire: n elements, */
	int64_t stride;    /* that are so many elements apart */
};

struct graph {
	struct graph_step *step;
	unsigned count;
	uint64_t peak[ORACLE_PLACES]; /* most bytes of buffers at a time, if jobs run one by one */
};

/* Make a program; its last step is a NOP that waits for all.  Aborts if there is no memory. */
void graph_make(struct graph *g, const struct graph_options *options);
void graph_free(struct graph *g);

/* Print steps [0, end), one per line. */
void graph_print(const struct graph *g, unsigned end, FILE *out);

#endif
