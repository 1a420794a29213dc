/* SPDX-License-Identifier: MIT */
/*
 * graph.h - random programs for one ring, and what the oracle says of each job in them.
 *
 * Vectors of i32 of a few sizes, from none to more than the budget; views, frees and new
 * tensors on old indices; jobs in place, jobs that fail, jobs that wait; some of the buffers on the
 * host pinned; with devices, as many on each as on the host, and copies between.  The only rule
 * that the generator keeps for its own sake: after a failed write of a part of a buffer, the next
 * job on that buffer spans all of it.  The daemon remembers poison as one interval, so how
 * far it reaches would else depend on which of two independent jobs ends first.
 */
#ifndef TESTS_GRAPH_H
#define TESTS_GRAPH_H

#include <stdio.h>

#include "oracle.h"

/* Wishes for a program. */
struct graph_options {
	uint64_t seed;
	unsigned steps;                 /* about so many */
	uint64_t scale;                 /* bytes: buffers have up to a little more */
	uint64_t budget[ORACLE_PLACES]; /* bytes of buffers that each place can have */
	uint64_t arena;                 /* first byte of the arena for this program's checks */
	uint64_t arena_end;             /* and the end */
	uint32_t ring;                  /* programs of one session have tensors of their own */
	unsigned devices;               /* that there are */
	bool cancels; /* some jobs get a deadline, some are marked to be cancelled */
};

/* One SQE and its end. */
struct graph_step {
	struct quoit_sqe sqe;
	struct oracle_end end;
	bool cancel;
	int32_t *expected; /* NULL, or what the arena has at sqe of this COPY afterwards */
	uint64_t at;       /* offset in the arena of `expected` */
	uint32_t n;        /* elements there */
};

struct graph {
	struct graph_step *step;
	unsigned count;
	uint64_t peak[ORACLE_PLACES]; /* bytes of buffers at a time, run one job at a time */
};

/* Make a program; the last step is a NOP after all.  Aborts without memory. */
void graph_make(struct graph *g, const struct graph_options *options);
void graph_free(struct graph *g);

/* Print steps [0, end), one a line. */
void graph_print(const struct graph *g, unsigned end, FILE *out);

#endif
