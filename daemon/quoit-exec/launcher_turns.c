/* SPDX-License-Identifier: MIT */
/*
 * launcher_turns.c - flights that wait for a place in a stream.
 *
 * A free place goes to the user that has used least of the streams, over its share
 * (launcher_claims.c), and among that user's sessions to the one that has waited longest.  So a job
 * whose turn has come is only behind the jobs in its stream.  Within a session flights go in the
 * order in which they came, urgent ones first; a flight that cannot go yet does not keep back
 * others.
 */
#include "launcher_turns.h"

#include <errno.h>

#include "launcher_private.h"

/* ---- the turns: users' sessions that have flights held ---- */

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

static void append_claim(struct launcher *l, uint32_t user)
{
	l->claim[user].next = NOBODY;
	if (l->turns.head == NOBODY)
		l->turns.head = user;
	else
		l->claim[l->turns.tail].next = user;
	l->turns.tail = user;
	l->claim[user].waits = true;
}

void turns_open(struct launcher *l)
{
	l->turns.head = l->cancelled.head = NOBODY;
	for (uint32_t i = 0; i < QUOIT_EXEC_USERS; i++)
		l->claim[i].turns.head = l->claim[i].stuck.head = l->claim[i].progressed.head =
			NOBODY;
	for (uint32_t i = 0; i < l->channels->count * QUOIT_EXEC_SLOTS; i++)
		l->holding[i].held.head = l->holding[i].passed.head = NOBODY;
}

/* Insert it behind the other urgent flights, before the rest. */
static void insert_urgent(struct launcher *l, struct queue *q, uint32_t index)
{
	uint32_t *link = &q->head;

	while (*link != NOBODY && l->flight[*link].q.urgent)
		link = &l->flight[*link].next;
	if (*link == NOBODY) {
		queue_append(l, q, index);
		return;
	}
	l->flight[index].next = *link;
	*link = index;
}

void turns_hold(struct launcher *l, uint32_t index)
{
	uint32_t holding = flight_holding(l, &l->flight[index]);
	struct holding *h = &l->holding[holding];

	if (l->flight[index].q.urgent)
		insert_urgent(l, &h->held, index);
	else
		queue_append(l, &h->held, index);
	if (!h->has_turn)
		append_turn(l, &l->claim[h->user].turns, holding);
	h->has_turn = true;
	if (!l->claim[h->user].waits)
		append_claim(l, h->user);
}

/* ---- a pass ---- */

/* Start the first flight that can go, of those that were not looked at yet in this pass. */
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

/* All flights of the session were looked at; false: none is left. */
static bool put_back(struct holding *h)
{
	h->held = h->passed;
	h->passed.head = NOBODY;
	h->has_turn = h->held.head != NOBODY;
	return h->has_turn;
}

/* The user that has used least, of those that may still start a flight; NULL: there is none. */
static struct claim *choose(struct launcher *l)
{
	struct claim *best = NULL;
	int64_t least = 0, lead;

	for (uint32_t i = l->turns.head; i != NOBODY; i = l->claim[i].next) {
		if (l->claim[i].turns.head == NOBODY)
			continue;
		lead = ledger_lead(&l->claim[i].page, &l->clock);
		if (!best || lead < least) {
			best = &l->claim[i];
			least = lead;
		}
	}
	return best;
}

static bool give_turn(struct launcher *l, struct claim *c)
{
	uint32_t holding = pop_turn(l, &c->turns);
	struct holding *h = &l->holding[holding];

	if (let_one_go(l, h)) {
		h->progressed = true;
		append_turn(l, &c->turns, holding);
		return true;
	}
	if (put_back(h))
		append_turn(l, h->progressed ? &c->progressed : &c->stuck, holding);
	h->progressed = false;
	return false;
}

/* Sessions that could start no flight come first in the next pass. */
static void end_pass(struct launcher *l)
{
	struct queue all = l->turns;

	l->turns.head = NOBODY;
	for (uint32_t i = all.head, next; i != NOBODY; i = next) {
		struct claim *c = &l->claim[i];

		next = c->next;
		c->turns = c->stuck;
		c->stuck.head = NOBODY;
		while (c->progressed.head != NOBODY)
			append_turn(l, &c->turns, pop_turn(l, &c->progressed));
		c->waits = false;
		if (c->turns.head != NOBODY)
			append_claim(l, i);
	}
}

bool turns_advance(struct launcher *l)
{
	struct claim *c;
	bool any = false;

	while ((c = choose(l)) != NULL)
		any |= give_turn(l, c);
	end_pass(l);
	return any;
}

/* ---- dead sessions ---- */

/* A copy through the staging buffer ends with the parts that are in the stream. */
static void cancel_staged(struct launcher *l, const struct stage *g, uint32_t holding)
{
	for (uint32_t i = g->queue.head; i != NOBODY; i = l->flight[i].next)
		if (flight_holding(l, &l->flight[i]) == holding)
			l->flight[i].res = -ECANCELED;
}

/* The same for a flight that is not yet completely in its stream. */
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

/* Goes in the order in which they came: a flight that one of them names is before it. */
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
