/* SPDX-License-Identifier: MIT */
/* worker_turn.c - which of a worker's two threads works */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/tsc.h"
#include "worker_private.h"

uint64_t worker_cpu_ns(clockid_t clock)
{
	struct timespec t;

	return clock_gettime(clock, &t) < 0
		       ? 0
		       : (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

unsigned worker_turn(const struct worker *me)
{
	return atomic_load_explicit(&me->turn, memory_order_relaxed) % WORKER_THREADS;
}

uint64_t worker_reactor_ns(const struct worker *me)
{
	const struct worker_config *c = &me->all->config;
	clockid_t clock = me->reactor < c->reactors
				  ? __atomic_load_n(c->owners[me->reactor].clock, __ATOMIC_RELAXED)
				  : 0;

	return clock ? worker_cpu_ns(clock) : 0;
}

void worker_count_weight(struct worker *me, uint64_t cpu_ns)
{
	uint64_t now = tsc_now(), wall = tsc_to_ns(now - me->share.start);
	uint64_t before = me->reactor_read, reactor;

	me->reactor_read = worker_reactor_ns(me);
	reactor = me->reactor_read - before;
	weight_count(&me->weight, wall > reactor ? wall - reactor : 0, cpu_ns,
		     worker_turn(me) == WORKER_BACKGROUND, now);
}

unsigned worker_wanted_turn(struct worker *me, const struct work *work, uint32_t publisher)
{
	const struct workers *w = me->all;
	uint32_t reactor = me->reactor < w->config.reactors ? me->reactor : publisher;

	if (!atomic_load_explicit(&w->both, memory_order_acquire))
		return WORKER_BACKGROUND;
	return weight_gives_way(&me->weight, &w->port[reactor].served, work->session_id, tsc_now())
		       ? WORKER_BACKGROUND
		       : WORKER_EQUAL;
}

static void wake_both(struct worker *me)
{
	(void)syscall(SYS_futex, &me->turn, FUTEX_WAKE_PRIVATE, WORKER_THREADS, NULL, NULL, 0);
}

void worker_pass_turn(struct worker *me)
{
	me->read = 0; /* it was read from this thread's clock */
	atomic_fetch_add(&me->turn, 1);
	wake_both(me);
}

void worker_call_both(struct worker *me)
{
	atomic_fetch_add(&me->turn, WORKER_THREADS);
	wake_both(me);
}

const struct worker_thread *worker_at_work(const struct worker *me)
{
	return &me->thread[atomic_load(&me->turn) % WORKER_THREADS];
}

uint64_t worker_share_ns(const struct worker *me)
{
	uint64_t since = __atomic_load_n(&me->since, __ATOMIC_ACQUIRE);
	uint64_t begun = since / WORKER_THREADS;
	uint64_t now = since ? worker_cpu_ns(me->thread[since % WORKER_THREADS].clock) : 0;

	return now > begun ? now - begun : 0;
}

bool worker_is_over(const struct worker *me, unsigned which)
{
	return atomic_load(&me->all->stop) ||
	       (which != WORKER_BACKGROUND && atomic_load(&me->all->single));
}

/* `turn` changes after the turn was passed on or a thread is to end, so no wake-up is lost. */
bool worker_has_turn(struct worker *me, unsigned which)
{
	uint32_t turn = atomic_load(&me->turn);

	if (turn % WORKER_THREADS == which)
		return true;
	if (!worker_is_over(me, which))
		(void)syscall(SYS_futex, &me->turn, FUTEX_WAIT_PRIVATE, turn, NULL, NULL, 0);
	return false;
}
