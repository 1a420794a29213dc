/* SPDX-License-Identifier: MIT */
/* reactor_idle.c - spinning, sleeping, and periodic chores */
#include "reactor_idle.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <quoit/pause.h>

#include "backend/backend.h"
#include "backend/cpu/worker.h"
#include "backend/executor/backend_exec.h"
#include "backend/file/backend_io.h"
#include "base/affinity.h"
#include "base/log.h"
#include "base/tsc.h"
#include "bells.h"
#include "fair/slot_quota.h"
#include "job/record.h"
#include "memory/memory.h"
#include "memory/sigbus_guard.h"
#include "reactor_rings.h"
#include "reactor_stats.h"

/*
 * Close looks at the only polled ring: so many looks between two passes, and so many waits for
 * loads before each.  The first look after an answer waits longer: its client reads the answer,
 * writes the next SQE, and should get the cache line first.  Measured on a Zen 4, where a wait
 * takes 5 ns.
 */
#define CLOSE_LOOKS       8u
#define CLOSE_WAITS       2u
#define CLOSE_WAITS_FIRST 4u

#define SPIN_FIRST_NS      2000u
#define SPIN_MOST_NS       100000u
#define SPIN_WITH_TILES_NS 1000u
#define SPIN_FAST_NS       1000u   /* by then a client that waits for each answer has sent a job */
#define CHORES_NS          10000u  /* least pause between two rounds of chores while awake */
#define CHORES_PART        16u     /* added to that pause: so many times what the chores took */
#define CHORES_MOST_NS     200000u /* longest pause: clients of idle rings wait for it */
#define TRIM_NS            1000000000u
#define BUSY_SHARE_NS      500000u /* a busy reactor naps for tiles after so long, for so long */
#define SLEEP_MOST_NS      1000000000u
#define NOTES_AT_ONCE      1024u

int reactor_idle_init(struct reactor *r)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};

	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll < 0)
		return -errno;
	if (epoll_ctl(r->epoll, EPOLL_CTL_ADD, r->eventfd, &event) < 0)
		return -errno;
	if (io_fd(r->io) >= 0 && epoll_ctl(r->epoll, EPOLL_CTL_ADD, io_fd(r->io), &event) < 0)
		return -errno;
	r->note_ticks = tsc_from_ns(WEIGHT_NOTE_NS);
	r->spin_ticks = tsc_from_ns(SPIN_FIRST_NS);
	r->spin_fast = tsc_from_ns(SPIN_FAST_NS);
	r->spin_with_tiles = tsc_from_ns(SPIN_WITH_TILES_NS);
	r->spin_most = tsc_from_ns(SPIN_MOST_NS);
	return 0;
}

void reactor_idle_done(struct reactor *r)
{
	close(r->epoll);
}

void reactor_settle(struct reactor *r)
{
	char name[16];
	clockid_t clock;
	int err = affinity_pin_thread(r->cpu);

	if (err < 0)
		log_info("reactor %u is not pinned to CPU %u: %s", r->index, r->cpu,
			 strerror(-err));
	r->is_pinned = !err;
	snprintf(name, sizeof name, "quoit-react-%u", r->index);
	(void)pthread_setname_np(pthread_self(), name);
	__atomic_store_n(&r->tid, gettid(), __ATOMIC_RELAXED);
	if (!pthread_getcpuclockid(pthread_self(), &clock))
		__atomic_store_n(&r->clock, clock, __ATOMIC_RELAXED);
	tenancy_init(&r->tenancy, tsc_from_ns(TENANT_ROUND_NS), tsc_from_ns(TENANT_TURN_NS));
	r->now = r->last_work = r->awake_since = tsc_now();
	r->next_deadline = UINT64_MAX;
}

/* ---- publishing counters, taking notes for traces ---- */

/* Look for sessions whose memory has vanished although nothing was done for them. */
static void attend_hit(struct reactor *r)
{
	for_each_session (s, r->sessions, at_reactor)
		if (sigbus_guard_has_hit(s) && !s->stopped)
			reactor_attend(r, s);
}

static void tell_totals(struct reactor *r)
{
	attend_hit(r);
	reactor_stats_totals(r);
}

