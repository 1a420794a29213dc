/* SPDX-License-Identifier: MIT */
/* graph_steps.c - make one random step that the program so far allows */
#include "graph_private.h"

#include <stdlib.h>
#include <string.h>

#define TRIES     12
#define LIVE_MOST 40u /* tensors */

/*
 * Up to three SQEs a step, so that the smallest ring, with room for 16, takes the release behind
 * jobs that all wait for it.
 */
#define RELEASE_MOST 4u

/* ---- choosing tensors ---- */

static uint32_t free_index(struct graph_maker *m)
{
	uint32_t i;

	if (m->live >= LIVE_MOST)
		return 0;
	do
		i = 1 + graph_draw(m, ORACLE_TENSORS - 1);
	while (m->oracle.tensor[i].handle);
	return i;
}

/*
 * While a piece is held, it can stand in the way of a new one, and the model only counts bytes
 * (daemon/memory/memory.h).
 */
static bool needs_place(const struct graph_maker *m, const struct oracle_buffer *b)
{
	return m->acquire && b->place == ORACLE_SHARED && !b->reserved;
}

static const struct oracle_tensor *any_tensor(struct graph_maker *m)
{
	for (unsigned i = 0; i < 4 * TRIES; i++) {
		const struct oracle_tensor *t = &m->oracle.tensor[graph_draw(m, ORACLE_TENSORS)];

		if (t->handle && !t->buffer->arena && !needs_place(m, t->buffer))
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

/*
 * May these two be output and input?  If they overlap, they must be the same tensor, and the
 * operation must work element by element.
 */
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

/* A job runs where all its tensors are. */
static bool together(const struct oracle_tensor *a, const struct oracle_tensor *b)
{
	return a->buffer->device == b->buffer->device;
}

/* Copies between places need dense tensors. */
static bool can_be_copied(const struct oracle_tensor *out, const struct oracle_tensor *x)
{
	return together(out, x) || (out->n == x->n && out->stride == 1 && x->stride == 1);
}

/* A tensor to read, of n elements (or of one; UINT32_MAX: of any number). */
static const struct oracle_tensor *choose_input(struct graph_maker *m,
						const struct oracle_tensor *out, uint32_t n,
						bool in_place)
{
	for (unsigned i = 0; i < TRIES; i++) {
		const struct oracle_tensor *t = any_tensor(m);

		if (t && (n == UINT32_MAX || t->n == n || (in_place && t->n == 1)) &&
		    spans_poison(t) && apart(out, t, in_place) && together(out, t))
			return t;
	}
	return NULL;
}

/* A tensor to copy. */
static const struct oracle_tensor *choose_source(struct graph_maker *m,
						 const struct oracle_tensor *out)
{
	for (unsigned i = 0; i < TRIES; i++) {
		const struct oracle_tensor *t = any_tensor(m);

		if (t && (t->n == out->n || t->n == 1) && spans_poison(t) && apart(out, t, true) &&
		    can_be_copied(out, t))
			return t;
	}
	return NULL;
}

/* ---- steps ---- */

static struct quoit_sqe job(uint8_t opcode, const struct oracle_tensor *out,
			    const struct oracle_tensor *x, const struct oracle_tensor *y)
{
	struct quoit_sqe sqe = {.opcode = opcode};

	sqe.tensor[0] = out ? out->handle : 0;
	sqe.tensor[1] = x ? x->handle : 0;
	sqe.tensor[2] = y ? y->handle : 0;
	return sqe;
}

static void make_create(struct graph_maker *m)
{
	struct quoit_sqe sqe = {.opcode = QUOIT_OP_CREATE, .arg = QUOIT_I32};
	uint32_t index = free_index(m);

	if (!index)
		return;
	sqe.base[0] = oracle_new_handle(&m->oracle, index);
	sqe.dim[0] = sqe.dim[1] = sqe.dim[2] = 1;
	sqe.dim[3] = m->size[graph_draw(m, GRAPH_SIZES)];
	if (m->options->devices)
		sqe.device = (uint8_t)graph_draw(m, 1 + m->options->devices);
	if (!sqe.device && graph_chance(m, m->pinned))
		sqe.arg |= QUOIT_CREATE_PINNED;
	else if (!sqe.device && graph_chance(m, m->shared))
		sqe.arg |= QUOIT_CREATE_SHARED;
	m->live++;
	graph_emit(m, sqe);
}

/* A half, every other element, or all in reverse. */
static void make_view(struct graph_maker *m)
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
	switch (graph_draw(m, 4)) {
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
	graph_emit(m, sqe);
}

static void make_free(struct graph_maker *m)
{
	const struct oracle_tensor *t = any_tensor(m);
	struct quoit_sqe sqe = {.opcode = QUOIT_OP_FREE};

	if (!t)
		return;
	sqe.base[0] = t->handle;
	m->live--;
	graph_emit(m, sqe);
}

static void make_nop(struct graph_maker *m)
{
	const struct oracle_tensor *t = any_tensor(m);
	struct quoit_sqe sqe = {.opcode = QUOIT_OP_NOP};

	if (graph_chance(m, 30))
		sqe.flags = QUOIT_SQE_AFTER_ALL;
	else if (t && spans_poison(t))
		sqe.tensor[0] = t->handle;
	graph_emit(m, sqe);
}

void graph_make_check(struct graph_maker *m, const struct oracle_tensor *t)
{
	struct quoit_sqe sqe = {.opcode = QUOIT_OP_CREATE, .arg = QUOIT_I32 | QUOIT_CREATE_ARENA};
	const struct oracle_tensor *to;
	struct graph_step *step;
	uint32_t index = free_index(m);

	if (!index || !t || !t->n || !spans_poison(t) || (t->buffer->device && t->stride != 1) ||
	    t->n * UINT64_C(4) > m->options->arena_end - m->arena)
		return;
	sqe.base[0] = oracle_new_handle(&m->oracle, index);
	sqe.dim[0] = sqe.dim[1] = sqe.dim[2] = 1;
	sqe.dim[3] = t->n;
	sqe.offset = m->arena;
	graph_emit(m, sqe);
	to = &m->oracle.tensor[index];
	step = graph_emit(m, job(QUOIT_OP_COPY, to, t, NULL));
	step->at = m->arena;
	step->n = t->n;
	if (step->end.res == 0 && !step->end.uncertain) {
		step->expected = malloc(t->n * sizeof *step->expected);
		memcpy(step->expected, to->buffer->data, t->n * sizeof *step->expected);
	}
	m->arena += t->n * UINT64_C(4);
	graph_emit(m, (struct quoit_sqe){.opcode = QUOIT_OP_FREE, .base = {to->handle}});
}

static void make_fill(struct graph_maker *m, const struct oracle_tensor *out)
{
	struct quoit_sqe sqe = job(QUOIT_OP_FILL, out, NULL, NULL);

	sqe.flags = QUOIT_SQE_INT;
	/* usually a valid index */
	sqe.scalar[0] = graph_chance(m, 70) ? graph_draw(m, 4)
					    : (uint64_t)(int64_t)(int32_t)graph_draw(m, 1u << 30);
	graph_emit(m, sqe);
}

static void make_binary(struct graph_maker *m, const struct oracle_tensor *out)
{
	static const uint8_t opcodes[] = {QUOIT_OP_ADD, QUOIT_OP_MUL, QUOIT_OP_MAX};
	const struct oracle_tensor *x = choose_input(m, out, out->n, true);
	const struct oracle_tensor *y = choose_input(m, out, out->n, true);
	struct quoit_sqe sqe;

	if (!x)
		return;
	if (graph_chance(m, 30))
		y = NULL;
	sqe = job(opcodes[graph_draw(m, 3)], out, x, y);
	if (!y) {
		sqe.flags = QUOIT_SQE_INT;
		sqe.arg = QUOIT_EW_SCALAR;
		sqe.scalar[0] = graph_draw(m, 100);
	}
	graph_emit(m, sqe);
}

static void make_gather(struct graph_maker *m, const struct oracle_tensor *out)
{
	const struct oracle_tensor *x = choose_input(m, out, UINT32_MAX, false);
	const struct oracle_tensor *index = choose_input(m, out, out->n, false);
	struct quoit_sqe sqe;

	if (!x || !index)
		return;
	sqe = job(QUOIT_OP_GATHER, out, x, index);
	sqe.arg = 3;
	graph_emit(m, sqe);
}

static void make_copy(struct graph_maker *m, const struct oracle_tensor *out)
{
	const struct oracle_tensor *x = choose_source(m, out);

	if (x)
		graph_emit(m, job(QUOIT_OP_COPY, out, x, NULL));
}

static void make_sum(struct graph_maker *m, const struct oracle_tensor *out)
{
	const struct oracle_tensor *x = choose_input(m, out, UINT32_MAX, false);
	struct quoit_sqe sqe;

	if (out->n != 1 || !x)
		return;
	sqe = job(QUOIT_OP_SUM, out, x, NULL);
	sqe.arg = QUOIT_AXIS_ALL;
	graph_emit(m, sqe);
}

static void make_job(struct graph_maker *m)
{
	const struct oracle_tensor *out = any_tensor(m);

	if (!out || !spans_poison(out))
		return;
	switch (graph_draw(m, 10)) {
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

static int32_t *contents(const struct oracle_tensor *t)
{
	int32_t *copy = malloc((t->n + UINT64_C(1)) * sizeof *copy);

	for (uint32_t i = 0; i < t->n; i++)
		copy[i] = *oracle_at(t, i);
	return copy;
}

/* At most one at a time, so that the program never waits for its own jobs. */
static void make_acquire(struct graph_maker *m)
{
	const struct oracle_tensor *t = any_tensor(m);
	struct graph_step *step;
	int32_t *before;

	if (!m->options->acquires || m->acquire || !t || t->buffer->place != ORACLE_SHARED ||
	    !spans_poison(t))
		return;
	before = contents(t);
	step = graph_emit(m,
			  job(graph_chance(m, 50) ? QUOIT_OP_ACQUIRE_WRITE : QUOIT_OP_ACQUIRE_READ,
			      t, NULL, NULL));
	step->sqe.flags &= (uint8_t)~QUOIT_SQE_QUIET;
	step->n = t->n;
	step->stride = t->stride;
	step->acquired = before;
	if (step->end.res < 0)
		return;
	m->acquire = m->graph->count;
	m->release = 1 + graph_draw(m, RELEASE_MOST);
}

static void make_release(struct graph_maker *m)
{
	struct graph_step *step = graph_emit(m, (struct quoit_sqe){.opcode = QUOIT_OP_RELEASE});

	step->sqe.flags &= QUOIT_SQE_QUIET;
	step->sqe.link = step->sqe.deadline = 0;
	step->sqe.priority = 0;
	step->sqe.scalar[0] = m->acquire - 1;
	m->acquire = 0;
}

void graph_make_step(struct graph_maker *m)
{
	unsigned what = graph_draw(m, 100);

	if (m->acquire && !--m->release)
		make_release(m);
	if (graph_chance(m, 8))
		make_acquire(m);
	if (what < 14)
		make_create(m);
	else if (what < 22)
		make_view(m);
	else if (what < 37)
		make_free(m);
	else if (what < 43)
		make_nop(m);
	else if (what < 50)
		graph_make_check(m, any_tensor(m));
	else
		make_job(m);
}
