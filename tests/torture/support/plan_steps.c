/* SPDX-License-Identifier: MIT */
/* plan_steps.c - make one random step that the plan so far allows */
#include <string.h>

#include "plan_private.h"

#define TRIES 16u

/* ---- choosing tensors ---- */

static uint32_t any_ring(struct plan_maker *m, uint32_t ring)
{
	const uint32_t *rings = m->plan->options.rings;

	if (plan_chance(m, 60))
		return ring;
	return ring < rings[0] ? plan_draw(m, rings[0]) : rings[0] + plan_draw(m, rings[1]);
}

static struct plan_tensor *tensor(struct plan_maker *m, uint32_t number)
{
	return &m->plan->tensor[number];
}

/* By the rule of plan.h. */
static bool spans_poison(const struct plan_tensor *t)
{
	const struct plan_buffer *b = t->buffer;
	int64_t lo, hi;

	plan_extent(t, &lo, &hi);
	return !b->poisoned || (b->lo == 0 && b->hi == b->n) || (lo == 0 && hi == b->n);
}

/* A tensor of the ring's session, for a job; PLAN_NONE: found none. */
static uint32_t any_tensor(struct plan_maker *m, uint32_t ring)
{
	for (uint32_t i = 0; i < TRIES; i++) {
		uint32_t of = any_ring(m, ring), t;

		if (!m->live_count[of])
			continue;
		t = m->live[of][plan_draw(m, m->live_count[of])];
		if (spans_poison(tensor(m, t)))
			return t;
	}
	return PLAN_NONE;
}

static bool overlap(const struct plan_tensor *a, const struct plan_tensor *b)
{
	int64_t lo, hi, b_lo, b_hi;

	plan_extent(a, &lo, &hi);
	plan_extent(b, &b_lo, &b_hi);
	return a->buffer == b->buffer && lo < b_hi && b_lo < hi;
}

static bool is_on_device(const struct plan_tensor *t)
{
	return t->buffer->place == PLAN_DEVICE;
}

/* How a job may use a tensor. */
struct wish {
	uint32_t n;     /* its elements; 0: any number */
	bool or_one;    /* or a single one, for all */
	bool in_place;  /* it may be the output itself */
	bool elsewhere; /* it may be on a device, and the output on the host, or the reverse */
};

static bool suits(const struct plan_tensor *t, const struct plan_tensor *out, struct wish w)
{
	if (w.n && t->n != w.n && !(w.or_one && t->n == 1))
		return false;
	if (overlap(t, out) && !(w.in_place && t == out))
		return false;
	if (is_on_device(t) == is_on_device(out))
		return true;
	return w.elsewhere && t->n == out->n && t->stride == 1 && out->stride == 1 &&
	       t->buffer->place != PLAN_NAMED && out->buffer->place != PLAN_NAMED;
}

static uint32_t find(struct plan_maker *m, uint32_t ring, uint32_t out, struct wish w)
{
	for (uint32_t i = 0; i < TRIES; i++) {
		uint32_t t = any_tensor(m, ring);

		if (t != PLAN_NONE && suits(tensor(m, t), tensor(m, out), w))
			return t;
	}
	return PLAN_NONE;
}

/* ---- steps ---- */

struct plan_step plan_step_of(uint32_t ring, enum plan_kind kind)
{
	return (struct plan_step){.ring = (uint8_t)ring,
				  .kind = (uint8_t)kind,
				  .priority = QUOIT_PRIO_NORMAL,
				  .after = PLAN_NONE,
				  .of = PLAN_NONE,
				  .operand = {PLAN_NONE, PLAN_NONE, PLAN_NONE}};
}

/* Append the step behind all that it must follow.  PLAN_NONE: that cannot be now. */
static uint32_t emit(struct plan_maker *m, struct plan_step s)
{
	if (plan_is_job(&s)) {
		s.priority = (uint8_t)plan_draw(m, QUOIT_PRIO_NR);
		s.named = plan_chance(m, 70);
	}
	return plan_order(m, &s) ? plan_emit(m, &s) : PLAN_NONE;
}

static void make_job(struct plan_maker *m, uint32_t ring, enum plan_kind kind, uint32_t out,
		     uint32_t x, uint32_t y)
{
	struct plan_step s = plan_step_of(ring, kind);

	s.operand[0] = out;
	s.operand[1] = x;
	s.operand[2] = y;
	s.number[0] = (int32_t)plan_draw(m, 1u << 30);
	(void)emit(m, s);
}

