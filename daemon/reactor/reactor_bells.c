/* SPDX-License-Identifier: MIT */
/* reactor_bells.c - wakes and hears clients, and charges their users for it */
#include "reactor_bells.h"

#include <sys/epoll.h>

#include "base/tsc.h"
#include "bells.h"
#include "reactor_mail.h"
#include "reactor_rings.h"

/* ---- charging time ---- */

/* Charge this session, even if another has the turn. */
static void charge(struct reactor *r, struct session *s, uint64_t took)
{
	s->core_ticks += took;
	tenant_charge(reactor_tenant(r, s), took);
}

static void count(struct reactor *r, struct session *s, uint64_t took)
{
	charge(r, s, took);
	dear_count(&reactor_tenant(r, s)->dear, took, tsc_now());
}

/* Do it in this thread, at once. */
static struct bell_outcome do_here(struct reactor *r, struct ring *ring, unsigned op)
{
	struct session *s = ring->session;
	struct bell_outcome o = bells_do(ring, op, dear_clock(&reactor_tenant(r, s)->dear));

	count(r, s, o.took);
	return o;
}

static bool is_dear(const struct reactor *r, const struct session *s)
{
	return dear_is(&reactor_tenant(r, s)->dear, r->now);
}

/* ---- outcomes ---- */

static void stop_listening(struct reactor *r, struct ring *ring)
{
	if (!ring->hung_up)
		(void)epoll_ctl(r->epoll, EPOLL_CTL_DEL, ring->socket, NULL);
	ring->hung_up = true;
}

static void take_outcome(struct reactor *r, struct ring *ring, const struct bell_outcome *o)
{
	struct session *s = ring->session;

	if (o->unsent)
		ring->armed = ~ring->armed; /* looks unanswered: try again at the next CQE */
	s->kicks += o->heard;
	if (o->descriptors)
		reactor_kill(r, s, QUOIT_DAEMON_KILL_PROTO);
	/* When the client closed its end, the control socket tells what that means. */
	if (o->ended || !reactor_fetches(ring))
		stop_listening(r, ring);
}

/* ---- the thread for dear wake-ups ---- */

static void ask(struct reactor *r, struct ring *ring)
{
	ring->bells_asked = true;
	ring->session->requests++;
	r->count[QUOIT_REACTOR_DEAR_WAKES]++;
	r->bells_open++;
	bells_ask(r->bells, ring, ring->bells_wanted);
	ring->bells_wanted = 0;
}

/* A ring has one request open at a time; what else it wants is asked for after the answer. */
static void want(struct reactor *r, struct ring *ring, unsigned op)
{
	ring->bells_wanted |= op;
	if (!ring->bells_asked)
		ask(r, ring);
}

/* EPOLLONESHOT: until the thread has read the socket, epoll reports only that it was closed. */
static void listen_for(struct reactor *r, struct ring *ring, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = ring};

	(void)epoll_ctl(r->epoll, EPOLL_CTL_MOD, ring->socket, &event);
}

static void take_answer(struct reactor *r, const struct bell_answer *a)
{
	struct ring *ring = a->ring;

	ring->bells_asked = false;
	ring->session->requests--;
	count(r, ring->session, a->outcome.took);
	take_outcome(r, ring, &a->outcome);
	if (a->ops & BELL_HEAR) {
		if (!ring->hung_up)
			listen_for(r, ring, EPOLLIN);
		reactor_ring_has_rung(r, ring); /* after the last kick was taken */
	}
	if (ring->bells_wanted)
		ask(r, ring);
	if (ring->session->leaving) /* this may be all that it waits for */
		reactor_look(r, ring->session);
}

bool reactor_bells_answers(struct reactor *r)
{
	struct bell_answer a;
	bool any = false;

	while (r->bells_open && bells_answered(r->bells, &a)) {
		r->bells_open--;
		take_answer(r, &a);
		any = true;
	}
	return any;
}

/* ---- here or in the thread ---- */

void reactor_bells_ring(struct ring *ring, unsigned op)
{
	struct session *s = ring->session;
	struct reactor *r = s->reactor;
	struct bell_outcome o;

	if (ring->bells_asked || is_dear(r, s)) {
		want(r, ring, op);
		return;
	}
	o = do_here(r, ring, op);
	r->charged += o.took; /* so that the session that has the turn does not pay, too */
	take_outcome(r, ring, &o);
}

/* Drain the doorbell before looking at its ring, or a kick could be lost. */
void reactor_bells_hear(struct reactor *r, struct ring *ring, bool hung_up)
{
	struct session *s = ring->session;
	struct bell_outcome o;

	if (!reactor_fetches(ring) || (hung_up && ring->bells_asked)) {
		stop_listening(r, ring);
	} else if (!hung_up && (ring->bells_asked || is_dear(r, s))) {
		listen_for(r, ring, EPOLLONESHOT);
		want(r, ring, BELL_HEAR);
	} else {
		o = do_here(r, ring, BELL_HEAR);
		o.ended |= hung_up;
		r->count[QUOIT_REACTOR_WORK_TICKS] += o.took; /* spent between two passes */
		take_outcome(r, ring, &o);
	}
	reactor_ring_has_rung(r, ring);
}

/* ---- users that come back ---- */

void reactor_bells_leave(struct reactor *r, const struct tenant *t)
{
	if (t->dear.until || t->dear.debt)
		dear_note(&r->dear, t->user->uid)->dear = t->dear;
}

void reactor_bells_meet(struct reactor *r, struct tenant *t)
{
	const struct dear_user *known = dear_find(&r->dear, t->user->uid);

	if (known)
		t->dear = known->dear;
}
