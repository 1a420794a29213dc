/* SPDX-License-Identifier: MIT */
/* reactor_mail.c - sessions and rings come and go */
#include "reactor_mail.h"

#include <errno.h>

#include "completion.h"
#include "deps.h"
#include "executors/backend_exec.h"
#include "executors/backend_kernels.h"
#include "host/stick.h"
#include "io/backend_io.h"
#include "job.h"
#include "memory/guard.h"
#include "memory/memory.h"
#include "memory/memory_pinned.h"
#include "reactor_idle.h"
#include "reactor_rings.h"
#include "record.h"
#include "sample.h"
#include "sched.h"
#include "session/files.h"
#include "session/session_stats.h"
#include "session/turns.h"

static void answer(struct reactor *r, uint8_t type, struct session *s, struct ring *ring,
		   int32_t result)
{
	struct mail m = {.type = type, .result = result, .session = s, .ring = ring};

	mailbox_send(r->outbox, &m);
}

/* ---- arriving ---- */

static void leave_tenant(struct reactor *r, struct tenant *t, struct session *s)
{
	for (enum turn i = 0; i < TURNS; i++)
		turns_remove(&t->turns[i], i, s);
	if (!--t->session_count)
		tenancy_remove(&r->tenancy, t);
}

static void forget_untold(struct reactor *r, struct session *s)
{
	struct session **link = &r->untold;

	while (*link && *link != s)
		link = &(*link)->untold;
	if (*link)
		*link = s->untold;
}

static void add_session(struct reactor *r, struct session *s)
{
	struct tenant *t = reactor_tenant(r, s);

	stick_at(STICK_REACTOR);
	s->next = r->sessions;
	r->sessions = s;
	r->session_count++;
	r->recorded += s->trace != NULL;
	if (!t->session_count++)
		tenancy_add(&r->tenancy, t);
	s->told = true;
	reactor_attend(r, s);
	memory_pinned_fill(s);
}

static void remove_session(struct reactor *r, struct session *s)
{
	struct session **link = &r->sessions;

	while (*link != s)
		link = &(*link)->next;
	*link = s->next;
	r->session_count--;
	r->recorded -= s->trace != NULL;
	reactor_discharge(r, s);
	forget_untold(r, s);
	leave_tenant(r, reactor_tenant(r, s), s);
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
	answer(r, MAIL_RING_ADD, s, ring, err);
}

/* ---- cancelling ---- */

/* A job that has not started ends now, as far as its client is concerned. */
static void cancel_job(struct reactor *r, struct session *s, struct job *job)
{
	struct ring *ring = s->rings[job->ring];

	job_fail_early(s, job, -ECANCELED, r->now);
	reactor_touch(r, ring);
}

static void cancel_all(struct reactor *r, struct session *s)
{
	for (uint32_t i = s->oldest; i != NIL; i = s->jobs[i].newer)
		if (!s->jobs[i].failed && s->jobs[i].state != JOB_RUNNING)
			cancel_job(r, s, &s->jobs[i]);
	memory_advance(s, sched_push);
}

static int32_t cancel_one(struct reactor *r, struct session *s, uint32_t index, uint32_t sq_index)
{
	struct ring *ring = index < s->ring_count ? s->rings[index] : NULL;
	struct job *job;

	if (!ring)
		return -EINVAL;
	job = deps_ring_find(ring, sq_index);
	if (job) {
		if (job->failed || job->state == JOB_RUNNING)
			return -EALREADY;
		cancel_job(r, s, job);
		memory_advance(s, sched_push);
		return 0;
	}
	if (sq_index - ring->sq.next >= ring->layout.sq_entries)
		return -EALREADY; /* fetched, and it has ended */
	if (ring->cancels == CANCEL_SLOTS)
		return -EBUSY;
	ring->cancel[ring->cancels++] = sq_index;
	return 0;
}

/* ---- leaving ---- */

static bool quiet(const struct session *s)
{
	return !s->open.now && !s->requests && !s->published && s->memory.head == NIL;
}

static bool unfetched(const struct session *s)
{
	for (uint32_t i = 0; i < s->ring_count; i++) {
		struct ring *ring = s->rings[i];

		if (ring && quoit_ring_peek(&ring->sq))
			return true;
	}
	return false;
}