static void make_call(struct plan_maker *m, uint32_t ring, uint32_t out)
{
	const struct wish same = {.n = tensor(m, out)->n}, any = {0};
	struct plan_step s = plan_step_of(ring, PLAN_CALL);
	uint32_t kind = plan_draw(m, 100), x = find(m, ring, out, same), y = PLAN_NONE;

	s.operand[0] = out;
	s.number[0] = plan_draw(m, 1000);
	s.number[1] = plan_draw(m, 10);
	s.function = PLAN_BUMP;
	if (kind < 25 && x != PLAN_NONE) {
		s.function = PLAN_MIX;
		y = plan_chance(m, 50) ? find(m, ring, out, same) : PLAN_NONE;
	} else if (kind < 55 && x != PLAN_NONE) {
		s.function = PLAN_CUT;
	} else if (kind < 65 && tensor(m, out)->n == 1) {
		s.function = PLAN_TOTAL;
		x = find(m, ring, out, any);
	} else if (kind >= 65 && kind < 72) {
		s.function = PLAN_COUNT;
	} else if (kind >= 72 && kind < 76) {
		s.function = PLAN_FAIL;
	} else if (kind >= 76 && kind < 80) {
		s.function = PLAN_FAIL_PIECE;
		s.number[1] = 2 + plan_draw(m, 6);
		s.number[0] = plan_draw(m, (uint32_t)s.number[1]);
	} else if (kind >= 80 && kind < 88) {
		s.function = PLAN_NEST;
	}
	if (s.function == PLAN_MIX || s.function == PLAN_CUT || s.function == PLAN_TOTAL) {
		if (x == PLAN_NONE || tensor(m, x)->buffer->place != PLAN_SHARED)
			return;
		s.operand[1] = x;
	}
	if (y != PLAN_NONE && tensor(m, y)->buffer->place == PLAN_SHARED)
		s.operand[2] = y;
	(void)emit(m, s);
}

static void make_copy(struct plan_maker *m, uint32_t ring, uint32_t out)
{
	const struct wish good = {
		.n = tensor(m, out)->n, .or_one = true, .elsewhere = true, .in_place = true};
	const struct wish any = {0};
	uint32_t x = find(m, ring, out, plan_chance(m, 92) ? good : any);

	if (x != PLAN_NONE)
		make_job(m, ring, PLAN_COPY, out, x, PLAN_NONE);
}

static void make_arithmetic(struct plan_maker *m, uint32_t ring, uint32_t out)
{
	const struct wish w = {.n = tensor(m, out)->n, .or_one = true, .in_place = true};
	uint32_t x = find(m, ring, out, w);
	uint32_t y = plan_chance(m, 60) ? find(m, ring, out, w) : PLAN_NONE;

	if (x != PLAN_NONE)
		make_job(m, ring, PLAN_ADD + plan_draw(m, 3), out, x, y);
}

static void make_sum(struct plan_maker *m, uint32_t ring, uint32_t out)
{
	const struct wish any = {0};
	uint32_t x = find(m, ring, out, any);

	if (tensor(m, out)->n == 1 && x != PLAN_NONE)
		make_job(m, ring, PLAN_SUM, out, x, PLAN_NONE);
}

/* A job that does not make its ring's thread wait. */
static void make_any_job(struct plan_maker *m, uint32_t ring)
{
	uint32_t out = any_tensor(m, ring), kind = plan_draw(m, 100);

	if (out == PLAN_NONE)
		return;
	if (tensor(m, out)->buffer->place == PLAN_SHARED && plan_chance(m, 60))
		make_call(m, ring, out);
	else if (kind < 20)
		make_job(m, ring, PLAN_FILL, out, PLAN_NONE, PLAN_NONE);
	else if (kind < 45)
		make_copy(m, ring, out);
	else if (kind < 85)
		make_arithmetic(m, ring, out);
	else if (kind < 95)
		make_sum(m, ring, out);
	else
		make_job(m, ring, PLAN_NOP, out, PLAN_NONE, PLAN_NONE);
}

/* ---- tensors ---- */

/* Its maker is the first that touches it. */
static void touch(struct plan_maker *m, uint32_t ring, uint32_t t)
{
	struct plan_step bump = plan_step_of(ring, PLAN_CALL);

	bump.operand[0] = t;
	if (tensor(m, t)->buffer->place == PLAN_SHARED && plan_chance(m, 50))
		(void)emit(m, bump);
	else if (plan_chance(m, 50))
		make_job(m, ring, PLAN_FILL, t, PLAN_NONE, PLAN_NONE);
	else
		make_job(m, ring, PLAN_ADD, t, t, PLAN_NONE);
}

