/* SPDX-License-Identifier: MIT */
/*
 * reactor.c - the flow of a job, from its SQE to its CQE
 *
 *	fetch -> validate -> deps, memory -> sched -> backend -> complete
 *
 * This file names the stages in order.  fetch.c and fetch_job.c have what happens at an SQE's
 * fetch, start.c starts ready jobs, reactor_idle.c and reactor_rings.c have what happens when there
 * is no work.
 */
#include "reactor.h"

#include <errno.h>

#include "backend/backend.h"
#include "backend/cpu/backend_cpu.h"
#include "base/tsc.h"
#include "fetch.h"
#include "job/completion.h"
#include "job/hold.h"
#include "job/sched.h"
#include "memory/memory.h"
#include "memory/sigbus_guard.h"
#include "reactor_bells.h"
#include "reactor_deadlines.h"
#include "reactor_idle.h"
#include "reactor_mail.h"
#include "reactor_rings.h"
#include "session/run_queue.h"
#include "start.h"

/* The session's counters have changed and must be published. */
static inline void note_change(struct reactor *r, struct session *s)
{
	if (!s->counters_current)
		return;
	s->counters_current = false;
	LINKS_ADD(&r->stale, s, stale);
}

void reactor_attend(struct reactor *r, struct session *s)
{
	assert_owner(r, s);
	run_queue_add(&reactor_tenant(r, s)->turns[TURN_START], TURN_START, s);
	note_change(r, s);
	if (__builtin_expect(s->leaving, 0))
		reactor_look(r, s);
}

/* ---- complete ---- */

void reactor_touch(struct reactor *r, struct ring *ring)
{
	if (ring->dirty && !ring->queued) {
		ring->queued = true;
		ring->next_dirty = r->dirty;
		r->dirty = ring;
	}
}

static void flush(struct reactor *r)
{
	struct ring *next;

	for (struct ring *ring = r->dirty; ring; ring = next) {
		next = ring->next_dirty;
		ring->queued = false;
		if (ring->dirty) /* it may have been flushed alone */
			completion_flush(ring);
	}
	r->dirty = NULL;
}

void reactor_end_job(struct reactor *r, struct session *s, struct job *job, int32_t res)
{
	struct ring *ring = s->rings[job->ring];
	uint64_t now = tsc_now();

	assert_owner(r, s);
	reactor_attend(r, s);
	reactor_unstall_all(r, s);
	job_end(s, job, res, now, sched_push);
	depth_leave(&r->open, now);
	reactor_touch(r, ring);
}

void reactor_leave_hold(struct reactor *r, struct session *s, struct job *job)
{
	struct ring *ring = s->rings[job->ring];

	reactor_attend(r, s);
	hold_grant(s, job, job->end, sched_push);
	depth_leave(&r->open, job->end);
	reactor_unstall(r, ring); /* it may release the tensor behind SQEs that wait for that */
	reactor_touch(r, ring);
}

/* ---- charging time ---- */

static void settle(struct reactor *r, uint64_t now)
{
	if (r->payer) {
		r->payer->core_ticks += now - r->charged;
		tenant_charge(reactor_tenant(r, r->payer), now - r->charged);
	}
	r->charged = now;
}

/* Read the clock only when the payer changes; one that is alone pays at the end of the pass. */
static inline void change_payer(struct reactor *r, struct session *s)
{
	if (r->payer == s)
		return;
	if (r->payer)
		settle(r, tsc_now());
	r->payer = s;
	if (!s->published) /* a session with tiles waits for workers, not for us */
		weight_note(&r->port->served, s->id, r->now, r->note_ticks);
}

void reactor_charge(struct reactor *r, struct session *s)
{
	change_payer(r, s);
	reactor_attend(r, s);
}

void reactor_charge_only(struct reactor *r, struct session *s)
{
	change_payer(r, s);
	note_change(r, s);
}

void reactor_bill(struct reactor *r, struct session *s, uint64_t ticks)
{
	s->core_ticks += ticks;
	tenant_charge(reactor_tenant(r, s), ticks);
	r->count[QUOIT_REACTOR_WORK_TICKS] += ticks;
}

void reactor_discharge(struct reactor *r, const struct session *s)
{
	if (r->payer != s)
		return;
	settle(r, tsc_now());
	r->payer = NULL;
}

