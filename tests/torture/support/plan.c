/* SPDX-License-Identifier: MIT */
/* plan.c - make a random plan, from the first step to the last */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan_private.h"

/* xorshift64*: small, and the same everywhere */
uint32_t plan_draw(struct plan_maker *m, uint32_t below)
{
	m->random ^= m->random >> 12;
	m->random ^= m->random << 25;
	m->random ^= m->random >> 27;
	return (uint32_t)((m->random * UINT64_C(0x2545f4914f6cdd1d)) >> 33) % below;
}

bool plan_chance(struct plan_maker *m, uint32_t percent)
{
	return plan_draw(m, 100) < percent;
}

static void *more(void *old, uint32_t count, size_t bytes)
{
	void *at = realloc(old, count * bytes);

	if (!at)
		abort();
	return at;
}

uint32_t plan_emit(struct plan_maker *m, const struct plan_step *step)
{
	struct plan *p = m->plan;
	const uint32_t at = p->steps;

	if (at == m->room) {
		m->room = m->room ? 2 * m->room : 256;
		p->step = more(p->step, m->room, sizeof *p->step);
		m->known_at = more(m->known_at, m->room, sizeof *m->known_at);
	}
	if (p->tensors == m->tensor_room) { /* a step makes at most one */
		m->tensor_room = m->tensor_room ? 2 * m->tensor_room : 64;
		p->tensor = more(p->tensor, m->tensor_room, sizeof *p->tensor);
	}
	p->step[at] = *step;
	p->steps++;
	plan_run(m, at);
	plan_note(m, at);
	return at;
}

uint32_t plan_session(const struct plan *p, uint32_t ring)
{
	return ring >= p->options.rings[0];
}

uint32_t plan_receiver(const struct plan *p, uint32_t ring)
{
	return plan_session(p, ring) ? 0 : p->options.rings[0];
}

/* A few sizes, so that tensors match: one element, a part of a page, some pages, and many. */
static void choose_sizes(struct plan_maker *m)
{
	static const uint32_t most[PLAN_SIZES] = {1, 600, 600, 4096, 16384, 70000};

	for (uint32_t i = 0; i < PLAN_SIZES; i++)
		m->size[i] = i ? 2 + plan_draw(m, most[i] - 1) : 1;
}

void plan_make(struct plan *p, const struct plan_options *options)
{
	struct plan_maker m = {.plan = p};

	*p = (struct plan){.options = *options, .rings = options->rings[0] + options->rings[1]};
	m.random = options->seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
	choose_sizes(&m);
	for (uint32_t r = 0; r < PLAN_RINGS; r++)
		m.hold[r].ask = m.last_record[r] = PLAN_NONE;
	while (p->steps < options->steps)
		plan_make_step(&m, plan_draw(&m, p->rings));
	for (uint32_t r = 0; r < p->rings; r++)
		plan_make_release(&m, r);
	for (uint32_t r = 0; r < p->rings; r++)
		plan_make_end(&m, r);
	for (uint32_t r = 0; r < p->rings; r++)
		for (uint32_t k = 0; k < PLAN_PLACES; k++)
			p->peak[plan_session(p, r)][k] += m.peak[r][k];
	free(m.known_at);
}

void plan_free(struct plan *p)
{
	for (uint32_t i = 0; i < p->steps; i++)
		free(p->step[i].found);
	free(p->step);
	free(p->tensor);
}

const char *plan_say(const struct plan *p, uint32_t step, char *text, uint32_t size)
{
	static const char *const kinds[PLAN_KINDS] = {
		"create", "view",    "free", "fill",  "copy",    "add",  "mul",
		"max",    "sum",     "nop",  "send",  "receive", "call", "ask",
		"use",    "release", "read", "write", "record",  "await"};
	static const char *const functions[PLAN_FUNCTIONS] = {
		"bump", "mix", "cut", "total", "count", "fail", "fail_piece", "nest"};
	const struct plan_step *s = &p->step[step];

	snprintf(text, size,
		 "%" PRIu32 " ring %u %s %s of %d %d %d, numbers %" PRId64 " %" PRId64
		 ", after %d -> %d",
		 step, s->ring, kinds[s->kind], s->kind == PLAN_CALL ? functions[s->function] : "",
		 (int)s->operand[0], (int)s->operand[1], (int)s->operand[2], s->number[0],
		 s->number[1], (int)s->after, s->result);
	return text;
}
