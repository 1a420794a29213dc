/* SPDX-License-Identifier: MIT */
/* chosen.c - read the details of one session that its row does not have */
#include "chosen.h"

#include <stdlib.h>

static bool make(struct chosen *c)
{
	for (unsigned i = 0; i < 2; i++)
		if (!c->reading[i])
			c->reading[i] = malloc(sizeof **c->reading);
	if (!c->since)
		c->since = malloc(sizeof *c->since);
	return c->reading[0] && c->reading[1] && c->since;
}

void chosen_read(struct chosen *c, struct session_files *files, const struct session_row *row)
{
	struct session_row since = *row;
	struct latency *now;

	if (c->session != row->s.session || !row->before)
		c->readings = 0;
	c->session = row->s.session;
	c->known = make(c);
	if (!c->known)
		return;
	now = c->reading[(c->readings + 1) % 2];
	c->known = latency_read(files, c->session, now) == 0;
	if (!c->known)
		return;
	*c->since = *now;
	if (!c->readings++)
		since.before = NULL; /* everything since the session was opened */
	else
		latency_since(c->reading[(c->readings + 1) % 2], c->since);
	c->span_ns = columns_span_ns(&since);
	limits_find(&since.s, since.before, c->since, c->span_ns, &c->limits);
	if (row->daemon_lives)
		limits_ask(&c->limits, files->socket);
}

void chosen_forget(struct chosen *c)
{
	c->readings = 0;
}

void chosen_free(struct chosen *c)
{
	free(c->reading[0]);
	free(c->reading[1]);
	free(c->since);
	*c = (struct chosen){0};
}