/* Notes for traces are limited to one a microsecond, because they cost other sessions' time. */
static void record_sessions(struct reactor *r)
{
	uint64_t notes = r->notes + tsc_to_ns(r->now - r->noted) / 1000;

	if (notes == r->notes || !r->recorded)
		return;
	r->notes = notes < NOTES_AT_ONCE ? (uint32_t)notes : NOTES_AT_ONCE;
	r->noted = r->now;
	for_each_session (s, r->recorded, recorded)
		reactor_bill(r, s, record_tick(s, r->now, &r->notes));
}

/* ---- sleep ---- */

/* Raise the flag of each way in which work can arrive, and look once more; true: nothing came. */
static bool may_sleep(struct reactor *r)
{
	bool idle = reactor_rings_may_sleep(r);

	idle &= mailbox_sleep(&r->inbox);
	idle &= quoit_ring_sleep(&r->memory->from_thread, &r->need_wake);
	idle &= bells_may_sleep(r->bells);
	for_each_backend (b)
		idle &= !(*b)->may_sleep || (*b)->may_sleep(r);
	return idle && !r->backlog_count && !r->leaves;
}

static uint64_t sleep_timeout(struct reactor *r)
{
	uint64_t timeout = SLEEP_MOST_NS, stall = reactor_stall_timeout(r);
	uint64_t totals = reactor_stats_timeout(r);

	if (timeout > stall)
		timeout = stall;
	for_each_backend (b) {
		uint64_t most = (*b)->sleep_ns ? (*b)->sleep_ns(r) : UINT64_MAX;

		timeout = most < timeout ? most : timeout;
	}
	if (timeout > totals)
		timeout = totals;
	if (r->lingers && timeout > EXEC_LEAVE_NS)
		timeout = EXEC_LEAVE_NS;
	if (r->recorded && timeout > RECORD_SLEEP_NS)
		timeout = RECORD_SLEEP_NS;
	if (r->next_deadline != UINT64_MAX) {
		uint64_t t = r->next_deadline > r->now ? tsc_to_ns(r->next_deadline - r->now) : 0;

		timeout = t < timeout ? t : timeout;
	}
	return timeout;
}

static void sleep_now(struct reactor *r)
{
	uint64_t before = r->now, slept;

	reactor_stats_sessions(r, reactor_stats_are_due(r));
	record_sessions(r);
	if (reactor_stats_are_due(r))
		tell_totals(r);
	if (may_sleep(r)) {
		r->count[QUOIT_REACTOR_SLEEPS]++;
		r->count[QUOIT_REACTOR_POLL_TICKS] += tsc_now() - r->last_work;
		reactor_poll(r, sleep_timeout(r));
		slept = tsc_to_ns(r->now - before);
		/* A short sleep: spinning that long would have spared it.  After a long one,
		 * spinning was wasted. */
		if (slept < SPIN_MOST_NS)
			r->spin_ticks = r->spin_ticks * 2 + (r->now - before);
		else if (slept > 20 * SPIN_MOST_NS &&
			 !reactor_computes(r)) /* else it woke for the totals */
			r->spin_ticks /= 2;
		if (r->spin_ticks > r->spin_most)
			r->spin_ticks = r->spin_most;
	}
	quoit_ring_awake(&r->need_wake);
	for_each_backend (b)
		if ((*b)->awake)
			(*b)->awake(r);
	reactor_look_at_stalled(r);
	r->awake_since = r->last_work = tsc_now();
}

/* ---- every pass ---- */

static void watch_memory(struct session *s)
{
	memory_trim(s);
	if (s->leaving) /* whatever it waits for */
		reactor_look(s->reactor, s);
}

static void chores(struct reactor *r)
{
	uint64_t begun = tsc_now(), ended, pause; /* the pass before it does not count */

	reactor_scan_rings(r);
	reactor_look_at_stalled(r);
	record_sessions(r);
	reactor_sample_rings(r);
	if (r->polled_count > 1)
		reactor_retire_rings(r);
	if (reactor_stats_are_due(r)) {
		reactor_stats_sessions(r, true);
		tell_totals(r);
		reactor_poll(r, 0); /* sockets that rang although we were awake, or hung up */
	}
	if (r->now - r->last_trim > tsc_from_ns(TRIM_NS)) {
		r->last_trim = r->now;
		for_each_session (s, r->sessions, at_reactor)
			watch_memory(s);
	}
	ended = tsc_now();
	pause = tsc_from_ns(CHORES_NS) + CHORES_PART * (ended - begun);
	if (pause > tsc_from_ns(CHORES_MOST_NS))
		pause = tsc_from_ns(CHORES_MOST_NS);
	r->next_chores = ended + pause;
	/*
	 * Chores are charged to no session, and no pass starts earlier than what was found here.
	 * After a pass without work, r->last_pass_end stays 0: the reactor may sleep, and the next
	 * pass reads the clock.
	 */
	if (r->last_pass_end)
		r->last_pass_end = ended;
}