static void make_create(struct plan_maker *m, uint32_t ring)
{
	static const uint8_t places[] = {PLAN_HOST,   PLAN_PINNED, PLAN_SHARED,
					 PLAN_SHARED, PLAN_SHARED, PLAN_SHARED,
					 PLAN_SHARED, PLAN_NAMED,  PLAN_DEVICE};
	struct plan_step s = plan_step_of(ring, PLAN_CREATE);
	uint32_t at;

	if (m->live_count[ring] == PLAN_LIVE)
		return;
	s.number[0] = places[plan_draw(m, sizeof places)];
	if (s.number[0] == PLAN_DEVICE && !m->plan->options.device)
		s.number[0] = PLAN_HOST;
	if (s.number[0] == PLAN_NAMED && m->named[ring]++ >= PLAN_NAMES)
		s.number[0] = PLAN_HOST;
	s.n = m->size[plan_draw(m, PLAN_SIZES)];
	at = plan_emit(m, &s);
	touch(m, ring, m->plan->step[at].operand[0]);
}

/* A half, every other element, or all in reverse; of a tensor that the ring has made. */
static void make_view(struct plan_maker *m, uint32_t ring)
{
	struct plan_step s = plan_step_of(ring, PLAN_VIEW);
	const struct plan_tensor *t;

	if (!m->live_count[ring] || m->live_count[ring] == PLAN_LIVE)
		return;
	s.operand[1] = m->live[ring][plan_draw(m, m->live_count[ring])];
	t = tensor(m, s.operand[1]);
	if (t->n < 2 || t->stride != 1)
		return;
	s.n = t->n / 2;
	s.number[1] = 1;
	switch (plan_draw(m, 4)) {
	case 0:
		break;
	case 1:
		s.number[0] = t->n - t->n / 2;
		break;
	case 2:
		s.number[1] = 2;
		break;
	default:
		s.n = t->n;
		s.number[0] = t->n - 1;
		s.number[1] = -1;
	}
	(void)plan_emit(m, &s);
}

/* What is freed while it is held gives its bytes back later than in a serial run. */
static bool is_held(const struct plan_maker *m, uint32_t t)
{
	for (uint32_t r = 0; r < m->plan->rings; r++)
		if (m->hold[r].ask != PLAN_NONE && m->plan->step[m->hold[r].ask].operand[0] == t)
			return true;
	return false;
}

static void make_free(struct plan_maker *m, uint32_t ring)
{
	struct plan_step s = plan_step_of(ring, PLAN_FREE);

	if (!m->live_count[ring])
		return;
	s.operand[0] = m->live[ring][plan_draw(m, m->live_count[ring])];
	if (!is_held(m, s.operand[0]))
		(void)emit(m, s);
}

/* ---- the program ---- */

static bool can_be_acquired(const struct plan_tensor *t)
{
	return t->buffer->place == PLAN_NAMED || t->buffer->place == PLAN_SHARED;
}

static void make_ask(struct plan_maker *m, uint32_t ring)
{
	struct plan_step s = plan_step_of(ring, PLAN_ASK);
	uint32_t at;

	s.operand[0] = any_tensor(m, ring);
	if (s.operand[0] == PLAN_NONE || !can_be_acquired(tensor(m, s.operand[0])))
		return;
	s.named = true;
	s.number[0] = plan_draw(m, 2);
	at = emit(m, s);
	if (at == PLAN_NONE)
		return;
	m->hold[ring] = (struct plan_hold){.ask = at, .left = plan_draw(m, 3)};
}

/* The next part of what the ring has begun. */
static void make_next_part(struct plan_maker *m, uint32_t ring)
{
	struct plan_hold *h = &m->hold[ring];
	struct plan_step s = plan_step_of(ring, h->used ? PLAN_RELEASE : PLAN_USE);
	const struct plan_step *ask = &m->plan->step[h->ask];
	bool is_failed = ask->result < 0;

	s.of = h->ask;
	s.operand[0] = ask->operand[0];
	(void)plan_emit(m, &s);
	h->left = plan_draw(m, 3);
	if (h->used || is_failed)
		h->ask = PLAN_NONE;
	h->used = true;
}

static uint32_t make_read(struct plan_maker *m, uint32_t ring, uint32_t t)
{
	struct plan_step s = plan_step_of(ring, PLAN_READ);

	s.operand[0] = t;
	if (t == PLAN_NONE || (is_on_device(tensor(m, t)) && tensor(m, t)->stride != 1))
		return PLAN_NONE;
	return emit(m, s);
}

