/* SPDX-License-Identifier: MIT */
/*
 * graph_private.h - what the files behind graph.h share: graph.c (whole programs) and
 * graph_steps.c (the steps in them).
 */
#ifndef TESTS_GRAPH_PRIVATE_H
#define TESTS_GRAPH_PRIVATE_H

#include "graph.h"

#define GRAPH_SIZES 7

/* A program that is being made, and what the oracle knows after its last step. */
struct graph_maker {
	const struct graph_options *options;
	struct graph *graph;
	struct oracle oracle;
	uint64_t random;
	uint64_t arena; /* first byte not yet used */
	uint32_t size[GRAPH_SIZES];
	unsigned pinned; /* percent of the buffers on the host */
	unsigned room, live;
};

/* ---- graph.c ---- */

/* A number below a bound, and true in so many of a hundred cases; repeatable by the seed. */
uint32_t graph_draw(struct graph_maker *m, uint32_t below);
bool graph_chance(struct graph_maker *m, unsigned percent);

/* Append a step, with flags and a link by chance; until the next one it may be changed. */
struct graph_step *graph_emit(struct graph_maker *m, struct quoit_sqe sqe);

/* ---- graph_steps.c ---- */

/* One step of any kind, or none, where it finds no tensors for it. */
void graph_make_step(struct graph_maker *m);

/* Copy a tensor into the arena, where its contents can be looked at when all is over. */
void graph_make_check(struct graph_maker *m, const struct oracle_tensor *t);

#endif
