/* SPDX-License-Identifier: MIT */
/* test_watchdog.c - which threads count as stuck, and which only sleep */
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/thread_state.h"
#include "control/watchdog.h"

#define INTERVAL 1000000u

/* A thread as the watchdog sees it. */
struct thread {
	uint64_t progress;
	unsigned kicks;
	bool answers; /* to a wake-up */
};

static uint64_t progress(void *of, uint32_t index)
{
	const struct thread *t = of;

	return t[index].progress;
}

static void kick(void *of)
{
	struct thread *t = of;

	t->kicks++;
	t->progress += t->answers;
}

static struct watchdog_subject subject(struct thread *t)
{
	return (struct watchdog_subject){
		.name = "one", .of = t, .progress = progress, .kick = kick};
}

/* The first look at which a thread is stuck; 0: none is. */
static unsigned looks_until_stuck(struct watchdog_subject *s, unsigned count)
{
	for (unsigned i = 1; i <= 20; i++)
		if (!watchdog_look(s, count, INTERVAL))
			return i;
	return 0;
}

Test(watchdog, who_gets_on_by_himself_is_never_kicked)
{
	struct thread t = {.progress = 1};
	struct watchdog_subject s = subject(&t);

	for (int i = 0; i < 20; i++) {
		cr_expect(watchdog_look(&s, 1, INTERVAL));
		t.progress++;
	}
	cr_expect_eq(t.kicks, 0);
}

Test(watchdog, who_sleeps_gets_on_when_kicked)
{
	struct thread t = {.answers = true};
	struct watchdog_subject s = subject(&t);

	cr_expect_eq(looks_until_stuck(&s, 1), 0);
	cr_expect_geq(t.kicks, 9);
}

Test(watchdog, who_does_not_get_on_for_three_looks_is_stuck)
{
	struct thread t = {.progress = 7};
	struct watchdog_subject s = subject(&t);

	cr_assert(watchdog_look(&s, 1, INTERVAL));
	cr_expect_eq(looks_until_stuck(&s, 1), WATCHDOG_LOOKS - 1);
	cr_expect_not(watchdog_look(&s, 1, INTERVAL));
	cr_expect_eq(t.kicks, WATCHDOG_LOOKS);
}

Test(watchdog, who_gets_on_again_is_stuck_no_more)
{
	struct thread t = {0};
	struct watchdog_subject s = subject(&t);

	cr_assert_neq(looks_until_stuck(&s, 1), 0);
	t.progress++;
	cr_expect(watchdog_look(&s, 1, INTERVAL));
	cr_expect_eq(looks_until_stuck(&s, 1), WATCHDOG_LOOKS - 1);
}

Test(watchdog, all_is_not_well_while_one_of_many_is_stuck)
{
	struct thread t[3] = {{.answers = true}, {0}, {.answers = true}};
	struct watchdog_subject s[3] = {subject(&t[0]), subject(&t[1]), subject(&t[2])};

	cr_expect_neq(looks_until_stuck(s, 3), 0);
	for (int i = 0; i < 10; i++)
		cr_expect_not(watchdog_look(s, 3, INTERVAL));
	t[1].progress++;
	cr_expect(watchdog_look(s, 3, INTERVAL));
}

/* ---- threads without a core ---- */

static bool others_have_it;

static bool waits(void *of, uint32_t index, uint64_t *seen)
{
	(void)of;
	(void)index;
	(void)seen;
	return others_have_it;
}

Test(watchdog, who_gets_no_core_is_not_stuck)
{
	struct thread t = {.progress = 7};
	struct watchdog_subject s = subject(&t);

	s.waits = waits;
	others_have_it = true;
	cr_assert(watchdog_look(&s, 1, INTERVAL));
	cr_expect_eq(looks_until_stuck(&s, 1), 0);
	others_have_it = false; /* it has a core, and makes no progress */
	cr_expect_eq(looks_until_stuck(&s, 1), WATCHDOG_LOOKS - 1);
	others_have_it = true;
	cr_expect_not(watchdog_look(&s, 1, INTERVAL)); /* that does not help it */
}

enum { SLEEPS, SPINS, STARVES };

struct one {
	int how;
	pid_t tid; /* atomic */
	int stop;  /* atomic */
};

static void stay_on_first_cpu(void)
{
	cpu_set_t allowed, first;

	(void)sched_getaffinity(0, sizeof allowed, &allowed);
	CPU_ZERO(&first);
	for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&first); i++)
		if (CPU_ISSET(i, &allowed))
			CPU_SET(i, &first);
	(void)sched_setaffinity(0, sizeof first, &first);
}

static void *run(void *arg)
{
	const struct sched_param none = {0};
	struct one *me = arg;

	stay_on_first_cpu();
	__atomic_store_n(&me->tid, gettid(), __ATOMIC_RELEASE);
	if (me->how == STARVES)
		(void)sched_setscheduler(0, SCHED_IDLE, &none);
	while (!__atomic_load_n(&me->stop, __ATOMIC_RELAXED))
		if (me->how == SLEEPS)
			usleep(100000000);
	return NULL;
}

/* How often it was seen waiting for a core, of at most this many looks. */
static unsigned times_waiting(struct one *one, unsigned looks)
{
	uint64_t ticks = 0;
	unsigned n = 0;

	while (!__atomic_load_n(&one->tid, __ATOMIC_ACQUIRE))
		usleep(1000);
	usleep(50000);
	(void)thread_waits_for_core(one->tid, &ticks);
	for (unsigned i = 0; i < looks; i++) {
		usleep(30000);
		n += thread_waits_for_core(one->tid, &ticks);
	}
	return n;
}

Test(watchdog, a_thread_that_sleeps_does_not_wait_for_a_core)
{
	struct one sleeper = {.how = SLEEPS};
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, run, &sleeper), 0);
	cr_expect_eq(times_waiting(&sleeper, 10), 0);
}

Test(watchdog, a_thread_that_has_not_begun_waits_for_a_core)
{
	uint64_t ticks = 0;

	cr_expect(thread_waits_for_core(0, &ticks));
	cr_expect(thread_waits_for_core(0, &ticks));
}

Test(watchdog, a_thread_that_starves_waits_for_a_core)
{
	struct one spinner = {.how = SPINS}, starves = {.how = STARVES};
	pthread_t thread[2];

	cr_assert_eq(pthread_create(&thread[0], NULL, run, &spinner), 0);
	cr_assert_eq(pthread_create(&thread[1], NULL, run, &starves), 0);
	cr_expect_geq(times_waiting(&starves, 20), 5);
	__atomic_store_n(&spinner.stop, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&starves.stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
}
