/* SPDX-License-Identifier: MIT */
/* graph.c - random programs */
#include "graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SIZES     6
#define TRIES     12
#define LIVE_MOST 40u /* tensors */

struct maker {
	const struct graph_options *options;
	struct graph *graph;
	struct oracle oracle;
	uint64_t random;
	uint64_t arena; /* first byte not yet used */
	uint32_t size[SIZES];
	unsigned room, live;
};

/* xorshift64*: small, and the same everywhere */
static uint32_t draw(struct maker *m, uint32_t below)
{
	m->random ^= m->random >> 12;
	m->random ^= m->random << 25;
	m->random ^= m->random >> 27;
	return (uint32_t)((m->random * UINT64_C(0x2545f4914f6cdd1d)) >> 33) % below;
}

static bool chance(struct maker *m, unsigned percent)
{
	return draw(m, 100) < percent;
}

/* ---- emitting ---- */

static struct graph_step *emit(struct maker *m, struct quoit_sqe sqe)
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
	if (chance(m, 40))
		step->sqe.flags |= QUOIT_SQE_QUIET;
	if (is_job) {
		step->sqe.priority = (uint8_t)draw(m, QUOIT_PRIO_NR);
		if (chance(m, 5)) {
			step->sqe.flags |= QUOIT_SQE_LINK;
			step->sqe.link = 1 + draw(m, 20);
		}
		if (m->options->cancels && chance(m, 5))
			step->sqe.deadline = 1 + draw(m, 1000);
		step->cancel = m->options->cancels && chance(m, 5);
	}
	step->end = oracle_run(&m->oracle, &step->sqe, step->cancel || step->sqe.deadline);
	return step;
}

static struct quoit_sqe job(uint8_t opcode, const struct oracle_tensor *out,
			    const struct oracle_tensor *x, const struct oracle_tensor *y)
{
	struct quoit_sqe sqe = {.opcode = opcode};

	sqe.tensor[0] = out ? out->handle : 0;
	sqe.tensor[1] = x ? x->handle : 0;
	sqe.tensor[2] = y ? y->handle : 0;
	return sqe;
}

/* ---- choosing tensors ---- */

static uint32_t free_index(struct maker *m)
{
	uint32_t i;

	if (m->live >= LIVE_MOST)
		return 0;
	do
		i = 1 + draw(m, ORACLE_TENSORS - 1);
	while (m->oracle.tensor[i].handle);
	return i;
}

static const struct oracle_tensor *any_tensor(struct maker *m)
{
	for (unsigned i = 0; i < 4 * TRIES; i++) {
		const struct oracle_tensor *t = &m->oracle.tensor[draw(m, ORACLE_TENSORS)];

		if (t->handle && !t->buffer->arena)
			return t;
	}
	return NULL;
}

/* May a job touch the tensor, by the rule of graph.h? */
static bool spans_poison(const struct oracle_tensor *t)
{
	const struct oracle_buffer *b = t->buffer;
	uint64_t lo, hi, n = b->bytes / 4;

	oracle_extent(t, &lo, &hi);
	return !b->poisoned || (b->lo == 0 && b->hi == n) || (lo == 0 && hi == n);
}

/* Only the same tensor may be both output and input, and only where elements are computed
 * one by one. */
static bool apart(const struct oracle_tensor *out, const struct oracle_tensor *x, bool in_place)
{
	uint64_t lo, hi, x_lo, x_hi;

	if (out->buffer != x->buffer)
		return true;
	if (in_place && out == x)
		return true;
	oracle_extent(out, &lo, &hi);
	oracle_extent(x, &x_lo, &x_hi);
	return lo >= x_hi || x_lo >= hi;
}

/* A tensor to read, of n elements (or of one; UINT32_MAX: of any number). */
static const struct oracle_tensor *choose_input(struct maker *m, const struct oracle_tensor *out,
						uint32_t n, bool in_place)
{
	for (unsigned i = 0; i < TRIES; i++) {
		const struct oracle_tensor *t = any_tensor(m);

		if (t && (n == UINT32_MAX || t->n == n || (in_place && t->n == 1)) &&
		    spans_poison(t) && apart(out, t, in_place))
			return t;
	}
	return NULL;
}

/* ---- steps ---- */

