/* SPDX-License-Identifier: MIT */
/* lease.c - a session asks for a larger lease or larger tables, gets them, and gives back */
#include "lease.h"

#include "base/tsc.h"
#include "memory_private.h"
#include "session/owner.h"

/* After a refusal, requests of as many bytes or more are refused here for so long. */
#define REFUSED_NS 1000000u

/* After a refusal, larger tables are refused here for so long. */
#define NO_TABLES_NS 10000000u

/* After a refusal, the session asks only for what it cannot do without, for so long. */
#define HUSH_NS 100000000u

/* Above `soft` a lease grows by this part of itself, or by what is lacking if that is more. */
#define STEP_PART 4

/* A lease is trimmed after so many trims in a row that found it too large. */
#define CALM_TRIMS 3

static uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool was_refused(const struct session *s, uint64_t within_ns)
{
	return s->memory.refused_at && tsc_now() - s->memory.refused_at < tsc_from_ns(within_ns);
}

static void send(struct session *s, const struct mail *m)
{
	mailbox_send(s->reactor->outbox, m);
}

/* How many bytes to ask for, at least `least`. */
static uint64_t step(const struct session_memory *m, uint64_t least)
{
	uint64_t top = m->lease < m->soft ? m->soft : m->most;
	uint64_t step = m->lease < m->soft ? m->lease : whole_pages(m->lease / STEP_PART);

	step = lesser(step, top - m->lease);
	return step > least ? step : least;
}

bool lease_ask(struct session *s, uint64_t lack, bool last)
{
	struct session_memory *m = &s->memory;
	uint64_t least;

	if (lack > m->most - m->lease) /* before rounding: it may be any number */
		return false;
	least = whole_pages(lack);
	if (m->asks)
		return true;
	if (!last &&
	    (least > m->most - m->lease || m->lease + least > m->soft || was_refused(s, HUSH_NS)))
		return false;
	if (least > m->most - m->lease || (least >= m->refused && was_refused(s, REFUSED_NS)))
		return false;
	m->asks = true;
	send(s, &(struct mail){.type = MAIL_LEASE,
			       .session = s,
			       .a = LEASE_MORE,
			       .least = least,
			       .bytes = step(m, least)});
	return true;
}

bool lease_ask_tables(struct session *s)
{
	struct session_memory *m = &s->memory;
	bool others = s->open.now || s->drops; /* which free entries when they end */

	if (m->asks)
		return true;
	if (s->table_parts >= TABLE_PARTS || m->no_tables ||
	    (m->no_tables_at && tsc_now() - m->no_tables_at < tsc_from_ns(NO_TABLES_NS))) {
		m->no_tables = false; /* the next call asks again */
		return others;
	}
	m->asks = true;
	send(s,
	     &(struct mail){
		     .type = MAIL_LEASE, .session = s, .a = LEASE_TABLES, .b = 2 * s->table_parts});
	return true;
}

static void refused(struct session *s, uint64_t bytes)
{
	s->memory.refused = bytes;
	s->memory.refused_at = tsc_now();
}

void lease_answer(struct session *s, const struct mail *m)
{
	s->memory.asks = false;
	if (m->a == LEASE_TABLES) {
		s->memory.no_tables = m->result < 0;
		if (m->result < 0)
			s->memory.no_tables_at = tsc_now();
		else
			tables_grow(s, m->b);
		return;
	}
	if (m->result < 0) {
		refused(s, lesser(m->least, m->bytes + 1)); /* m->bytes are left */
		return;
	}
	s->memory.lease += m->bytes;
	region_grow(&s->region, s->memory.lease - s->memory.arena_more);
}

void lease_arena(struct session *s, uint64_t bytes)
{
	struct session_memory *m = &s->memory;
	uint64_t more = bytes - s->arena_bytes;

	s->arena_bytes = bytes;
	m->arena_more += more;
	m->lease += more;
	m->promise += more;
	m->soft += more;
	m->most += more;
	m->fixed += more;
	m->used += more;
	m->window_peak += more;
	m->peak += more;
}

void lease_trim(struct session *s, uint64_t peak)
{
	struct session_memory *m = &s->memory;
	uint64_t keep = whole_pages(2 * peak), bytes;

	keep = keep > m->promise ? keep : m->promise;
	if (m->asks || keep > m->lease - m->lease / 4) {
		m->calm = 0;
		return;
	}
	m->calm += m->calm < CALM_TRIMS;
	if (m->calm < CALM_TRIMS || m->used + s->region.cached_bytes + m->punching > keep)
		return;
	bytes = m->lease - keep;
	m->lease = keep;
	m->calm = 0;
	send(s, &(struct mail){.type = MAIL_LEASE, .session = s, .a = LEASE_LESS, .bytes = bytes});
}
