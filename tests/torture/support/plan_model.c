/* SPDX-License-Identifier: MIT */
/* plan_model.c - run a step, all before it having ended */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan_private.h"
#include "store/sizeclass.h"

#define ELEMENT 4u /* bytes */

/* ---- operands ---- */

static const char *const accesses[PLAN_FUNCTIONS] = {
	[PLAN_BUMP] = "M--",  [PLAN_MIX] = "WRr",  [PLAN_CUT] = "MR-",        [PLAN_TOTAL] = "WR-",
	[PLAN_COUNT] = "R--", [PLAN_FAIL] = "W--", [PLAN_FAIL_PIECE] = "M--", [PLAN_NEST] = "M--",
};

bool plan_is_job(const struct plan_step *s)
{
	return (s->kind >= PLAN_FILL && s->kind <= PLAN_CALL) || s->kind == PLAN_AWAIT;
}

bool plan_writes(const struct plan_step *s, uint32_t i)
{
	switch (s->kind) {
	case PLAN_CALL:
		return accesses[s->function][i] == 'W' || accesses[s->function][i] == 'M';
	case PLAN_ASK:
		return s->number[0] == 1;
	case PLAN_NOP:
	case PLAN_SEND:
	case PLAN_READ:
		return false;
	default:
		return i == 0;
	}
}

bool plan_reads(const struct plan_step *s, uint32_t i)
{
	switch (s->kind) {
	case PLAN_CALL:
		return accesses[s->function][i] != 'W' && accesses[s->function][i] != '-';
	case PLAN_ASK:
	case PLAN_NOP:
	case PLAN_SEND:
	case PLAN_READ:
		return true;
	default:
		return i > 0;
	}
}

void plan_extent(const struct plan_tensor *t, int64_t *ret_lo, int64_t *ret_hi)
{
	int64_t last = t->first + (int64_t)(t->n - 1) * t->stride;

	*ret_lo = last < t->first ? last : t->first;
	*ret_hi = (last < t->first ? t->first : last) + 1;
}

static int32_t *element(const struct plan_tensor *t, uint32_t i)
{
	return &t->buffer->data[t->first + (int64_t)i * t->stride];
}

/* Element i of an input of several outputs: a single one counts for all. */
static int32_t input(const struct plan_tensor *t, uint32_t i)
{
	return *element(t, t->n == 1 ? 0 : i);
}

uint64_t plan_charge(const struct plan_buffer *b)
{
	uint64_t bytes = b->n * (uint64_t)ELEMENT;

	if (b->place == PLAN_PINNED || b->place == PLAN_SHARED)
		return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	return sizeclass_bytes(sizeclass_of(bytes));
}

/* ---- tensors ---- */

static void add_tensor(struct plan_maker *m, uint32_t step, struct plan_tensor t)
{
	struct plan *p = m->plan;
	struct plan_step *s = &p->step[step];

	t.made = step;
	for (uint32_t r = 0; r < PLAN_RINGS; r++)
		t.last_use[r] = PLAN_NONE;
	t.buffer->tensors++;
	s->operand[0] = p->tensors;
	m->live[s->ring][m->live_count[s->ring]++] = p->tensors;
	p->tensor[p->tensors++] = t;
}

static void create(struct plan_maker *m, uint32_t step)
{
	const struct plan_step *s = &m->plan->step[step];
	struct plan_buffer *b = calloc(1, sizeof *b);

	if (!b || !(b->data = calloc(s->n, ELEMENT)))
		abort();
	b->ring = s->ring;
	b->place = (uint8_t)s->number[0];
	b->n = s->n;
	add_tensor(m, step, (struct plan_tensor){.buffer = b, .stride = 1, .n = s->n});
}

/* number[0]: its first element in the other tensor; number[1]: its stride */
static void view(struct plan_maker *m, uint32_t step)
{
	const struct plan_step *s = &m->plan->step[step];
	const struct plan_tensor *of = &m->plan->tensor[s->operand[1]];

	add_tensor(m, step,
		   (struct plan_tensor){.buffer = of->buffer,
					.first = of->first + s->number[0],
					.stride = s->number[1],
					.n = s->n});
}