/* quoit_write has a job for each piece, and none of them spans what is poisoned. */
static bool can_be_written(const struct plan_tensor *t, uint32_t n)
{
	return t->n == n && !t->buffer->poisoned && (!is_on_device(t) || t->stride == 1);
}

/* Carry a tensor to another session, if that has one of this size. */
static void make_carry(struct plan_maker *m, uint32_t ring)
{
	const uint32_t *rings = m->plan->options.rings;
	uint32_t to = ring < rings[0] ? rings[0] + plan_draw(m, rings[1]) : plan_draw(m, rings[0]);
	struct plan_step s = plan_step_of(to, PLAN_WRITE);

	if (m->hold[to].ask != PLAN_NONE)
		return;
	s.of = make_read(m, ring, any_tensor(m, ring));
	if (s.of == PLAN_NONE || m->plan->step[s.of].result)
		return;
	for (uint32_t i = 0; i < TRIES; i++) {
		s.operand[0] = any_tensor(m, to);
		if (s.operand[0] != PLAN_NONE &&
		    can_be_written(tensor(m, s.operand[0]), m->plan->step[s.of].n)) {
			(void)emit(m, s);
			return;
		}
	}
}

/* ---- messages ---- */

/* What is poisoned is not sent. */
static void make_send(struct plan_maker *m, uint32_t ring)
{
	struct plan_step s = plan_step_of(ring, PLAN_SEND);
	struct plan_messages *sent = &m->sent[ring];
	uint32_t at;

	s.operand[0] = any_tensor(m, ring);
	if (sent->count == PLAN_MESSAGES || s.operand[0] == PLAN_NONE ||
	    is_on_device(tensor(m, s.operand[0])))
		return;
	at = emit(m, s);
	if (at != PLAN_NONE && !m->plan->step[at].result)
		sent->step[sent->count++] = at;
}

/* Receive the oldest message of another ring, into a tensor as long. */
static void make_receive(struct plan_maker *m, uint32_t ring)
{
	struct plan_step s = plan_step_of(ring, PLAN_RECEIVE);
	const uint32_t from = plan_draw(m, m->plan->rings);
	struct plan_messages *sent = &m->sent[from];

	if (plan_receiver(m->plan, from) != ring || !sent->count)
		return;
	s.of = sent->step[0];
	for (uint32_t i = 0; i < TRIES; i++) {
		const struct plan_tensor *t;

		s.operand[0] = any_tensor(m, ring);
		if (s.operand[0] == PLAN_NONE)
			continue;
		t = tensor(m, s.operand[0]);
		if (t->n != m->plan->step[s.of].n || is_on_device(t))
			continue;
		if (emit(m, s) != PLAN_NONE)
			memmove(sent->step, sent->step + 1, --sent->count * sizeof *sent->step);
		return;
	}
}

static void make_message(struct plan_maker *m, uint32_t ring)
{
	if (plan_chance(m, 40))
		make_send(m, ring);
	else
		make_receive(m, ring);
}

/* ---- any step ---- */

void plan_make_step(struct plan_maker *m, uint32_t ring)
{
	struct plan_hold *h = &m->hold[ring];
	uint32_t kind = plan_draw(m, 100);

	if (h->ask != PLAN_NONE && !h->left--) {
		make_next_part(m, ring);
		return;
	}
	if (kind < 14)
		make_create(m, ring);
	else if (kind < 18)
		make_view(m, ring);
	else if (kind < 29)
		make_free(m, ring);
	else if (kind < 42)
		make_message(m, ring);
	else if (kind < 80 || h->ask != PLAN_NONE)
		make_any_job(m, ring);
	else if (kind < 92 && m->plan->options.acquires)
		make_ask(m, ring);
	else if (kind < 96)
		(void)make_read(m, ring, any_tensor(m, ring));
	else
		make_carry(m, ring);
}

void plan_make_release(struct plan_maker *m, uint32_t ring)
{
	while (m->hold[ring].ask != PLAN_NONE)
		make_next_part(m, ring);
}

void plan_make_end(struct plan_maker *m, uint32_t ring)
{
	for (uint32_t i = 0; i < m->live_count[ring]; i++)
		if (spans_poison(tensor(m, m->live[ring][i])))
			(void)make_read(m, ring, m->live[ring][i]);
	while (m->live_count[ring]) {
		struct plan_step s = plan_step_of(ring, PLAN_FREE);

		s.operand[0] = m->live[ring][0];
		(void)emit(m, s);
	}
}
