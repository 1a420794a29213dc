/* SPDX-License-Identifier: MIT */
/* worker.c - a thread that claims tiles of published works */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/affinity.h"
#include "base/hang_injection.h"
#include "base/log.h"
#include "base/tsc.h"
#include "memory/sigbus_guard.h"
#include "worker_private.h"

/*
 * A work's turn is over when all cores together have spent this part of a second on it.  Then other
 * works of its session come first, so that a short work is done soon beside long ones.
 */
#define WORKER_TURNS_PER_SECOND 50u

/* A share lasts no longer than this and a tile, so that its time is reported as it is spent. */
#define SHARES_PER_SECOND 20000u

/* ---- the last tile ---- */

static void report(struct workers *w, uint32_t reactor, uint32_t slot, uint32_t worker)
{
	struct worker_done *d = &w->port[reactor].done[worker];
	uint32_t i;

	if (!quoit_ring_reserve(&d->producer, &i))
		return; /* cannot be full: as many entries as slots */
	d->slot[i % WORKER_SLOTS] = slot;
	if (quoit_ring_submit_wake(&d->producer, w->config.owners[reactor].need_wake)) {
		uint64_t one = 1;
		ssize_t n = write(w->config.owners[reactor].eventfd, &one, sizeof one);

		(void)n;
	}
}

/* Before the owner hears of it, since it may have to wake up first. */
static void offer_next(struct workers *w, struct work *work, uint32_t reactor)
{
	bool good = !atomic_load(&work->abandoned) && !atomic_load(&work->args.error) &&
		    !sigbus_guard_may_have_hit(work->session);
	uint32_t next = atomic_exchange(&work->next, good ? WORK_GOES_ON : WORK_STOPS);

	if (!good || next >= WORKER_SLOTS)
		return;
	work_begin(w, &w->port[reactor].work[next], reactor);
	workers_ring(w);
}

/* The last tile is done: after clearing, offer the tiles that compute; else tell the owner. */
static void end_tiles(struct workers *w, struct work *work, uint32_t reactor, uint32_t slot,
		      uint32_t worker)
{
	if (atomic_load(&work->clearing)) {
		atomic_store(&work->clearing, false);
		work_offer(work, work_compute_tiles(w, work, reactor));
		workers_ring(w);
		return;
	}
	if (work->impl->finish && !atomic_load(&work->abandoned))
		work->impl->finish(&work->args);
	atomic_store(&work->ended, tsc_now());
	offer_next(w, work, reactor);
	report(w, reactor, slot, worker);
}

/* ---- choosing ---- */

struct choice {
	struct work *work;
	uint32_t reactor, slot;
	int64_t user, session; /* lead over others in CPU time; the least is next */
	uint64_t order;
};

static bool claimable(const struct work *work)
{
	uint64_t claim = atomic_load_explicit(&work->claim, memory_order_acquire);

	return (uint32_t)claim < claim >> 32;
}

bool worker_takes_from(const struct worker *me, uint32_t reactor)
{
	const struct worker_config *c = &me->all->config;

	return me->anywhere || c->seats[me->index].node == c->owners[reactor].node;
}

static struct choice weigh(struct worker_port *port, uint32_t reactor, uint32_t slot)
{
	struct work *work = &port->work[slot];
	struct ledger *l = port->ledger;
	uint32_t user = atomic_load_explicit(&work->user, memory_order_relaxed);
	uint32_t flow = atomic_load_explicit(&work->flow, memory_order_relaxed);

	return (struct choice){.work = work,
			       .reactor = reactor,
			       .slot = slot,
			       .user = ledger_lead(&l->user[user].page, &l->clock),
			       .session = ledger_lead(&port->flow[flow].page, &l->user[user].clock),
			       .order = atomic_load_explicit(&work->order, memory_order_relaxed)};
}

static bool is_before(const struct choice *a, const struct choice *b)
{
	if (a->user != b->user)
		return a->user < b->user;
	if (a->session != b->session)
		return a->session < b->session;
	return a->order < b->order;
}

static void note_choice(struct worker_port *port, const struct work *work)
{
	struct ledger *l = port->ledger;
	uint32_t user = work->user;

	ledger_choose(&l->user[user].page, &l->clock);
	ledger_choose(&port->flow[work->flow].page, &l->user[user].clock);
}

