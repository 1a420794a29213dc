/* SPDX-License-Identifier: MIT */
/*
 * worker_rest.c - what a worker does while there is nothing to claim: it spins for a moment, then
 * it sleeps.
 *
 * Works that wait for each other follow within microseconds, and a CPU that has gone to sleep takes
 * ten to twenty to come back, in a virtual machine.  So a worker spins where that has lately paid
 * off: where it slept for less than SPIN_MOST_NS, and then found a tile.  A bell that brought tiles
 * for other workers alone makes it spin for a quarter of the time, so that only those spin that work.
 *
 * It does not spin where another thread wants its core.  The background thread loses the core to
 * whatever wakes there.  The equal one does not, so it never spins on a reactor's core.
 */
#include <quoit/pause.h>

#include "base/tsc.h"
#include "worker_private.h"

#define SPIN_MOST_NS 50000u

/*
 * Two looks at the bell are not so far apart, unless another thread had the core meanwhile.  Then
 * the worker does not spin for a ban, which doubles each time, from the least to the most.  Each
 * spin that pays off takes an eighth from the next ban.  So where one thread wakes now and then (a
 * client that takes results, the host of a virtual machine) nearly all spins go on, and a busy core
 * sees hardly any.
 */
#define GAP_NS       20000u
#define LEAST_BAN_NS 500000u
#define MOST_BAN_NS  100000000u

static bool may_spin(const struct worker *me, uint64_t now)
{
	bool reactors = me->reactor < me->all->config.reactors;

	return me->rest.spin_ticks && now >= me->rest.no_spin_until &&
	       now >= me->weight.contested_until && !(reactors && worker_turn(me) == WORKER_EQUAL);
}

void worker_lost_core(struct worker *me, uint64_t now)
{
	struct worker_rest *rest = &me->rest;
	const uint64_t least = tsc_from_ns(LEAST_BAN_NS), most = tsc_from_ns(MOST_BAN_NS);

	rest->ban_ticks *= 2;
	if (rest->ban_ticks < least)
		rest->ban_ticks = least;
	if (rest->ban_ticks > most)
		rest->ban_ticks = most;
	rest->no_spin_until = now + rest->ban_ticks;
}

bool worker_spin(struct worker *me, uint32_t seen)
{
	const struct workers *w = me->all;
	const uint64_t start = tsc_now(), gap = tsc_from_ns(GAP_NS);

	if (!may_spin(me, start))
		return false;
	me->read = 0; /* to rest is no part of what comes next */
	for (uint64_t last = start, now; !atomic_load(&w->stop); last = now) {
		if (atomic_load_explicit(&w->bell, memory_order_acquire) != seen) {
			me->rest.spun = true;
			me->rest.ban_ticks -= me->rest.ban_ticks / 8;
			return true;
		}
		quoit_pause();
		now = tsc_now();
		if (now - last > gap) {
			worker_lost_core(me, now);
			break;
		}
		if (now - start >= me->rest.spin_ticks)
			break;
	}
	return false;
}

void worker_learn_rest(struct worker *me, bool found)
{
	struct worker_rest *rest = &me->rest;
	const uint64_t most = tsc_from_ns(SPIN_MOST_NS);

	if (!rest->spun && !rest->slept_ticks)
		return;
	if (!found)
		rest->spin_ticks /= 4;
	else if (rest->slept_ticks) /* spinning for most of the time would have spared the sleep */
		rest->spin_ticks = rest->slept_ticks < most ? most : rest->spin_ticks / 2;
	rest->spun = false;
	rest->slept_ticks = 0;
}

void worker_sleep(struct worker *me, uint32_t seen)
{
	uint64_t start = tsc_now();

	workers_wait(me->all, seen);
	me->rest.slept_ticks = tsc_now() - start + 1;
	me->read = 0;
}