static void make_create(struct maker *m)
{
	struct quoit_sqe sqe = {.opcode = QUOIT_OP_CREATE, .arg = QUOIT_I32};
	uint32_t index = free_index(m);

	if (!index)
		return;
	sqe.base[0] = oracle_new_handle(&m->oracle, index);
	sqe.dim[0] = sqe.dim[1] = sqe.dim[2] = 1;
	sqe.dim[3] = m->size[draw(m, SIZES)];
	m->live++;
	emit(m, sqe);
}

/* A half, every other element, or all in reverse. */
static void make_view(struct maker *m)
{
	struct quoit_sqe sqe = {.opcode = QUOIT_OP_VIEW};
	const struct oracle_tensor *t = any_tensor(m);
	uint32_t index = free_index(m);

	if (!index || !t || t->n < 2 || t->stride != 1)
		return;
	sqe.base[0] = oracle_new_handle(&m->oracle, index);
	sqe.base[1] = t->handle;
	sqe.dim[0] = sqe.dim[1] = sqe.dim[2] = 1;
	sqe.dim[3] = t->n / 2;
	sqe.stride[3] = 1;
	switch (draw(m, 4)) {
	case 0:
		break;
	case 1:
		sqe.offset = (t->n - t->n / 2) * UINT64_C(4);
		break;
	case 2:
		sqe.stride[3] = 2;
		break;
	default:
		sqe.dim[3] = t->n;
		sqe.stride[3] = -1;
		sqe.offset = (t->n - 1) * UINT64_C(4);
		break;
	}
	m->live++;
	emit(m, sqe);
}

static void make_free(struct maker *m)
{
	const struct oracle_tensor *t = any_tensor(m);
	struct quoit_sqe sqe = {.opcode = QUOIT_OP_FREE};

	if (!t)
		return;
	sqe.base[0] = t->handle;
	m->live--;
	emit(m, sqe);
}

static void make_nop(struct maker *m)
{
	const struct oracle_tensor *t = any_tensor(m);
	struct quoit_sqe sqe = {.opcode = QUOIT_OP_NOP};

	if (chance(m, 30))
		sqe.flags = QUOIT_SQE_AFTER_ALL;
	else if (t && spans_poison(t))
		sqe.tensor[0] = t->handle;
	emit(m, sqe);
}

/* Copy a tensor into the arena, where its contents can be looked at when all is over. */
static void make_check(struct maker *m, const struct oracle_tensor *t)
{
	struct quoit_sqe sqe = {.opcode = QUOIT_OP_CREATE, .arg = QUOIT_I32 | QUOIT_CREATE_ARENA};
	const struct oracle_tensor *to;
	struct graph_step *step;
	uint32_t index = free_index(m);

	if (!index || !t || !t->n || !spans_poison(t) ||
	    t->n * UINT64_C(4) > m->options->arena_end - m->arena)
		return;
	sqe.base[0] = oracle_new_handle(&m->oracle, index);
	sqe.dim[0] = sqe.dim[1] = sqe.dim[2] = 1;
	sqe.dim[3] = t->n;
	sqe.offset = m->arena;
	emit(m, sqe);
	to = &m->oracle.tensor[index];
	step = emit(m, job(QUOIT_OP_COPY, to, t, NULL));
	step->at = m->arena;
	step->n = t->n;
	if (step->end.res == 0 && !step->end.uncertain) {
		step->expected = malloc(t->n * sizeof *step->expected);
		memcpy(step->expected, to->buffer->data, t->n * sizeof *step->expected);
	}
	m->arena += t->n * UINT64_C(4);
	emit(m, (struct quoit_sqe){.opcode = QUOIT_OP_FREE, .base = {to->handle}});
}

static void make_fill(struct maker *m, const struct oracle_tensor *out)
{
	struct quoit_sqe sqe = job(QUOIT_OP_FILL, out, NULL, NULL);

	/* mostly good as an index into something */
	sqe.scalar[0] = chance(m, 70) ? draw(m, 4) : (uint64_t)(int64_t)(int32_t)draw(m, 1u << 30);
	emit(m, sqe);
}

static void make_binary(struct maker *m, const struct oracle_tensor *out)
{
	static const uint8_t opcodes[] = {QUOIT_OP_ADD, QUOIT_OP_MUL, QUOIT_OP_MAX};
	const struct oracle_tensor *x = choose_input(m, out, out->n, true);
	const struct oracle_tensor *y = choose_input(m, out, out->n, true);
	struct quoit_sqe sqe;

	if (!x)
		return;
	if (chance(m, 30))
		y = NULL;
	sqe = job(opcodes[draw(m, 3)], out, x, y);
	if (!y) {
		sqe.arg = QUOIT_EW_SCALAR;
		sqe.scalar[0] = draw(m, 100);
	}
	emit(m, sqe);
}

