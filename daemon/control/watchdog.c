/* SPDX-License-Identifier: MIT */
/* watchdog.c - looks at threads, kicks them, and logs which are stuck */
#include "watchdog.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"

struct watchdog {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t news;
	bool stop;
	uint64_t interval_ns;
	struct watchdog_calls calls;
	unsigned count;
	struct watchdog_subject subject[];
};

/* ---- one look ---- */

/* Others have its core: no thread of quoitd is at fault.  It is logged once. */
static bool waits_for_core(struct watchdog_subject *s)
{
	if (!s->waits || !s->waits(s->of, s->index, &s->seen_of_core))
		return false;
	if (!s->without_core)
		log_warning("%s gets no CPU time: other programs use its core", s->name);
	s->without_core = true;
	return true;
}

/* A thread that is stuck is still kicked: a lost wake-up may be the cause. */
static bool look_at(struct watchdog_subject *s, uint64_t interval_ns)
{
	uint64_t progress = s->progress(s->of, s->index);
	bool was_stuck = s->missed >= WATCHDOG_LOOKS - 1;

	if (progress != s->seen) {
		if (was_stuck)
			log_warning("no longer stuck: %s", s->name);
		s->seen = progress;
		s->missed = 0;
		s->without_core = false;
		return true;
	}
	if (waits_for_core(s))
		return !was_stuck;
	s->missed++;
	if (s->missed == WATCHDOG_LOOKS - 1)
		log_error("stuck: %s, no progress for %.1f s", s->name,
			  (double)(s->missed * interval_ns) / 1e9);
	s->kick(s->of);
	return s->missed < WATCHDOG_LOOKS - 1;
}

bool watchdog_look(struct watchdog_subject *subjects, unsigned count, uint64_t interval_ns)
{
	bool well = true;

	for (unsigned i = 0; i < count; i++)
		well &= look_at(&subjects[i], interval_ns);
	return well;
}

/* ---- the thread ---- */

/* True: the thread must end. */
static bool wait_for_next(struct watchdog *w)
{
	struct timespec until;
	int err = 0;
	bool stop;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)(w->interval_ns / 1000000000u);
	until.tv_nsec += (long)(w->interval_ns % 1000000000u);
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_mutex_lock(&w->lock);
	while (!w->stop && !err)
		err = pthread_cond_timedwait(&w->news, &w->lock, &until);
	stop = w->stop;
	pthread_mutex_unlock(&w->lock);
	return stop;
}

static void *watchdog_run(void *arg)
{
	struct watchdog *w = arg;

	(void)pthread_setname_np(pthread_self(), "quoit-watchdog");
	while (!wait_for_next(w)) {
		if (watchdog_look(w->subject, w->count, w->interval_ns))
			w->calls.feed();
		w->calls.look(w->calls.of);
	}
	return NULL;
}

int watchdog_start(const struct watchdog_subject *subjects, unsigned count, uint64_t period_ns,
		   const struct watchdog_calls *calls, struct watchdog **ret)
{
	struct watchdog *w = calloc(1, sizeof *w + count * sizeof *subjects);
	pthread_condattr_t attr;
	int err;

	*ret = NULL;
	if (!w)
		return -ENOMEM;
	w->interval_ns = period_ns / WATCHDOG_LOOKS;
	w->calls = *calls;
	w->count = count;
	memcpy(w->subject, subjects, count * sizeof *subjects);
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->news, &attr);
	pthread_condattr_destroy(&attr);
	err = -pthread_create(&w->thread, NULL, watchdog_run, w);
	if (err < 0) {
		free(w);
		return err;
	}
	*ret = w;
	return 0;
}

void watchdog_stop(struct watchdog *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_signal(&w->news);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->news);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
