/* SPDX-License-Identifier: MIT */
/* reactor_mail.c - reads and answers the control thread's letters; takes in sessions and rings */
#include "reactor_mail.h"

#include "backend/executor/backend_kernels.h"
#include "backend/service/callers.h"
#include "backend/service/servers.h"
#include "backend/service/service_queue.h"
#include "base/hang_injection.h"
#include "base/tsc.h"
#include "job/record.h"
#include "job/sched.h"
#include "memory/lease.h"
#include "memory/memory.h"
#include "memory/memory_pinned.h"
#include "memory/sigbus_guard.h"
#include "reactor_bells.h"
#include "reactor_cancel.h"
#include "reactor_leave.h"
#include "reactor_rings.h"
#include "session/files.h"
#include "session/session_team.h"

void reactor_answer(struct reactor *r, uint8_t type, struct session *s, struct ring *ring,
		    int32_t result)
{
	struct mail m = {.type = type, .result = result, .session = s, .ring = ring};

	mailbox_send(r->outbox, &m);
}

void reactor_kill(struct reactor *r, struct session *s, uint32_t reason)
{
	struct mail m = {.type = MAIL_KILL, .session = s, .a = reason};

	s->killed = true;
	if (s->stopped)
		return;
	if (sigbus_guard_has_hit(s)) /* we may have read something else than the client wrote */
		m.a = QUOIT_DAEMON_KILL_MEM_VANISHED;
	s->stopped = true;
	mailbox_send(r->outbox, &m);
}

/* ---- sessions and rings that come ---- */

static void add_session(struct reactor *r, struct session *s)
{
	struct tenant *t = reactor_tenant(r, s);

	hang_at(HANG_REACTOR);
	reactor_take_in(r, s);
	if (s->trace)
		LINKS_ADD(&r->recorded, s, recorded);
	if (!t->session_count++) {
		tenancy_add(&r->tenancy, t);
		reactor_bells_meet(r, t);
	}
	s->counters_current = true;
	reactor_attend(r, s);
	memory_pinned_fill(s);
}

static void add_ring(struct reactor *r, struct session *s, struct ring *ring)
{
	int err = reactor_add_ring(r, ring);

	if (!err) {
		s->rings[ring->index] = ring;
		if (ring->index >= s->ring_count)
			s->ring_count = ring->index + 1;
		record_ring(ring);
	}
	reactor_answer(r, MAIL_RING_ADD, s, ring, err);
}

/* ---- the mailbox ---- */

static void end_trace(struct reactor *r, struct session *s, uint32_t id)
{
	struct mail m = {.type = MAIL_TRACE_END, .session = s, .a = id};

	if (reactor_has(r, s)) {
		record_detach(s, id);
		if (!s->trace)
			LINKS_REMOVE(s, recorded);
	}
	mailbox_send(r->outbox, &m);
}

static int32_t add_file(struct session *s, const struct mail *m)
{
	const struct files_kind kind = {.modes = m->b, .withheld_by = (uint32_t)m->result};

	return files_add(s, (int)m->a, &kind);
}

static void lease_answered(struct reactor *r, struct session *s, const struct mail *m)
{
	reactor_charge(r, s);
	lease_answer(s, m);
	reactor_unstall_all(r, s);
	memory_advance(s, sched_push);
}

static void read_letter(struct reactor *r, const struct mail *m)
{
	struct session *s = m->session;

	switch (m->type) {
	case MAIL_SESSION_ADD:
		add_session(r, s);
		break;
	case MAIL_RING_ADD:
		add_ring(r, s, m->ring);
		break;
	case MAIL_RING_CLOSE:
		reactor_close_ring(r, s, m->a);
		break;
	case MAIL_CANCEL:
		reactor_attend(r, s);
		reactor_answer(r, MAIL_CANCEL, s, NULL, reactor_cancel(r, s, m->a, m->b));
		break;
	case MAIL_FILE_ADD:
		reactor_answer(r, MAIL_FILE_ADD, s, NULL, add_file(s, m));
		break;
	case MAIL_FILE_REMOVE:
		reactor_answer(r, MAIL_FILE_REMOVE, s, NULL, files_remove(s, m->a));
		break;
	case MAIL_KERNELS:
		reactor_attend(r, s);
		kernels_ask(r, s, m->ask);
		break;
	case MAIL_FUNCTION_ADD:
		reactor_answer(r, MAIL_FUNCTION_ADD, s, NULL, team_add(s, m->function));
		break;
	case MAIL_SERVE_ASK:
		reactor_answer(r, MAIL_SERVE_ASK, s, NULL, server_ask(s, m->serve));
		break;
	case MAIL_SERVE:
		server_begin(r, s, m->a, m->server);
		break;
	case MAIL_CALLER_ADD:
		caller_add(s, m->caller);
		reactor_answer(r, MAIL_CALLER_ADD, s, NULL, (int32_t)m->caller->index);
		break;
	case MAIL_CALLER_CLOSE:
		caller_close(r, s, m->a);
		reactor_answer(r, MAIL_CALLER_CLOSE, s, NULL, 0);
		break;
	case MAIL_CALLERS_GONE:
		callers_heard(r);
		break;
	case MAIL_SERVICE_END:
		service_end(r, m->service);
		break;
	case MAIL_DRAIN:
		reactor_drain(r, s);
		break;
	case MAIL_CUT:
		reactor_cut(r, s);
		break;
	case MAIL_ARENA:
		lease_arena(s, m->bytes);
		reactor_answer(r, MAIL_ARENA, s, NULL, 0);
		break;
	case MAIL_LEASE:
		lease_answered(r, s, m);
		break;
	case MAIL_TRACE_BEGIN:
		if (reactor_has(r, s)) {
			record_attach(s, m->trace);
			LINKS_ADD(&r->recorded, s, recorded);
		}
		break;
	case MAIL_TRACE_END:
		end_trace(r, s, m->a);
		break;
	default:
		reactor_end_session(r, s, m->type, m->a);
		break;
	}
}

static bool read_letters(struct reactor *r)
{
	uint64_t until = 0, now;
	struct mail m;
	bool any = false;

	while (mailbox_receive(&r->inbox, &m)) {
		read_letter(r, &m);
		any = true;
		now = tsc_now();
		until = until ? until : now + tsc_from_ns(REACTOR_TURN_NS);
		if (now >= until) /* the rest is read in the next pass */
			break;
	}
	return any;
}

bool reactor_mail(struct reactor *r)
{
	bool any = read_letters(r);

	if (r->leaves || r->lingers)
		any |= reactor_let_go(r);
	return any;
}