static void free_tensor(struct plan_maker *m, uint32_t step)
{
	const struct plan_step *s = &m->plan->step[step];
	struct plan_tensor *t = &m->plan->tensor[s->operand[0]];
	struct plan_buffer *b = t->buffer;
	uint32_t *live = m->live[s->ring];

	for (uint32_t i = 0; i < m->live_count[s->ring]; i++)
		if (live[i] == s->operand[0])
			live[i] = live[--m->live_count[s->ring]];
	t->buffer = NULL;
	if (--b->tensors)
		return;
	if (b->touched)
		m->used[b->ring][b->place] -= plan_charge(b);
	free(b->access);
	free(b->data);
	free(b);
}

static void touch(struct plan_maker *m, struct plan_buffer *b)
{
	uint64_t *used = &m->used[b->ring][b->place], *peak = &m->peak[b->ring][b->place];

	if (b->touched)
		return;
	b->touched = true;
	*used += plan_charge(b);
	if (*used > *peak)
		*peak = *used;
	if (b->place == PLAN_SHARED && plan_charge(b) > m->plan->largest)
		m->plan->largest = plan_charge(b);
}

/* ---- what jobs compute ---- */

static int32_t combine(const struct plan_step *s, int32_t x, int32_t y)
{
	if (s->kind == PLAN_MUL)
		return plan_multiply_add(x, y, 0);
	if (s->kind == PLAN_ADD)
		return plan_multiply_add(x, 1, y);
	return x > y ? x : y;
}

static int32_t sum(const struct plan_tensor *t)
{
	int32_t total = 0;

	for (uint32_t i = 0; i < t->n; i++)
		total = plan_multiply_add(total, 1, *element(t, i));
	return total;
}

static int run_call(const struct plan_step *s, const struct plan_tensor *const t[PLAN_OPERANDS])
{
	const int32_t by = (int32_t)s->number[0];

	switch (s->function) {
	case PLAN_COUNT:
		return (int)t[0]->n;
	case PLAN_FAIL:
		return -EDOM;
	case PLAN_FAIL_PIECE:
		return -PLAN_PIECE_FAILS - by;
	case PLAN_TOTAL:
		*element(t[0], 0) = sum(t[1]);
		return 0;
	}
	for (uint32_t i = 0; i < t[0]->n; i++) {
		int32_t *x = element(t[0], i);

		if (s->function == PLAN_MIX)
			*x = plan_multiply_add(*element(t[1], i), by,
					       t[2] ? *element(t[2], i) : (int32_t)s->number[1]);
		else if (s->function == PLAN_CUT)
			*x = plan_multiply_add(*element(t[1], i), by, *x);
		else
			*x = plan_change(*x);
	}
	return 0;
}

static int run_operation(const struct plan_step *s,
			 const struct plan_tensor *const t[PLAN_OPERANDS])
{
	if (s->kind == PLAN_SUM) {
		*element(t[0], 0) = sum(t[1]);
		return 0;
	}
	for (uint32_t i = 0; i < t[0]->n; i++) {
		int32_t *x = element(t[0], i);

		if (s->kind == PLAN_FILL)
			*x = (int32_t)s->number[0];
		else if (s->kind == PLAN_COPY)
			*x = input(t[1], i);
		else
			*x = combine(s, input(t[1], i),
				     t[2] ? input(t[2], i) : (int32_t)s->number[0]);
	}
	return 0;
}

/* ---- poison ---- */

static const struct plan_buffer *poison(const struct plan *p, const struct plan_step *s)
{
	for (uint32_t i = 0; i < PLAN_OPERANDS; i++) {
		const struct plan_tensor *t;
		int64_t lo, hi;

		if (s->operand[i] == PLAN_NONE || !plan_reads(s, i))
			continue;
		t = &p->tensor[s->operand[i]];
		plan_extent(t, &lo, &hi);
		if (t->buffer->poisoned && lo < t->buffer->hi && t->buffer->lo < hi)
			return t->buffer;
	}
	return NULL;
}

static bool is_whole(const struct plan_tensor *t)
{
	return t->n == 1 || t->stride == 1 || t->stride == -1;
}