static void abandon(struct reactor *r, struct session *s)
{
	for (uint32_t i = 0; i < WORKER_SLOTS; i++)
		if (!(r->port->free & 1u << i) && r->port->work[i].session == s)
			atomic_store(&r->port->work[i].abandoned, true);
	io_abandon(r, s);
}

static bool is_ours(const struct reactor *r, const struct session *s)
{
	for (const struct session *i = r->sessions; i; i = i->next)
		if (i == s)
			return true;
	return false;
}

static void begin_end(struct reactor *r, struct session *s, uint8_t type, uint32_t flags)
{
	if (!is_ours(r, s)) { /* closed, and let go, while the news of its death was under way */
		answer(r, type, s, NULL, 0);
		return;
	}
	reactor_attend(r, s);
	reactor_unstall_all(r, s);
	s->ending = type;
	for (uint32_t i = 0; i < s->ring_count; i++)
		if (s->rings[i])
			s->rings[i]->mute = true;
	if (type == MAIL_DEAD || flags & QUOIT_CLOSE_CANCEL) {
		s->stopped = true; /* nothing more is fetched */
		s->dead = type == MAIL_DEAD;
		cancel_all(r, s);
	}
	if (type == MAIL_DEAD)
		abandon(r, s);
}

static void close_ring(struct reactor *r, struct session *s, uint32_t index)
{
	struct ring *ring = index < s->ring_count ? s->rings[index] : NULL;

	if (!ring || ring->closing) {
		answer(r, MAIL_RING_CLOSE, s, NULL, -EINVAL);
		return;
	}
	ring->closing = ring->mute = true;
	reactor_unstall(r, ring);
}

static void unhook_dirty(struct reactor *r, struct ring *ring)
{
	for (struct ring **link = &r->dirty; *link; link = &(*link)->next_dirty)
		if (*link == ring) {
			*link = ring->next_dirty;
			return;
		}
}

static void let_ring_go(struct reactor *r, struct session *s, struct ring *ring)
{
	if (ring->dirty)
		completion_flush(ring);
	if (ring->queued)
		unhook_dirty(r, ring);
	record_ring_goes(ring);
	sample_collect(ring); /* while its pages are guarded */
	legs_tell_sites(s, ring->index, ring->sites);
	reactor_remove_ring(r, ring);
	s->rings[ring->index] = NULL;
}

/* True: some ring still has jobs. */
static bool close_rings(struct reactor *r, struct session *s)
{
	bool pending = false;

	for (uint32_t i = 0; i < s->ring_count; i++) {
		struct ring *ring = s->rings[i];

		if (!ring || !ring->closing)
			continue;
		if (ring->jobs || (!s->stopped && quoit_ring_peek(&ring->sq))) {
			pending = true;
			continue;
		}
		let_ring_go(r, s, ring);
		answer(r, MAIL_RING_CLOSE, s, ring, 0);
	}
	return pending;
}

/* Jobs, in a drain; those that were cancelled have been told. */
static uint32_t ended_since(const struct session *s)
{
	return s->cut ? 0 : (uint32_t)(s->jobs_done + s->jobs_failed - s->ended_before);
}

/*
 * Hand the session back once nothing of it is in use.  Its rings stay its own and are
 * freed with it; after CLOSE the client may still reap what was posted.
 */
static bool let_session_go(struct reactor *r, struct session *s)
{
	struct mail m;

	exec_abandon(r, s);
	if (!quiet(s) || (!s->stopped && unfetched(s)))
		return false;
	s->stopped = true; /* what is published from here on finds no memory */
	if (!exec_leave(r, s) || !memory_close(s))
		return false;
	m = (struct mail){.type = s->ending, .session = s, .a = ended_since(s)};
	session_stats_publish(s, r->now, 0, true); /* while its rings are guarded */
	for (uint32_t i = 0; i < s->ring_count; i++) {
		struct ring *ring = s->rings[i];

		if (!ring)
			continue;
		let_ring_go(r, s, ring);
		s->rings[i] = ring;
	}
	record_tell(s, r->now);
	legs_hand_over(s);
	remove_session(r, s);
	mailbox_send(r->outbox, &m);
	return true;
}

