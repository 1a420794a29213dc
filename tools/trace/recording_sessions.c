/* SPDX-License-Identifier: MIT */
/* recording_sessions.c - the sessions of a recording, and the names of their call sites */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "read/format.h"
#include "read/list.h"
#include "recording_private.h"

static void limit_session(struct trace_session *s)
{
	recording_limit(&s->dropped);
	recording_limit(&s->events_dropped);
	recording_limit(&s->lost);
	recording_limit(&s->unwritten);
}

/* The index at which the session is, or would be inserted. */
static unsigned place_of(const struct recording *rec, uint64_t number)
{
	unsigned low = 0, high = rec->sessions;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (rec->session[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct recording_session *recording_find(const struct recording *rec, uint64_t number)
{
	unsigned i = place_of(rec, number);

	return i < rec->sessions && rec->session[i].number == number ? &rec->session[i] : NULL;
}

static bool grow(struct recording *rec)
{
	void *more = rec->room < RECORDING_MOST_SESSIONS
			     ? list_grow(rec->session, &rec->room, sizeof *rec->session)
			     : NULL;

	if (!more)
		return false;
	rec->session = more;
	return true;
}

/* NULL: there are too many sessions. */
static struct recording_session *insert(struct recording *rec, uint64_t number)
{
	unsigned i = place_of(rec, number);

	if (i < rec->sessions && rec->session[i].number == number)
		return &rec->session[i];
	if (rec->sessions == rec->room && !grow(rec))
		return NULL;
	memmove(&rec->session[i + 1], &rec->session[i],
		(rec->sessions - i) * sizeof rec->session[0]);
	rec->sessions++;
	rec->session[i] = (struct recording_session){.number = number};
	return &rec->session[i];
}

void recording_take_session(struct recording *rec, const struct trace_chunk *chunk,
			    const void *payload)
{
	struct recording_session *s = NULL;
	char name[sizeof s->s.name + 1] = "";

	if (chunk->bytes >= sizeof s->s)
		s = insert(rec, chunk->session);
	if (!s) {
		rec->foreign++;
		return;
	}
	memcpy(&s->s, payload, sizeof s->s);
	limit_session(&s->s);
	memcpy(name, s->s.name, sizeof s->s.name);
	format_escape(name, s->name, sizeof s->name);
}

int recording_take_sites(struct recording *rec, const struct trace_chunk *chunk,
			 const void *payload)
{
	struct recording_session *s = recording_find(rec, chunk->session);
	const struct trace_site *site = payload;

	if (!s) {
		rec->foreign++;
		return 0;
	}
	if (!s->names)
		s->names = calloc(1, sizeof *s->names);
	if (!s->names)
		return -ENOMEM;
	for (size_t i = 0; i < chunk->bytes / sizeof *site; i++)
		if (site[i].ring < QUOIT_SITE_RINGS && site[i].site < QUOIT_MAX_SITES)
			memcpy(s->names->name[site[i].ring][site[i].site], site[i].name,
			       sizeof site[i].name);
	return 0;
}

void recording_free(struct recording *rec)
{
	for (unsigned i = 0; i < rec->sessions; i++)
		free(rec->session[i].names);
	free(rec->session);
	free(rec->name);
	*rec = (struct recording){0};
}