/* Later readers of the output learn how the step has ended. */
static void mark_output(const struct plan_step *s, const struct plan_tensor *t)
{
	struct plan_buffer *b = t->buffer;
	bool anew; /* it replaces all that others failed to write */
	int64_t lo, hi;

	plan_extent(t, &lo, &hi);
	anew = !b->poisoned || (is_whole(t) && lo <= b->lo && hi >= b->hi);
	if (s->result >= 0) {
		b->poisoned = b->poisoned && !anew;
		return;
	}
	if (anew) {
		b->lo = lo;
		b->hi = hi;
		b->cause = s->cause;
		b->code = s->code;
	}
	b->poisoned = true;
	b->lo = lo < b->lo ? lo : b->lo;
	b->hi = hi > b->hi ? hi : b->hi;
}

/* ---- jobs, and what the program does ---- */

static int compute(struct plan *p, const struct plan_step *s)
{
	const struct plan_tensor *t[PLAN_OPERANDS];

	for (uint32_t i = 0; i < PLAN_OPERANDS; i++)
		t[i] = s->operand[i] == PLAN_NONE ? NULL : &p->tensor[s->operand[i]];
	switch (s->kind) {
	case PLAN_CALL:
		return run_call(s, t);
	case PLAN_NOP:
	case PLAN_ASK:
	case PLAN_SEND:
	case PLAN_READ:
		return 0;
	case PLAN_WRITE:
	case PLAN_RECEIVE:
		for (uint32_t i = 0; i < t[0]->n; i++)
			*element(t[0], i) = p->step[s->of].found[i];
		return 0;
	default:
		return run_operation(s, t);
	}
}

static void keep_found(struct plan_step *s, const struct plan_tensor *t)
{
	s->n = t->n;
	s->found = malloc(t->n * sizeof *s->found);
	if (!s->found)
		abort();
	for (uint32_t i = 0; i < t->n; i++)
		s->found[i] = *element(t, i);
}

/* Such a copy is refused as it is fetched, whatever it would have read. */
static bool sizes_differ(const struct plan *p, const struct plan_step *s)
{
	const struct plan_tensor *t = p->tensor;

	return s->kind == PLAN_COPY && t[s->operand[1]].n != t[s->operand[0]].n &&
	       t[s->operand[1]].n != 1;
}

/*
 * The program finds this, and changes it, when the acquire is granted.  What comes behind the
 * acquire comes behind the release, too.
 */
static void use(struct plan_step *s, const struct plan_tensor *t)
{
	keep_found(s, t);
	for (uint32_t i = 0; s->number[0] == 1 && i < t->n; i++)
		*element(t, i) = plan_change(*element(t, i));
}

static void run_job(struct plan_maker *m, uint32_t step)
{
	struct plan *p = m->plan;
	struct plan_step *s = &p->step[step];
	const struct plan_buffer *b = poison(p, s);
	bool is_refused = sizes_differ(p, s);

	for (uint32_t i = 0; i < PLAN_OPERANDS; i++)
		if (s->operand[i] != PLAN_NONE)
			touch(m, p->tensor[s->operand[i]].buffer);
	s->cause = step;
	if (b && !is_refused) {
		s->result = -QUOIT_EPOISON;
		s->code = b->code;
		s->cause = b->cause;
	} else {
		s->result = s->code = is_refused ? -EINVAL : compute(p, s);
	}
	if ((s->kind == PLAN_READ || s->kind == PLAN_SEND) && !s->result)
		keep_found(s, &p->tensor[s->operand[0]]);
	if (s->kind == PLAN_ASK && !s->result)
		use(s, &p->tensor[s->operand[0]]);
	else if (s->kind != PLAN_ASK && s->operand[0] != PLAN_NONE && plan_writes(s, 0))
		mark_output(s, &p->tensor[s->operand[0]]);
}

void plan_run(struct plan_maker *m, uint32_t step)
{
	switch (m->plan->step[step].kind) {
	case PLAN_CREATE:
		create(m, step);
		break;
	case PLAN_VIEW:
		view(m, step);
		break;
	case PLAN_FREE:
		free_tensor(m, step);
		break;
	case PLAN_USE:
	case PLAN_RELEASE:
	case PLAN_RECORD:
	case PLAN_AWAIT:
		break;
	default:
		run_job(m, step);
	}
}
