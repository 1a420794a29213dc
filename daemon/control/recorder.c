/* SPDX-License-Identifier: MIT */
/* recorder.c - serves connections that record: their requests, and their looks for sessions */
#include "recorder_private.h"

#include <errno.h>
#include <string.h>

#include "base/dear.h"
#include "base/log.h"
#include "connection_private.h"
#include "connections.h"
#include "rests.h"

/* ---- permissions ---- */

static bool is_open(const struct connection *c)
{
	return c->session && c->state == CONNECTION_OPEN;
}

static bool may_record(const struct connection *recorder, uid_t uid)
{
	return recorder->uid == 0 || recorder->uid == uid;
}

/* Lend a trace to the reactor of an open session. */
static int record(struct connection *recorder, struct connection *owner)
{
	struct mail m = {.type = MAIL_TRACE_BEGIN, .session = owner->session};
	int err;

	if (owner->session->lent)
		return -EBUSY;
	err = recorder_make_trace(recorder, owner->session, &m.trace);
	if (!err)
		mailbox_send(&owner->session->reactor->inbox, &m);
	return err;
}

void recorder_meet(struct control *c, struct session *s)
{
	uint64_t begun = dear_cpu_now();

	for (struct connection *r = c->connections; r; r = r->next) {
		if (r->state != CONNECTION_RECORDS || r->records.session || !may_record(r, s->uid))
			continue;
		if (rests_records_ms(c, r->uid)) { /* a look finds the session later */
			r->records.looks = true;
		} else if (recorder_make_trace(r, s, &s->trace) == 0) {
			rests_record(c, r->uid, begun);
			return;
		}
	}
}

/* ---- requests ---- */

static bool is_size(uint32_t records)
{
	return records >= QUOIT_TRACE_LEAST && records <= QUOIT_TRACE_MOST &&
	       !(records & (records - 1));
}

static const char *refusal(int err)
{
	switch (err) {
	case -EBUSY:
		return "another recorder records it already";
	case -EDQUOT:
		return "no memory is left for its records";
	default:
		return strerror(-err);
	}
}

/* It records nothing, and may ask for something else. */
static void refuse(struct connection *c, int err, const char *why)
{
	uint32_t type = c->pending, seq = c->pending_seq;

	c->records = (struct recorder){0};
	c->state = CONNECTION_NEW;
	c->pending = 0;
	connection_reply_result(c, type, seq, err, "%s", why);
}

static int record_one(struct connection *c)
{
	struct connection *owner = connections_find_session(c->control, c->records.session);

	/* One answer for both: a user may not learn that another user's session exists. */
	if (!owner || !is_open(owner) || !may_record(c, owner->uid))
		return -ESRCH;
	return record(c, owner);
}

/* Answer with the number of sessions that it records by now. */
static void answer(struct connection *c)
{
	struct quoit_ctl m = {.type = c->pending, .seq = c->pending_seq};

	for (const struct lent *l = c->control->lent; l; l = l->next)
		m.trace.sessions += l->recorder == c && l->state == LENT;
	c->pending = 0;
	log_client(c->uid, "pid %d of uid %u records %u sessions", c->pid, c->uid,
		   m.trace.sessions);
	connection_reply(c, &m, NULL, 0);
}

void recorder_request(struct connection *c, const struct quoit_ctl *m)
{
	uint32_t records = m->trace.records ? m->trace.records : QUOIT_TRACE_DEFAULT;

	c->pending = m->type;
	c->pending_seq = m->seq;
	if (!is_size(records)) {
		refuse(c, -EINVAL,
		       "the number of records must be a power of two from 4096 to 65536");
		return;
	}
	c->records = (struct recorder){.session = m->trace.session,
				       .records = records,
				       .looks = true,
				       .served = c->control->served};
	c->state = CONNECTION_RECORDS;
}

/* Its look, where it records one session. */
static void make_one(struct connection *c)
{
	int err = record_one(c);

	c->records.looks = false;
	if (err < 0)
		refuse(c, err, err == -ESRCH ? "you have no such session" : refusal(err));
	else
		answer(c);
}

/* ---- all sessions ---- */

/* The session with the lowest number that it has not looked at and that is not recorded. */
static struct connection *next_owner(const struct connection *recorder)
{
	struct connection *next = NULL;

	for (struct connection *i = recorder->control->connections; i; i = i->next)
		if (is_open(i) && !i->session->lent && may_record(recorder, i->uid) &&
		    i->session->id > recorder->records.last_session &&
		    (!next || i->session->id < next->session->id))
			next = i;
	return next;
}

/* A session that cannot be recorded is left out; the answer says how many are recorded. */
static void make_next(struct connection *recorder)
{
	struct connection *owner;

	recorder->records.served = ++recorder->control->served;
	if (recorder->records.session) {
		make_one(recorder);
		return;
	}
	owner = next_owner(recorder);
	recorder->records.looks = owner != NULL;
	if (owner) {
		recorder->records.last_session = owner->session->id;
		(void)record(recorder, owner);
	} else if (recorder->pending) {
		answer(recorder);
	}
}

/*
 * A trace goes.  Recorders that may record its session, which none could meanwhile, look at it
 * again.  Recorders of the user who paid look at all sessions again, since there is room.
 */
static void have_others_look(struct control *c, const struct trace *t)
{
	for (struct connection *r = c->connections; r; r = r->next) {
		if (r->state != CONNECTION_RECORDS || r->records.session)
			continue;
		if (r->uid == t->uid)
			r->records.last_session = 0;
		else if (may_record(r, t->file->uid) && r->records.last_session >= t->session)
			r->records.last_session = t->session - 1;
		else
			continue;
		r->records.looks = true;
	}
}

/* The recorder that has waited longest for its turn; recorders of resting users are left out. */
static struct connection *who_looks(struct control *c)
{
	struct connection *next = NULL;

	for (struct connection *r = c->connections; r; r = r->next)
		if (r->state == CONNECTION_RECORDS && r->records.looks &&
		    (!next || r->records.served < next->records.served) &&
		    !rests_records_ms(c, r->uid))
			next = r;
	return next;
}

int recorder_timeout_ms(struct control *c)
{
	int first = -1;

	if (*recorder_find_going(c))
		return 0;
	for (const struct connection *r = c->connections; r && first; r = r->next) {
		int rest;

		if (r->state != CONNECTION_RECORDS || !r->records.looks)
			continue;
		rest = rests_records_ms(c, r->uid);
		if (first < 0 || rest < first)
			first = rest;
	}
	return first;
}

/*
 * How long recorders may look for sessions (once at least) before all other work has its turn: a
 * pass goes through all connections, and its cost is not charged to them.
 */
#define LOOKS_NS 100000u

static void look(struct control *c, struct connection *r)
{
	uint64_t now = dear_cpu_now(), until = now + tsc_from_ns(LOOKS_NS);

	do {
		uid_t uid = r->uid; /* the answer may end it */

		make_next(r);
		rests_record(c, uid, now);
		now = dear_cpu_now();
	} while (now < until && (r = who_looks(c)));
}

void recorder_advance(struct control *c)
{
	struct lent **going = recorder_find_going(c);
	struct connection *r = who_looks(c);

	c->removes = *going && !(r && c->removes); /* they alternate while there are both */
	if (c->removes) {
		have_others_look(c, (*going)->trace);
		recorder_remove_trace(c, going);
	} else if (r) {
		look(c, r);
	}
}