/*
 * Choose the next work with tiles left: the user that has had the least time, of its sessions the
 * one that has, of its works the oldest.  Priorities need no look: the session heeded them when it
 * published its few works.  A slot may be filled anew while it is read; then the choice is not the
 * best, but the claim is still valid.
 */
static bool choose(const struct worker *me, struct choice *best)
{
	struct workers *w = me->all;

	best->work = NULL;
	for (uint32_t r = 0; r < w->config.reactors; r++) {
		if (!worker_takes_from(me, r))
			continue;
		for (uint64_t left = atomic_load_explicit(&w->port[r].used, memory_order_acquire);
		     left; left &= left - 1) {
			uint32_t i = (uint32_t)__builtin_ctzll(left);
			struct choice c;

			if (!claimable(&w->port[r].work[i]))
				continue;
			c = weigh(&w->port[r], r, i);
			if (!best->work || is_before(&c, best))
				*best = c;
		}
	}
	return best->work != NULL;
}

/* ---- shares ---- */

/* Count a tile by its wall-clock time. */
static void count_time(struct worker *me, uint64_t ticks)
{
	uint64_t *count = &me->all->times[me->index][quoit_latency_bucket(ticks)];

	__atomic_store_n(count, *count + 1, __ATOMIC_RELAXED);
}

/* Charge a share's ticks; at the end of its turn a work goes behind all others. */
static void count_ticks(struct worker *me, struct work *work, uint64_t ticks)
{
	uint64_t turn = tsc_hz() / WORKER_TURNS_PER_SECOND;
	uint64_t before = atomic_fetch_add_explicit(&work->ticks, ticks, memory_order_relaxed);
	struct worker_port *port = &me->all->port[me->share.reactor];

	/* in this order, workers_count never counts a share twice */
	__atomic_store_n(&me->since, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&me->ticks, me->ticks + ticks, __ATOMIC_RELEASE);
	__atomic_store_n(&me->tiles, me->tiles + me->share.tiles,
			 __ATOMIC_RELEASE); /* publishes their times, too */
	ledger_count(&port->ledger->user[work->user].page, (int64_t)ticks, work->share);
	ledger_count(&port->flow[work->flow].page, (int64_t)ticks, SHARE_NORMAL);
	if (before / turn != (before + ticks) / turn)
		atomic_store_explicit(&work->order, atomic_fetch_add(&me->all->order, 1),
				      memory_order_relaxed);
}

/* ---- a share ---- */

/*
 * A share costs the CPU time of this thread, since a reactor or another program may take the core
 * in the middle of a tile.  Reading that clock is a system call, a tenth of a small tile's time, so
 * it is read once for a share.  Until then its tiles count as left: when the work's end is
 * reported, all that it has cost is charged to it.
 */
static void begin_share(struct worker *me, const struct choice *c)
{
	uint64_t none = 0;

	if (!me->read) {
		me->read = worker_cpu_ns(CLOCK_THREAD_CPUTIME_ID);
		me->reactor_read = worker_reactor_ns(me);
	}
	me->share = (struct share){
		.work = c->work, .reactor = c->reactor, .slot = c->slot, .start = tsc_now()};
	__atomic_store_n(&me->since, me->read * WORKER_THREADS + worker_turn(me), __ATOMIC_RELEASE);
	atomic_compare_exchange_strong(&c->work->started, &none, me->share.start);
}

/* End the share; false: none was begun. */
static bool end_share(struct worker *me)
{
	struct share *s = &me->share;
	struct work *work = s->work;
	struct session *outer;
	uint64_t before = me->read;

	if (!work)
		return false;
	me->read = worker_cpu_ns(CLOCK_THREAD_CPUTIME_ID);
	worker_count_weight(me, me->read - before);
	count_ticks(me, work, tsc_from_ns(me->read - before));
	s->work = NULL;
	outer = sigbus_guard_enter(work->session);
	if (atomic_fetch_sub(&work->left, s->tiles) == s->tiles)
		end_tiles(me->all, work, s->reactor, s->slot, me->index);
	sigbus_guard_leave(outer);
	return true;
}

