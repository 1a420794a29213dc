/* SPDX-License-Identifier: MIT */
/* follow_latency.c - read the latency of all sessions again and again */
#include <stdlib.h>

#include "follow.h"

static struct followed *followed_of(const struct follow *f, uint64_t session)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->list[i].session == session)
			return &f->list[i];
	return NULL;
}

/*
 * The limit since the last reading, if the latency was read then; else since the session was
 * opened.
 */
static void find_limits(const struct followed *s, struct session_row *row, unsigned reading,
			const struct latency *now, struct latency *since)
{
	struct session_row span = *row;

	*since = *now;
	if (s->latency && s->latency_reading + 1 == reading && row->before)
		latency_since(s->latency, since);
	else
		span.before = NULL;
	limits_find(&span.s, span.before, since, columns_span_ns(&span), &row->limits);
}

void follow_look_at_latency(struct follow *f)
{
	struct latency *now = malloc(sizeof *now), *since = malloc(sizeof *since);

	for (size_t i = 0; now && since && i < f->row_count; i++) {
		struct session_row *row = &f->rows[i];
		struct followed *s = followed_of(f, row->s.session);
		struct latency *last;

		if (!s || latency_read(&f->files, s->session, now) < 0)
			continue;
		find_limits(s, row, f->readings, now, since);
		last = s->latency ? s->latency : malloc(sizeof *last);
		if (last)
			*last = *now;
		s->latency = last;
		s->latency_reading = f->readings;
	}
	session_files_rest(&f->files);
	free(now);
	free(since);
}
