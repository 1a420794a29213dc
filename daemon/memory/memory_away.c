/* SPDX-License-Identifier: MIT */
/* memory_away.c - find what a client has moved to another node, and bring it back */
#include "memory_away.h"

#include "host/affinity.h"
#include "host/log.h"
#include "reactor/reactor.h"

/* Of each session at a time: some 4,000 pages, a tenth of a microsecond each to be looked at. */
#define LOOK_BYTES (4 * MEMORY_PART_BYTES)

/* ---- on the reactor ---- */

/* Who has asked for pages has better things to wait for. */
static bool may_look(const struct session *s)
{
	return s->memory_node >= 0 && !s->away.refused && !s->requests && !s->stopped;
}

/* A round begins only after jobs: an arena that nobody uses may lie where it likes. */
static bool is_due(const struct session *s)
{
	return s->away.looked || (s->arena_bytes && s->jobs_fetched != s->away.jobs);
}

void memory_away_ask(struct session *s)
{
	uint64_t left = s->arena_bytes - s->away.looked;
	struct memory_message m = {.op = MEMORY_LOOK,
				   .session = s,
				   .offset = s->away.looked,
				   .bytes = left < LOOK_BYTES ? left : LOOK_BYTES};

	if (!may_look(s) || !is_due(s))
		return;
	if (!reactor_send_memory(s->reactor, &m))
		return;
	s->requests++;
	if (!s->away.looked)
		s->away.jobs = s->jobs_fetched;
}

/* All of the arena was looked at: that is what is there, until the next time. */
static void end_round(struct session *s)
{
	if (s->away.found && !s->away.bytes)
		log_session(s, "session %llu: %llu KiB of its arena are on other nodes than %d",
			    (unsigned long long)s->id, (unsigned long long)s->away.found >> 10,
			    s->memory_node);
	s->away.bytes = s->away.found;
	s->away.found = s->away.looked = 0;
}

void memory_away_answer(struct session *s, const struct memory_message *m)
{
	s->away.refused = m->result < 0; /* then it is each time */
	s->away.found += m->away;
	s->away.returned += m->returned;
	s->away.looked += m->bytes;
	if (s->away.looked >= s->arena_bytes)
		end_round(s);
}

/* ---- on the memory thread ---- */

static int count_away(const struct session *s, uint8_t *start, uint64_t bytes, uint64_t *ret)
{
	size_t present, here;
	int err = affinity_count_pages(start, bytes, (uint32_t)s->memory_node, &present, &here);

	*ret = err ? 0 : (present - here) * PAGE_BYTES;
	return err;
}

bool memory_away_part(struct memory_work *w)
{
	const struct session *s = w->m.session;
	uint64_t left = w->m.bytes - w->done;
	uint64_t n = left < MEMORY_PART_BYTES ? left : MEMORY_PART_BYTES, before, after;
	uint8_t *start = s->arena + w->m.offset + w->done;

	w->m.result = count_away(s, start, n, &before);
	after = before;
	/* Not by a wish: the client's own, of the same file, would have them stay. */
	if (before && !affinity_move_pages(start, n, (uint32_t)s->memory_node))
		w->m.result = count_away(s, start, n, &after);
	w->m.away += after;
	w->m.returned += before > after ? before - after : 0;
	w->done += n;
	return w->m.result < 0 || w->done == w->m.bytes;
}