static bool let_go(struct reactor *r)
{
	struct session *next;
	bool any = false;

	r->control_pending = false;
	for (struct session *s = r->sessions; s; s = next) {
		next = s->next;
		r->control_pending |= close_rings(r, s);
		if (!s->ending)
			continue;
		if (let_session_go(r, s))
			any = true;
		else
			r->control_pending = true;
	}
	return any;
}

void reactor_kill(struct reactor *r, struct session *s, uint32_t reason)
{
	struct mail m = {.type = MAIL_KILL, .session = s, .a = reason};

	if (s->stopped)
		return;
	if (guard_has_hit(s)) /* whatever we read then was not what the client wrote */
		m.a = QUOIT_DAEMON_KILL_MEM_VANISHED;
	s->stopped = true;
	mailbox_send(r->outbox, &m);
}

static void end_trace(struct reactor *r, struct session *s, uint32_t id)
{
	struct mail m = {.type = MAIL_TRACE_END, .session = s, .a = id};

	if (is_ours(r, s)) {
		r->recorded -= s->trace != NULL;
		record_detach(s, id);
		r->recorded += s->trace != NULL;
	}
	mailbox_send(r->outbox, &m);
}

/* ---- the daemon's end ---- */

/* One that is closing anyway, or gone, comes back by its own letter. */
static void begin_drain(const struct reactor *r, struct session *s)
{
	if (!is_ours(r, s))
		return;
	s->stopped = true;
	s->ended_before = s->jobs_done + s->jobs_failed;
	if (!s->ending)
		s->ending = MAIL_DRAIN;
}

/* Those that run as well: their CQEs say so now, and what comes of them nobody learns. */
static uint32_t cancel_rest(struct reactor *r, struct session *s)
{
	uint32_t n = 0;

	for (uint32_t i = s->oldest; i != NIL; i = s->jobs[i].newer)
		if (!s->jobs[i].posted) {
			cancel_job(r, s, &s->jobs[i]);
			n++;
		}
	for (uint32_t i = 0; i < s->ring_count; i++)
		if (s->rings[i] && s->rings[i]->dirty)
			completion_flush(s->rings[i]);
	memory_advance(s, sched_push);
	return n;
}

static void cut(struct reactor *r, struct session *s)
{
	struct mail m = {.type = MAIL_CUT, .session = s};

	if (!is_ours(r, s))
		return;
	m.a = ended_since(s);
	reactor_attend(r, s);
	m.b = cancel_rest(r, s);
	s->cut = true;
	abandon(r, s);
	mailbox_send(r->outbox, &m);
}

/* ---- the mailbox ---- */

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
		close_ring(r, s, m->a);
		break;
	case MAIL_CANCEL:
		reactor_attend(r, s);
		answer(r, MAIL_CANCEL, s, NULL, cancel_one(r, s, m->a, m->b));
		break;
	case MAIL_FILE_ADD:
		answer(r, MAIL_FILE_ADD, s, NULL, files_add(s, (int)m->a, m->b));
		break;
	case MAIL_FILE_REMOVE:
		answer(r, MAIL_FILE_REMOVE, s, NULL, files_remove(s, m->a));
		break;
	case MAIL_KERNELS:
		reactor_attend(r, s);
		kernels_ask(r, s, m->ask);
		break;
	case MAIL_DRAIN:
		begin_drain(r, s);
		break;
	case MAIL_CUT:
		cut(r, s);
		break;
	case MAIL_TRACE_BEGIN:
		if (is_ours(r, s)) {
			r->recorded += !s->trace;
			record_attach(s, m->trace);
		}
		break;
	case MAIL_TRACE_END:
		end_trace(r, s, m->a);
		break;
	default:
		begin_end(r, s, m->type, m->a);
		break;
	}
	r->control_pending = true;
}

bool reactor_mail(struct reactor *r)
{
	struct mail m;
	bool any = false;

	while (mailbox_receive(&r->inbox, &m)) {
		read_letter(r, &m);
		any = true;
	}
	if (r->control_pending)
		any |= let_go(r);
	return any;
}