bool reactor_turn_is_over(struct reactor *r, const struct tenant *t)
{
	if (r->tenancy.count == 1)
		return false;
	settle(r, tsc_now());
	return tenancy_turn_is_over(&r->tenancy, t);
}

/* Start a pass at the end of the last one: reading the clock takes as long as many a job. */
static void begin_pass(struct reactor *r)
{
	r->now = r->charged = r->last_pass_end ? r->last_pass_end : tsc_now();
	r->last_pass_end = 0;
	r->single_answered = false;
	r->payer = NULL;
	tenancy_begin(&r->tenancy);
}

static void end_pass(struct reactor *r)
{
	uint64_t now = tsc_now();

	r->count[QUOIT_REACTOR_WORK_TICKS] += now - r->now;
	depth_blink(&r->open, r->now, now);
	settle(r, now);
	r->last_pass_end = now;
}

/* Run one stage of a pass for all users that may have something to do; true: something was done. */
static inline bool for_tenants(struct reactor *r, bool (*stage)(struct reactor *, struct tenant *))
{
	struct tenancy *all = &r->tenancy;
	struct tenant *t = all->first;
	bool any = false;

	if (!t)
		return false;
	do {
		if (tenancy_admits(all, t)) {
			tenancy_give_turn(all, t);
			any |= stage(r, t);
		}
		t = t->next;
	} while (t != all->first);
	all->served |= any;
	return any;
}

/* ---- fetch ---- */

static bool fetch(struct reactor *r, struct tenant *t)
{
	bool any = false, one, over = false;

	for (uint32_t n = t->ring_count; n && !over; n--) {
		struct ring *ring = t->rings;

		t->rings = ring->next;
		one = reactor_fetches(ring) && fetch_ring(r, ring);
		any |= one;
		if (ring->dirty && !ring->queued)
			completion_flush(ring); /* its client waits for nothing else */
		else if (ring->dirty)
			flush(r);
		over = one && n > 1 && reactor_turn_is_over(r, t);
	}
	return any;
}

/* ---- answers of backends and of our own threads ---- */

static bool collect(struct reactor *r)
{
	const struct memory_message *m;
	bool any = backends_poll(r);

	while (r->requests_open && (m = memory_next_answer(r->memory)) != NULL) {
		reactor_charge(r, m->session);
		reactor_unstall_all(r, m->session);
		r->requests_open--;
		reactor_tenant(r, m->session)->requests_open--;
		memory_answer(m->session, m, sched_push);
		m->session->may_follow = true;
		memory_answer_done(r->memory);
		any = true;
	}
	any |= reactor_bells_answers(r);
	return any;
}

/* ---- the loop ---- */

bool reactor_pass(struct reactor *r)
{
	bool work = false;

	begin_pass(r);
	/* First, since what was posted since the last pass waits for nothing else. */
	work |= for_tenants(r, fetch);
	work |= reactor_mail(r);
	work |= collect(r);
	work |= for_tenants(r, start_ready);
	work |= tenancy_end(&r->tenancy);
	backends_submit(r);
	reactor_expire(r);
	flush(r);
	backends_wake(r);
	if (work)
		end_pass(r);
	return work;
}

_Thread_local const struct reactor *reactor_here;

static void *reactor_run(void *arg)
{
	struct reactor *r = arg;

	reactor_here = r;
	reactor_settle(r);
	sem_post(r->settled);
	sigbus_guard_rings(r->rings, &r->ring_count);
	while (!__atomic_load_n(&r->stop, __ATOMIC_RELAXED))
		reactor_idle(r, reactor_pass(r));
	return NULL;
}

int reactor_start(struct reactor *r)
{
	int err = reactor_idle_init(r);
	sem_t settled;

	if (err < 0)
		return err;
	(void)sem_init(&settled, 0, 0);
	r->settled = &settled;
	err = -pthread_create(&r->thread, NULL, reactor_run, r);
	while (!err && sem_wait(&settled) < 0)
		; /* a signal interrupted the wait */
	(void)sem_destroy(&settled);
	return err;
}

void reactor_stop(struct reactor *r)
{
	__atomic_store_n(&r->stop, 1, __ATOMIC_RELAXED);
	reactor_wake(r);
	pthread_join(r->thread, NULL);
	reactor_idle_done(r);
}
