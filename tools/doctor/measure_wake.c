/* SPDX-License-Identifier: MIT */
/* measure_wake.c - measure the time from the system call that wakes a thread until it runs */
#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <quoit/pause.h>

#include "bench/bench.h"
#include "measure.h"

#define SAMPLES  100u
#define SLEEP_NS 2000000 /* long enough for a CPU to go into a deep idle state */
#define MOST_S   1.0
#define SPINS    4096u /* between two looks at the clock */

struct wake {
	_Alignas(64) uint32_t word; /* counts calls */
	double called;              /* when the last one was made */
	_Alignas(64) uint32_t woken;
	unsigned samples;
	bool late;
	double us[SAMPLES];
};

static void sleep_and_wake(void *arg)
{
	struct wake *w = arg;

	for (uint32_t i = 0;; i++) {
		while (__atomic_load_n(&w->word, __ATOMIC_ACQUIRE) == i)
			(void)syscall(SYS_futex, &w->word, FUTEX_WAIT, i, NULL, NULL, 0);
		if (w->called <= 0 || i >= SAMPLES)
			return;
		w->us[i] = (bench_now() - w->called) * 1e6;
		__atomic_store_n(&w->woken, i + 1, __ATOMIC_RELEASE);
	}
}

static void call_once(struct wake *w, double now)
{
	w->called = now;
	__atomic_fetch_add(&w->word, 1, __ATOMIC_RELEASE);
	(void)syscall(SYS_futex, &w->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* False: the time is over; the other CPU may not run its thread at all. */
static bool await_woken(const struct wake *w, double until)
{
	for (unsigned spins = 1; __atomic_load_n(&w->woken, __ATOMIC_ACQUIRE) != w->samples;
	     spins++) {
		if (spins % SPINS == 0 && bench_now() > until)
			return false;
		quoit_pause();
	}
	return true;
}

static void call(void *arg)
{
	const struct timespec pause = {.tv_nsec = SLEEP_NS};
	const double start = bench_now();
	struct wake *w = arg;

	while (!w->late && w->samples < SAMPLES && (!w->samples || bench_now() - start < MOST_S)) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		call_once(w, bench_now());
		w->samples++;
		w->late = !await_woken(w, start + MEASURE_MOST_S);
	}
	call_once(w, 0);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int measure_wake(unsigned from, unsigned to, double *ret_median, double *ret_p99)
{
	struct wake *w = aligned_alloc(64, sizeof *w);
	void *caller = NULL, *sleeper = NULL;
	int err = w ? 0 : -ENOMEM;
	bool ended;

	if (w)
		*w = (struct wake){0};
	if (!err)
		err = measure_start(to, sleep_and_wake, w, &sleeper);
	if (!err)
		err = measure_start(from, call, w, &caller);
	if (err && sleeper)
		call_once(w, 0);
	ended = measure_join(caller);
	ended = measure_join(sleeper) && ended;
	if (!ended)
		return -ETIMEDOUT; /* the threads may still use `w` */
	if (!err && w->late)
		err = -ETIMEDOUT;
	if (!err) {
		qsort(w->us, w->samples, sizeof w->us[0], by_value);
		*ret_median = w->us[w->samples / 2];
		*ret_p99 = w->us[(w->samples - 1) * 99 / 100];
	}
	free(w);
	return err;
}
