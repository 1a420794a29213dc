/* SPDX-License-Identifier: MIT */
/* graph.c - make random programs, from the first step to the last */
#include "graph_private.h"

#include <inttypes.h>
#include <stdlib.h>

/* xorshift64*: small, and the same everywhere */
uint32_t graph_draw(struct graph_maker *m, uint32_t below)
{
	m->random ^= m->random >> 12;
	m->random ^= m->random << 25;
	m->random ^= m->random >> 27;
	return (uint32_t)((m->random * UINT64_C(0x2545f4914f6cdd1d)) >> 33) % below;
}

bool graph_chance(struct graph_maker *m, unsigned percent)
{
	return graph_draw(m, 100) < percent;
}

struct graph_step *graph_emit(struct graph_maker *m, struct quoit_sqe sqe)
{
	struct graph *g = m->graph;
	bool is_job = sqe.opcode < QUOIT_OP_CREATE || sqe.opcode > QUOIT_OP_FREE;
	struct graph_step *step;

	if (g->count == m->room) {
		m->room = m->room ? 2 * m->room : 256;
		g->step = realloc(g->step, m->room * sizeof *g->step);
		if (!g->step)
			abort();
	}
	step = &g->step[g->count++];
	*step = (struct graph_step){.sqe = sqe};
	step->sqe.user_data = g->count;
	if (graph_chance(m, 40))
		step->sqe.flags |= QUOIT_SQE_QUIET;
	if (is_job) {
		step->sqe.priority = (uint8_t)graph_draw(m, QUOIT_PRIO_NR);
		if (graph_chance(m, 5)) {
			step->sqe.flags |= QUOIT_SQE_LINK;
			step->sqe.link = 1 + graph_draw(m, 20);
		}
		if (m->options->cancels && graph_chance(m, 5))
			step->sqe.deadline = 1 + graph_draw(m, 1000);
		step->cancel = m->options->cancels && graph_chance(m, 5);
	}
	step->end = oracle_run(&m->oracle, &step->sqe, step->cancel || step->sqe.deadline);
	return step;
}

/*
 * Sizes range from nothing to a little more than the budget; the pinned part ranges from none to
 * nearly all.
 */
static void choose_buffers(struct graph_maker *m)
{
	static const unsigned pinned[] = {0, 50, 95};
	uint32_t most = (uint32_t)(m->options->scale / 4);

	m->pinned = pinned[graph_draw(m, 3)];
	m->shared = pinned[graph_draw(m, 3)];
	m->size[0] = graph_draw(m, 2);
	m->size[1] = 1;
	m->size[2] = 2 + graph_draw(m, 600);
	m->size[3] = 2 + graph_draw(m, most / 16 + 1);
	m->size[4] = 2 + graph_draw(m, most / 3 + 1);
	/* a few elements, with gaps in between */
	m->size[5] = most / 8 + graph_draw(m, most / 8 + 1);
	m->size[6] = 2 + graph_draw(m, most + most / 8);
}

void graph_make(struct graph *g, const struct graph_options *options)
{
	struct graph_maker m = {.options = options, .graph = g, .arena = options->arena};
	struct graph_step *last;

	*g = (struct graph){0};
	m.random = options->seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
	oracle_init(&m.oracle, options->budget, options->ring * ORACLE_TENSORS);
	choose_buffers(&m);
	while (g->count < options->steps || m.acquire)
		graph_make_step(&m);
	for (unsigned i = 0; i < ORACLE_TENSORS; i++)
		if (m.oracle.tensor[i].handle)
			graph_make_check(&m, &m.oracle.tensor[i]);
	last = graph_emit(&m,
			  (struct quoit_sqe){.opcode = QUOIT_OP_NOP, .flags = QUOIT_SQE_AFTER_ALL});
	last->sqe.flags = QUOIT_SQE_AFTER_ALL; /* its CQE comes when all jobs have ended */
	last->sqe.deadline = last->sqe.link = 0;
	last->cancel = last->end.uncertain = false;
	for (unsigned i = 0; i < ORACLE_PLACES; i++)
		g->peak[i] = m.oracle.memory[i].peak;
	oracle_done(&m.oracle);
}

void graph_free(struct graph *g)
{
	for (unsigned i = 0; i < g->count; i++) {
		free(g->step[i].expected);
		free(g->step[i].acquired);
	}
	free(g->step);
}

static const char *name_of(uint8_t opcode)
{
	switch (opcode) {
#define QUOIT_OP(nr, NAME, name, family, access, shape, types, cost, flags, help)                  \
	case nr:                                                                                   \
		return #name;
#include <quoit/ops.def>
#undef QUOIT_OP
	}
	return "?";
}

void graph_print(const struct graph *g, unsigned end, FILE *out)
{
	for (unsigned i = 0; i < end && i < g->count; i++) {
		const struct graph_step *step = &g->step[i];
		const struct quoit_sqe *sqe = &step->sqe;

		fprintf(out, "%4" PRIu64 " %-6s", sqe->user_data, name_of(sqe->opcode));
		if (sqe->opcode == QUOIT_OP_CREATE || sqe->opcode == QUOIT_OP_VIEW)
			fprintf(out,
				" %#x of %#x, %u elements at %" PRIu64 " stride %d device %u%s",
				sqe->base[0], sqe->base[1], sqe->dim[3], sqe->offset,
				sqe->stride[3], sqe->device,
				sqe->arg & QUOIT_CREATE_PINNED   ? " pinned"
				: sqe->arg & QUOIT_CREATE_SHARED ? " shared"
								 : "");
		else
			fprintf(out, " %#x %#x %#x scalar %" PRId64 " link %u", sqe->tensor[0],
				sqe->tensor[1], sqe->tensor[2], (int64_t)sqe->scalar[0], sqe->link);
		fprintf(out, " flags %#x -> %d\n", sqe->flags, step->end.res);
	}
}