static void send_backlog(struct reactor *r)
{
	while (r->backlog_count &&
	       memory_send(r->memory, &r->backlog[r->backlog_head % MEMORY_OPEN])) {
		r->backlog_head++;
		r->backlog_count--;
	}
}

/* An endless stream of small jobs must not starve the tiles on this core. */
static void share_core(struct reactor *r)
{
	struct timespec nap = {.tv_nsec = BUSY_SHARE_NS};

	if (!r->port->published || r->now - r->awake_since < tsc_from_ns(BUSY_SHARE_NS))
		return;
	nanosleep(&nap, NULL);
	r->awake_since = tsc_now();
	r->last_pass_end = 0;
}

/*
 * Look at the only polled ring between two passes, while nothing else can arrive: by a whole pass
 * the next SQE would be seen late.  Wait a little between looks, or they would take the cache line
 * from the client that is about to write it.
 */
static void look_closely(const struct reactor *r, unsigned waits)
{
	const struct ring *ring = r->rings[0];

	for (unsigned i = 0; i < CLOSE_LOOKS; i++) {
		quoit_await_loads(waits);
		if (QUOIT_RING_TAIL(&ring->sq, QUOIT_RING_RELAXED) != ring->sq.next)
			return;
		waits = CLOSE_WAITS;
	}
}

/* Does the client say that it cannot run while we spin?  If it lies, it harms only itself: no other
 * ring is polled. */
static bool shares_cpu(const struct ring *ring)
{
	return __atomic_load_n(&ring->client->shares_cpu, __ATOMIC_RELAXED);
}

/* Spin once more, as something may come soon; false: we have spun for long enough. */
static bool spin(struct reactor *r)
{
	uint64_t idle = r->now - r->last_work;

	if (idle >= (r->port->published ? r->spin_with_tiles : r->spin_ticks))
		return false;
	if (r->polled_count == 1 && shares_cpu(r->rings[0]))
		return false;
	if (idle > r->spin_fast)
		quoit_pause();
	else if (r->polled_count == 1 && !r->open.now)
		look_closely(r, CLOSE_WAITS);
	else
		quoit_await_loads(1);
	return true;
}

void reactor_idle(struct reactor *r, bool work)
{
	uint64_t gap = r->now - r->last_pass;

	if (work && r->counters_current)
		reactor_stats_begin(r);
	if (r->now >= r->next_chores)
		chores(r);
	send_backlog(r);
	r->last_pass = r->now;
	r->count[QUOIT_REACTOR_LOOPS]++;
	__atomic_store_n(&r->passes, r->count[QUOIT_REACTOR_LOOPS], __ATOMIC_RELAXED);
	if (work) {
		r->last_work = r->now;
		share_core(r);
		if (r->single_answered && r->polled_count == 1)
			look_closely(r, CLOSE_WAITS_FIRST);
		return;
	}
	if (gap > r->spin_most) /* another thread had the core: it is not idle */
		r->spin_ticks /= 2;
	if (!spin(r))
		sleep_now(r);
}

bool reactor_send_memory(struct reactor *r, const struct memory_message *m)
{
	struct tenant *t = &m->session->user->tenant[r->index];

	assert_owner(r, m->session);
	if (!slot_quota_admits(MEMORY_OPEN, MEMORY_OPEN - r->requests_open, t->requests_open,
			       m->session->requests))
		return false;
	if (r->backlog_count || !memory_send(r->memory, m))
		r->backlog[(r->backlog_head + r->backlog_count++) % MEMORY_OPEN] = *m;
	r->requests_open++;
	t->requests_open++;
	return true;
}