static void make_gather(struct maker *m, const struct oracle_tensor *out)
{
	const struct oracle_tensor *x = choose_input(m, out, UINT32_MAX, false);
	const struct oracle_tensor *index = choose_input(m, out, out->n, false);
	struct quoit_sqe sqe;

	if (!x || !index)
		return;
	sqe = job(QUOIT_OP_GATHER, out, x, index);
	sqe.arg = 3;
	emit(m, sqe);
}

static void make_copy(struct maker *m, const struct oracle_tensor *out)
{
	const struct oracle_tensor *x = choose_input(m, out, out->n, true);

	if (x)
		emit(m, job(QUOIT_OP_COPY, out, x, NULL));
}

static void make_sum(struct maker *m, const struct oracle_tensor *out)
{
	const struct oracle_tensor *x = choose_input(m, out, UINT32_MAX, false);
	struct quoit_sqe sqe;

	if (out->n != 1 || !x)
		return;
	sqe = job(QUOIT_OP_SUM, out, x, NULL);
	sqe.arg = QUOIT_AXIS_ALL;
	emit(m, sqe);
}

static void make_job(struct maker *m)
{
	const struct oracle_tensor *out = any_tensor(m);

	if (!out || !spans_poison(out))
		return;
	switch (draw(m, 10)) {
	case 0:
	case 1:
	case 2:
		make_fill(m, out);
		break;
	case 3:
	case 4:
		make_copy(m, out);
		break;
	case 5:
	case 6:
	case 7:
		make_binary(m, out);
		break;
	case 8:
		make_gather(m, out);
		break;
	default:
		make_sum(m, out);
		break;
	}
}

static void make_step(struct maker *m)
{
	unsigned what = draw(m, 100);

	if (what < 14)
		make_create(m);
	else if (what < 22)
		make_view(m);
	else if (what < 37)
		make_free(m);
	else if (what < 43)
		make_nop(m);
	else if (what < 50)
		make_check(m, any_tensor(m));
	else
		make_job(m);
}

/* From nothing to a little more than everything. */
static void choose_sizes(struct maker *m)
{
	uint32_t most = (uint32_t)(m->options->scale / 4);

	m->size[0] = draw(m, 2);
	m->size[1] = 1;
	m->size[2] = 2 + draw(m, 600);
	m->size[3] = 2 + draw(m, most / 16 + 1);
	m->size[4] = 2 + draw(m, most / 3 + 1);
	m->size[5] = 2 + draw(m, most + most / 8);
}

void graph_make(struct graph *g, const struct graph_options *options)
{
	struct maker m = {.options = options, .graph = g, .arena = options->arena};
	struct graph_step *last;

	*g = (struct graph){0};
	m.random = options->seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
	oracle_init(&m.oracle, options->budget, options->ring * ORACLE_TENSORS);
	choose_sizes(&m);
	while (g->count < options->steps)
		make_step(&m);
	for (unsigned i = 0; i < ORACLE_TENSORS; i++)
		if (m.oracle.tensor[i].handle)
			make_check(&m, &m.oracle.tensor[i]);
	last = emit(&m, (struct quoit_sqe){.opcode = QUOIT_OP_NOP, .flags = QUOIT_SQE_AFTER_ALL});
	last->sqe.flags = QUOIT_SQE_AFTER_ALL; /* its CQE says that all is over */
	last->sqe.deadline = last->sqe.link = 0;
	last->cancel = last->end.uncertain = false;
	g->peak = m.oracle.peak;
	oracle_done(&m.oracle);
}

void graph_free(struct graph *g)
{
	for (unsigned i = 0; i < g->count; i++)
		free(g->step[i].expected);
	free(g->step);
}

static const char *name_of(uint8_t opcode)
{
	switch (opcode) {
#define QUOIT_OP(nr, NAME, name, access, shape, types, cost, flags, help)                          \
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
			fprintf(out, " %#x of %#x, %u elements at %" PRIu64 " stride %d",
				sqe->base[0], sqe->base[1], sqe->dim[3], sqe->offset,
				sqe->stride[3]);
		else
			fprintf(out, " %#x %#x %#x scalar %" PRId64 " link %u", sqe->tensor[0],
				sqe->tensor[1], sqe->tensor[2], (int64_t)sqe->scalar[0], sqe->link);
		fprintf(out, " flags %#x -> %d\n", sqe->flags, step->end.res);
	}
}
