/* SPDX-License-Identifier: MIT */
/* counters.c - hands users descriptors of the files of their own sessions */
#include "counters.h"

#include <errno.h>

#include "connection_private.h"
#include "connections.h"
#include "recorder.h"

/* ---- one file ---- */

/* A read-only descriptor, which stays its owner's; -1: this user has no such file. */
static int file_of(struct connection *c, const struct quoit_ctl *m)
{
	const struct connection *owner;

	if (m->counters.kind == QUOIT_COUNTERS_TRACE)
		return recorder_trace_fd(c->control, c->uid, m->counters.session);
	owner = connections_find_session(c->control, m->counters.session);
	if (!owner || owner->uid != c->uid)
		return -1;
	return m->counters.kind == QUOIT_COUNTERS_LATENCY ? owner->session->latency_fd
							  : owner->session->stats_fd;
}

static void hand_out(struct connection *c, const struct quoit_ctl *m)
{
	struct quoit_ctl answer = {.type = m->type, .seq = m->seq};
	int fd = file_of(c, m);

	if (fd < 0)
		/* One answer for both: a user may not learn that another user's session exists. */
		connection_reply_result(c, m->type, m->seq, -ENOENT, "you have no session %llu",
					(unsigned long long)m->counters.session);
	else
		connection_reply(c, &answer, &fd, 1);
}

/* ---- the list ---- */

void counters_list_add(struct counters_list *list, uint64_t session)
{
	struct quoit_counters_reply *to = list->to;
	uint32_t at = to->count;

	if (session < list->from)
		return;
	while (at && to->session[at - 1] > session)
		at--;
	if (at == QUOIT_COUNTERS_LISTED)
		return;
	if (to->count < QUOIT_COUNTERS_LISTED)
		to->count++;
	for (uint32_t i = to->count - 1; i > at; i--)
		to->session[i] = to->session[i - 1];
	to->session[at] = session;
}

static void list_sessions(struct connection *c, struct counters_list *list)
{
	for (const struct connection *i = c->control->connections; i; i = i->next)
		if (i->session && i->uid == c->uid && i->session->stats_fd >= 0)
			counters_list_add(list, i->session->id);
}

static void list(struct connection *c, const struct quoit_ctl *m)
{
	struct quoit_ctl answer = {.type = m->type, .seq = m->seq};
	struct counters_list found = {m->counters.session, &answer.counters_reply};

	if (m->counters.kind == QUOIT_COUNTERS_TRACE)
		recorder_list(c->control, c->uid, &found);
	else
		list_sessions(c, &found);
	connection_reply(c, &answer, NULL, 0);
}

void counters_request(struct connection *c, const struct quoit_ctl *m)
{
	if (m->counters.kind >= QUOIT_COUNTERS_KINDS || m->counters.list > 1)
		connection_reply_result(c, m->type, m->seq, -EINVAL,
					"kind %u with list %u: allowed are kinds 0 to %d, and list "
					"0 or 1",
					m->counters.kind, m->counters.list,
					QUOIT_COUNTERS_KINDS - 1);
	else if (m->counters.list)
		list(c, m);
	else
		hand_out(c, m);
}
