/* SPDX-License-Identifier: MIT */
/*
 * graph_private.h - what the files behind graph.h share: graph.c makes programs, graph_steps.c
 * their steps.
 */
#ifndef TESTS_GRAPH_PRIVATE_H
#define TESTS_GRAPH_PRIVATE_H

#include "graph.h"

#define GRAPH_SIZES 7

/* An unfinished program, and the oracle's state after its last step. */
struct graph_maker {
	const struct graph_options *options;
	struct graph *graph;
	struct oracle oracle;
	uint64_t random;
	uint64_t arena; /* first byte not used yet */
	uint32_t size[GRAPH_SIZES];
	unsigned pinned, shared; /* percent of the host's buffers */
	unsigned room, live;
	unsigned acquire; /* step of the acquire that is not released yet, and 1; 0: none */
	unsigned release; /* after so many steps it is */
};

/* ---- graph.c ---- */

/*
 * A number below a bound; and true in this many of a hundred cases.  The seed makes them
 * repeatable.
 */
uint32_t graph_draw(struct graph_maker *m, uint32_t below);
bool graph_chance(struct graph_maker *m, unsigned percent);

/* Append a step, with random flags and link; it may be changed until the next one. */
struct graph_step *graph_emit(struct graph_maker *m, struct quoit_sqe sqe);

/* ---- graph_steps.c ---- */

/* Append one step of any kind; none if no tensors are suitable. */
void graph_make_step(struct graph_maker *m);

/* Copy a tensor into the arena, so that its contents can be checked at the end. */
void graph_make_check(struct graph_maker *m, const struct oracle_tensor *t);

#endif
