/* SPDX-License-Identifier: MIT */
/* recorder_traces.c - makes traces, lends them to reactors, asks them back, and removes them */
#include "recorder_private.h"

#include <errno.h>
#include <stdlib.h>

#include "base/dear.h"
#include "charge.h"
#include "connections.h"
#include "rests.h"

/* ---- making and removing ---- */

void recorder_remove_trace(struct control *c, struct lent **link)
{
	struct lent *l = *link;
	struct connection *owner = connections_find_session(c, l->trace->session);
	uint64_t begun = dear_cpu_now();
	uid_t uid = l->trace->uid;

	if (owner) /* another recorder may record it now */
		owner->session->lent = false;
	*link = l->next;
	budget_return(c->budget, l->trace->uid, l->trace->bytes);
	charge_show(c);
	trace_free(l->trace, c->directory);
	free(l);
	rests_record(c, uid, begun); /* removing is as dear as making */
}

/* Bytes of all traces that a user pays for, and of those of this owner's sessions. */
static void bytes_of(const struct control *c, uid_t uid, uid_t owner, uint64_t *ret_all,
		     uint64_t *ret_own)
{
	*ret_all = *ret_own = 0;
	for (const struct lent *l = c->lent; l; l = l->next) {
		if (l->trace->uid != uid)
			continue;
		*ret_all += l->trace->bytes;
		*ret_own += l->trace->file->uid == owner ? l->trace->bytes : 0;
	}
}

/* No single user's sessions may fill what a recorder of everybody may take. */
static bool has_room(const struct control *c, uid_t uid, uid_t owner, uint64_t bytes)
{
	uint64_t all, own;

	bytes_of(c, uid, owner, &all, &own);
	return all + bytes <= RECORDER_UID_BYTES &&
	       (uid == owner || own + bytes <= RECORDER_UID_BYTES / 4);
}

int recorder_make_trace(struct connection *recorder, struct session *s, struct trace **ret)
{
	struct control *c = recorder->control;
	struct lent *l = malloc(sizeof *l);
	uint64_t bytes = trace_bytes(recorder->records.records), left;
	int err = l ? 0 : -ENOMEM;

	if (!err && !has_room(c, recorder->uid, s->uid, bytes))
		err = -EDQUOT;
	if (!err)
		err = budget_lease(c->budget, recorder->uid, bytes, &left);
	if (!err) {
		err = trace_new(s, c->directory, s->reactor, recorder->records.records, ret);
		if (err < 0)
			budget_return(c->budget, recorder->uid, bytes);
	}
	if (err < 0) {
		free(l);
		return err;
	}
	(*ret)->id = ++c->last_lent;
	(*ret)->uid = recorder->uid;
	*l = (struct lent){.next = c->lent, .recorder = recorder, .trace = *ret, .state = LENT};
	c->lent = l;
	s->lent = true;
	charge_show(c);
	return 0;
}

struct lent **recorder_find_going(struct control *c)
{
	struct lent **link = &c->lent;

	while (*link && (*link)->state != GOING)
		link = &(*link)->next;
	return link;
}

/* ---- what a session's user may read ---- */

void recorder_list(const struct control *c, uid_t uid, struct counters_list *list)
{
	for (const struct lent *l = c->lent; l; l = l->next)
		if (l->trace->file->uid == uid)
			counters_list_add(list, l->trace->session);
}

int recorder_trace_fd(const struct control *c, uid_t uid, uint64_t session)
{
	for (const struct lent *l = c->lent; l; l = l->next)
		if (l->trace->session == session && l->trace->file->uid == uid)
			return l->trace->fd;
	return -1;
}

/* ---- the end ---- */

/* The oldest are at the end of the list. */
static void forget_oldest(struct control *c, const struct connection *recorder, uid_t owner)
{
	struct lent **oldest = NULL;
	uint32_t ended = 0;

	for (struct lent **link = &c->lent; *link; link = &(*link)->next)
		if ((*link)->recorder == recorder && (*link)->state == ENDED &&
		    (*link)->trace->file->uid == owner) {
			oldest = link;
			ended++;
		}
	if (ended > RECORDER_ENDED)
		recorder_remove_trace(c, oldest);
}

void recorder_session_ended(struct control *c, const struct session *s)
{
	for (struct lent *l = c->lent; l; l = l->next) {
		if (l->trace->session != s->id)
			continue;
		if (l->state != LENT) {
			l->state = GOING;
			return;
		}
		trace_end(l->trace);
		l->state = ENDED;
		forget_oldest(c, l->recorder, s->uid);
		return;
	}
}

void recorder_answer(struct control *c, uint32_t id)
{
	for (struct lent *l = c->lent; l; l = l->next)
		if (l->trace->id == id && l->state == ASKED_BACK)
			l->state = GOING;
}

static void ask_back(struct control *c, struct lent *l)
{
	struct mail m = {.type = MAIL_TRACE_END, .a = l->trace->id};

	for (struct connection *i = c->connections; i; i = i->next)
		if (i->session && i->session->id == l->trace->session)
			m.session = i->session;
	l->state = ASKED_BACK;
	mailbox_send(&m.session->reactor->inbox, &m);
}

void recorder_leave(struct connection *c)
{
	for (struct lent *l = c->control->lent; l; l = l->next) {
		if (l->recorder != c)
			continue;
		l->recorder = NULL;
		if (l->state == ENDED) /* no reactor has it */
			l->state = GOING;
		else
			ask_back(c->control, l);
	}
}

void recorder_done(struct control *c)
{
	while (c->lent)
		recorder_remove_trace(c, &c->lent);
}
