/* SPDX-License-Identifier: MIT */
/*
 * launcher_turns.c - flights that wait for a place in a stream
 *
 * A place that gets free goes to the session that has waited for one the longest, whatever the
 * others have held: so a job whose turn has come is behind those of its stream, and nobody else.
 * Within a session they go in the order in which they came, but one that cannot go yet keeps no
 * other.
 */
#include "launcher_private.h"

#include <errno.h>

/* ---- the turns: sessions that have flights held ---- */

static void append_turn(struct launcher *l, struct queue *q, uint32_t holding)
{
	l->holding[holding].next = NOBODY;
	if (q->head == NOBODY)
		q->head = holding;
	else
		l->holding[q->tail].next = holding;
	q->tail = holding;
}

static uint32_t pop_turn(struct launcher *l, struct queue *q)
{
	uint32_t holding = q->head;

	q->head = l->holding[holding].next;
	return holding;
}

void turns_open(struct launcher *l)
{
	l->turns.head = l->cancelled.head = NOBODY;
	for (uint32_t i = 0; i < l->channels->count * QUOIT_EXEC_SLOTS; i++)
		l->holding[i].held.head = l->holding[i].passed.head = NOBODY;
}

void turns_hold(struct launcher *l, uint32_t index)
{
	uint32_t holding = flight_holding(l, &l->flight[index]);
	struct holding *h = &l->holding[holding];

	queue_append(l, &h->held, index);
	if (!h->has_turn)
		append_turn(l, &l->turns, holding);
	h->has_turn = true;
}

/* ---- a pass ---- */

/* The first of its flights that can go does, of those that were not looked at yet. */
static bool let_one_go(struct launcher *l, struct holding *h)
{
	while (h->held.head != NOBODY) {
		uint32_t index = queue_pop(l, &h->held);

		if (flight_start(l, index))
			return true;
		queue_append(l, &h->passed, index);
	}
	return false;
}

/* All of its flights were looked at; false: none is left. */
static bool put_back(struct holding *h)
{
	h->held = h->passed;
	h->passed.head = NOBODY;
	h->has_turn = h->held.head != NOBODY;
	return h->has_turn;
}

/* Whoever could send none is first the next time. */
bool turns_advance(struct launcher *l)
{
	struct queue round = l->turns, went = {.head = NOBODY};
	bool any = false;

	l->turns.head = NOBODY;
	while (round.head != NOBODY) {
		uint32_t holding = pop_turn(l, &round);
		struct holding *h = &l->holding[holding];

		if (let_one_go(l, h)) {
			h->went = any = true;
			append_turn(l, &round, holding);
		} else {
			if (put_back(h))
				append_turn(l, h->went ? &went : &l->turns, holding);
			h->went = false;
		}
	}
	while (went.head != NOBODY)
		append_turn(l, &l->turns, pop_turn(l, &went));
	return any;
}

/* ---- dead sessions ---- */

/* Of a copy through the staging buffer, what is in the stream is the end. */
static void cancel_staged(struct launcher *l, const struct stage *g, uint32_t holding)
{
	for (uint32_t i = g->queue.head; i != NOBODY; i = l->flight[i].next)
		if (flight_holding(l, &l->flight[i]) == holding)
			l->flight[i].res = -ECANCELED;
}

/* The same of one that is not all in its stream yet. */
static void cancel_issuing(struct launcher *l, const struct stream *s, uint32_t holding)
{
	struct flight *f = s->issuing == NOBODY ? NULL : &l->flight[s->issuing];

	if (!f || flight_holding(l, f) != holding || f->step != STEP_PUT)
		return;
	flight_fail(f, -ECANCELED);
	f->step = STEP_CLEAN;
}

void turns_cancel(struct launcher *l, uint32_t holding)
{
	struct queue *held = &l->holding[holding].held;

	while (held->head != NOBODY) {
		uint32_t index = queue_pop(l, held);

		l->flight[index].res = -ECANCELED;
		queue_append(l, &l->cancelled, index);
	}
	for (uint32_t way = STREAM_IN; way <= STREAM_OUT; way++) {
		cancel_staged(l, &l->stage[way], holding);
		cancel_issuing(l, &l->stream[way], holding);
	}
}

/* In the order in which they came: whom one of them names is before it. */
bool turns_answer(struct launcher *l, int *ret_err)
{
	struct queue left = {.head = NOBODY};
	bool any = false;

	while (l->cancelled.head != NOBODY && !*ret_err) {
		uint32_t index = queue_pop(l, &l->cancelled);

		if (flight_waits(l, &l->flight[index])) {
			queue_append(l, &left, index);
			continue;
		}
		*ret_err = launcher_answer(l, index);
		any = true;
	}
	l->cancelled = left;
	return any;
}