static void run_tile(struct worker *me, uint32_t tile, uint32_t tiles)
{
	struct work *work = me->share.work;
	struct session *outer = sigbus_guard_enter(work->session);
	uint64_t start = tsc_now();

	hang_in_tile();
	if (!atomic_load_explicit(&work->abandoned, memory_order_relaxed)) {
		if (atomic_load_explicit(&work->clearing, memory_order_relaxed))
			work_clear_tile(work, tile);
		else
			work->impl->run(&work->args, tile, tiles);
	}
	sigbus_guard_leave(outer);
	count_time(me, tsc_now() - start);
	me->share.tiles++;
}

static bool run_one(struct worker *me)
{
	struct workers *w = me->all;
	struct choice c;
	uint64_t claim;

	if (!choose(me, &c)) {
		worker_learn_rest(me, false);
		return end_share(me); /* after this there may be more to claim */
	}
	if (me->share.work != c.work &&
	    worker_wanted_turn(me, c.work, c.reactor) != worker_turn(me)) {
		end_share(me);
		worker_learn_rest(me, true);
		/* Behind this the other thread may change everything in `me`. */
		worker_pass_turn(me);
		return true;
	}
	/* One counter holds both the number of tiles and the next one, so a claim on a slot that
	 * was filled anew in between is a valid claim on the new work. */
	claim = atomic_fetch_add_explicit(&c.work->claim, 1, memory_order_acq_rel);
	worker_learn_rest(me, (uint32_t)claim < claim >> 32);
	if ((uint32_t)claim < claim >> 32) {
		if (me->share.work != c.work) {
			end_share(me);
			begin_share(me, &c);
			note_choice(&w->port[c.reactor], c.work);
		}
		run_tile(me, (uint32_t)claim, (uint32_t)(claim >> 32));
	}
	if (me->share.work && (!claimable(me->share.work) ||
			       tsc_now() - me->share.start > tsc_hz() / SHARES_PER_SECOND))
		end_share(me);
	return true;
}

/* ---- the thread ---- */

static const char *const names[WORKER_THREADS] = {"work", "equal"};

/* Set the thread's weight by its nice value.  0 or -errno. */
static int weigh_down(const struct worker *me, unsigned which)
{
	uint32_t nice = me->all->config.nice;

	if (nice)
		return affinity_give_way((int)nice);
	return which == WORKER_BACKGROUND ? affinity_give_way(AFFINITY_BACKGROUND_NICE)
					  : (affinity_set_long_slice(), 0);
}

static void place(struct worker *me, unsigned which)
{
	char name[16];
	int err;

	/* The first: the watchdog looks at it, and a background thread may get no core for long. */
	__atomic_store_n(&me->thread[which].tid, gettid(), __ATOMIC_RELAXED);
	err = affinity_pin_thread(me->cpu);
	if (err < 0)
		log_info("worker %u is not pinned to CPU %u: %s", me->index, me->cpu,
			 strerror(-err));
	err = weigh_down(me, which);
	if (err < 0)
		log_info("worker %u keeps its nice value: %s", me->index, strerror(-err));
	snprintf(name, sizeof name, "quoit-%s-%u", names[which], me->index);
	(void)pthread_setname_np(pthread_self(), name);
}

void *worker_run(void *arg)
{
	struct worker_thread *thread = arg;
	struct worker *me = thread->worker;
	struct workers *w = me->all;
	unsigned which = (unsigned)(thread - me->thread);

	place(me, which);
	/*
	 * Before its first share, since the watchdog reads that one's clock.  Own threads have one.
	 */
	(void)pthread_getcpuclockid(pthread_self(), &thread->clock);
	while (!worker_is_over(me, which)) {
		uint32_t seen;

		if (!worker_has_turn(me, which))
			continue;
		__atomic_store_n(&me->looks, me->looks + 1, __ATOMIC_RELAXED);
		seen = atomic_load(&w->bell);
		if (run_one(me) || worker_spin(me, seen))
			continue;
		atomic_fetch_add(&w->sleepers, 1);
		seen = atomic_load(&w->bell);
		if (!run_one(me) && !atomic_load(&w->stop))
			worker_sleep(me, seen);
		atomic_fetch_sub(&w->sleepers, 1);
	}
	return NULL;
}
