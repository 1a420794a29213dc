/* SPDX-License-Identifier: MIT */
/*
 * worker_rest.c - what a worker does while there is nothing to claim: it spins, then it sleeps.
 *
 * Works that wait for each other follow within microseconds, but in a virtual machine a sleeping
 * CPU takes 10 to 20 us to come back.  So a worker spins where that has lately paid off, but not
 * where another program computes on its core.  There, a worker that wakes gets the core from that
 * program at once.
 */
#include <quoit/pause.h>

#include "host/tsc.h"
#include "worker_private.h"

#define SPIN_MOST_NS 50000u

bool worker_spin(struct worker *me, uint32_t seen)
{
	const struct workers *w = me->all;
	uint64_t start = tsc_now();

	if (!me->spin_ticks || start < me->weight.contested_until)
		return false;
	me->read = 0; /* resting does not count for the next share */
	while (tsc_now() - start < me->spin_ticks && !atomic_load(&w->stop)) {
		if (atomic_load_explicit(&w->bell, memory_order_acquire) != seen)
			return true;
		quoit_pause();
	}
	return false;
}

void worker_learn_rest(struct worker *me, uint64_t slept)
{
	uint64_t most = tsc_from_ns(SPIN_MOST_NS);

	/* A short sleep: spinning would have spared it.  A longer one: spinning was wasted. */
	me->spin_ticks = slept < most ? most : me->spin_ticks / 2;
}

void worker_sleep(struct worker *me, uint32_t seen)
{
	uint64_t start = tsc_now();

	workers_wait(me->all, seen);
	worker_learn_rest(me, tsc_now() - start);
	me->read = 0;
}
