/* SPDX-License-Identifier: MIT */
/* summary_named.c - sum up waits for others at services, locks and their kin */
#include "summary_private.h"

/* Locks' own calls and their conditions' wait for different things, and so do senders and receivers. */
static bool is_same(const struct recording_named *a, const struct recording_named *b)
{
	return a->number == b->number && (!a->kind || a->function == b->function);
}

/* NULL: there are too many. */
static struct summary_named *named_at(struct summary *s, const struct recording_named *named)
{
	for (unsigned i = 0; i < s->named; i++)
		if (is_same(&s->named_wait[i].first, named))
			return &s->named_wait[i];
	if (s->named == SUMMARY_NAMED)
		return NULL;
	s->named_wait[s->named] = (struct summary_named){.first = *named};
	return &s->named_wait[s->named++];
}

void summary_take_named(struct summary *s, const struct recording_named *named)
{
	struct summary_named *n;

	if (!recording_may_wait(named))
		return;
	n = named_at(s, named);
	if (!n)
		return;
	n->times++;
	n->waited_ns += named->began - named->asked;
	n->stalled_ns += named->stalled_ns;
}
