/* SPDX-License-Identifier: MIT */
/* recorder_named.c - write the names of services, locks and their kin in a recording's records */
#include <stdlib.h>
#include <string.h>

#include "read/latency.h"
#include "recorder_private.h"

#define NAMES_NS      20000000u
#define NAMES_MOST_NS 1000000000u

static unsigned used(const struct recorder_things *t)
{
	return t->count < RECORDER_THINGS ? t->count : RECORDER_THINGS;
}

/* Its place; used(t): it was not seen yet. */
static unsigned find(const struct recorder_things *t, uint64_t number)
{
	unsigned i = 0;

	while (i < used(t) && t->number[i] != number)
		i++;
	return i;
}

void recorder_want_name(struct recorder_tail *tail, const struct quoit_trace_record *record)
{
	struct recorder_things *t = &tail->things;
	const uint64_t number = record->named.number;
	unsigned i;

	if (!number || find(t, number) < used(t))
		return;
	i = t->count % RECORDER_THINGS;
	t->lacking -= t->count >= RECORDER_THINGS && !t->known[i];
	t->number[i] = number;
	t->known[i] = false;
	t->count++;
	t->lacking++;
	t->next_ns = 0;
}

/* Write the names that quoitd has told by now. */
static void put_names(struct recorder *r, struct recorder_tail *tail, const struct latency *l)
{
	struct trace_name new[QUOIT_MAX_SERVICES];
	struct recorder_things *t = &tail->things;
	unsigned count = 0;

	for (unsigned k = 0; k < l->named.count; k++) {
		const struct named_wait *w = &l->named.wait[k];
		unsigned i = find(t, w->number);

		if (i == used(t) || t->known[i])
			continue;
		t->known[i] = true;
		t->lacking--;
		new[count] =
			(struct trace_name){.number = w->number, .uid = w->uid, .kind = w->kind};
		memcpy(new[count++].name, w->name, sizeof new->name);
	}
	if (count && trace_writer_has_room(&r->writer, count * sizeof *new))
		trace_writer_put(&r->writer, TRACE_NAMES, tail->tail.number, new,
				 count * sizeof *new);
}

void recorder_look_at_names(struct recorder *r, struct recorder_tail *tail, uint64_t now)
{
	struct recorder_things *t = &tail->things;
	struct latency *l;

	if (!t->lacking || now < t->next_ns)
		return;
	l = malloc(sizeof *l);
	if (l && latency_read(&r->files, tail->tail.number, l) == 0)
		put_names(r, tail, l);
	free(l);
	/* One may have been closed before it was told. */
	t->pause_ns =
		t->lacking && t->pause_ns < NAMES_MOST_NS ? 2 * t->pause_ns + NAMES_NS : NAMES_NS;
	t->next_ns = now + t->pause_ns;
}
