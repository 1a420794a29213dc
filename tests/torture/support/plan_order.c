/* SPDX-License-Identifier: MIT */
/*
 * plan_order.c - which step must come behind which of another ring
 *
 * quoitd orders jobs by the data, in the order in which it fetches them.  Jobs of one ring are
 * fetched one after the other; a job with an event is fetched behind the job of the event, and all
 * that follow on its ring are, too.  So for each ring we keep how far the others are known to have
 * been fetched.
 */
#include <stdlib.h>

#include "plan_private.h"

/* So many more entries of the smallest ring may be taken while it holds a tensor. */
#define RECORDS_MOST 4u

/* ---- what must come first ---- */

static bool is_of_handles(const struct plan_step *s)
{
	return s->kind == PLAN_FREE || s->kind == PLAN_VIEW;
}

/* Remember the later one of two steps, and 1, of a ring. */
static void later(uint32_t *need, uint32_t step)
{
	if (step + 1 > *need)
		*need = step + 1;
}

static void need_access(const struct plan_step *s, const struct plan_tensor *t, bool write,
			uint32_t need[PLAN_RINGS])
{
	const struct plan_buffer *b = t->buffer;
	int64_t lo, hi;

	plan_extent(t, &lo, &hi);
	for (uint32_t i = 0; i < b->accesses; i++) {
		const struct plan_access *a = &b->access[i];

		if (a->ring != s->ring && (write || a->write) && a->lo < hi && lo < a->hi)
			later(&need[a->ring], a->step);
	}
}

/* For each ring: behind which of its steps this one must come, and 1; 0: none. */
static void find_needs(const struct plan_maker *m, const struct plan_step *s,
		       uint32_t need[PLAN_RINGS])
{
	const struct plan *p = m->plan;

	for (uint32_t i = 0; i < PLAN_OPERANDS; i++) {
		const struct plan_tensor *t;

		if (s->operand[i] == PLAN_NONE || (s->kind == PLAN_VIEW && i == 0))
			continue;
		t = &p->tensor[s->operand[i]];
		if (t->made != PLAN_NONE && p->step[t->made].ring != s->ring)
			later(&need[p->step[t->made].ring], t->made);
		if (s->kind == PLAN_FREE)
			for (uint32_t r = 0; r < PLAN_RINGS; r++)
				if (t->last_use[r] != PLAN_NONE && r != s->ring)
					later(&need[r], t->last_use[r]);
		if (!is_of_handles(s))
			need_access(s, t, plan_writes(s, i), need);
	}
}

/* ---- events ---- */

static bool can_be_marked(const struct plan_step *s)
{
	return plan_is_job(s) || s->kind == PLAN_ASK;
}

/* A step of ring q with an event, at `need` or behind it.  PLAN_NONE: there can be none now. */
static uint32_t find_event(struct plan_maker *m, uint32_t q, uint32_t need)
{
	struct plan_step *at = &m->plan->step[need - 1], record = plan_step_of(q, PLAN_RECORD);

	if (can_be_marked(at) && plan_chance(m, 70)) {
		at->marked = at->named = true;
		return need - 1;
	}
	if (m->last_record[q] != PLAN_NONE && m->last_record[q] >= need)
		return m->last_record[q];
	if (m->hold[q].ask != PLAN_NONE && ++m->hold[q].records > RECORDS_MOST)
		return PLAN_NONE;
	return m->last_record[q] = plan_emit(m, &record);
}

/* What is known behind that event is known to the ring now. */
static void learn(struct plan_maker *m, uint32_t ring, uint32_t event)
{
	for (uint32_t q = 0; q < PLAN_RINGS; q++)
		if (m->known_at[event][q] > m->known[ring][q])
			m->known[ring][q] = m->known_at[event][q];
}

/* The first ring that the step needs to hear of; PLAN_RINGS: none. */
static uint32_t first_need(const struct plan_maker *m, const struct plan_step *s,
			   uint32_t *ret_need)
{
	uint32_t need[PLAN_RINGS] = {0}, q = 0;

	find_needs(m, s, need);
	while (q < PLAN_RINGS && need[q] <= m->known[s->ring][q])
		q++;
	*ret_need = q < PLAN_RINGS ? need[q] : 0;
	return q;
}

bool plan_order(struct plan_maker *m, struct plan_step *s)
{
	uint32_t q, need;

	while ((q = first_need(m, s, &need)) < PLAN_RINGS) {
		struct plan_step await = plan_step_of(s->ring, PLAN_AWAIT);
		uint32_t event;

		/* Its thread would wait for another one, which may wait for what it holds. */
		if (m->hold[s->ring].ask != PLAN_NONE)
			return false;
		event = find_event(m, q, need);
		if (event == PLAN_NONE)
			return false;
		if (plan_is_job(s) && s->after == PLAN_NONE && plan_chance(m, 50)) {
			s->after = event;
			learn(m, s->ring, event);
			continue;
		}
		await.after = event;
		(void)plan_emit(m, &await);
		learn(m, s->ring, event);
	}
	return true;
}

/* ---- noting ---- */

static void forget_hidden(struct plan_buffer *b, int64_t lo, int64_t hi)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < b->accesses; i++)
		if (b->access[i].lo < lo || b->access[i].hi > hi)
			b->access[kept++] = b->access[i];
	b->accesses = kept;
}

static void note_access(struct plan_buffer *b, uint32_t step, uint32_t ring, bool write, int64_t lo,
			int64_t hi)
{
	if (write)
		forget_hidden(b, lo, hi);
	if (b->accesses == b->room) {
		b->room = b->room ? 2 * b->room : 8;
		b->access = realloc(b->access, b->room * sizeof *b->access);
		if (!b->access)
			abort();
	}
	b->access[b->accesses++] = (struct plan_access){
		.step = step, .ring = (uint8_t)ring, .write = write, .lo = lo, .hi = hi};
}

void plan_note(struct plan_maker *m, uint32_t step)
{
	struct plan *p = m->plan;
	const struct plan_step *s = &p->step[step];

	m->known[s->ring][s->ring] = step + 1;
	for (uint32_t q = 0; q < PLAN_RINGS; q++)
		m->known_at[step][q] = m->known[s->ring][q];
	for (uint32_t i = 0; i < PLAN_OPERANDS; i++) {
		struct plan_tensor *t;
		int64_t lo, hi;

		if (s->operand[i] == PLAN_NONE)
			continue;
		t = &p->tensor[s->operand[i]];
		t->last_use[s->ring] = step;
		if (!t->buffer || is_of_handles(s) || s->kind == PLAN_CREATE ||
		    s->kind == PLAN_USE || s->kind == PLAN_RELEASE)
			continue;
		plan_extent(t, &lo, &hi);
		note_access(t->buffer, step, s->ring, plan_writes(s, i), lo, hi);
	}
}
