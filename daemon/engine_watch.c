/* SPDX-License-Identifier: MIT */
/* engine_watch.c - lists the subjects of the watchdog */
#include "engine_watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/cpu/worker.h"
#include "base/log.h"
#include "base/process_limits.h"
#include "base/thread_state.h"
#include "base/tsc.h"
#include "control/service_manager.h"
#include "memory/memory_thread.h"
#include "observe/totals.h"
#include "reactor/bells.h"
#include "reactor/reactor_idle.h"

/* Used if no service manager tells how long a thread may be stuck. */
#define PERIOD_NS UINT64_C(30000000000)

/* ---- each kind ---- */

static uint64_t reactor_progress(void *of, uint32_t index)
{
	const struct reactor *r = of;

	(void)index;
	return __atomic_load_n(&r->passes, __ATOMIC_RELAXED);
}

static bool reactor_waits(void *of, uint32_t index, uint64_t *seen)
{
	const struct reactor *r = of;

	(void)index;
	return thread_waits_for_core(__atomic_load_n(&r->tid, __ATOMIC_RELAXED), seen);
}

static void kick_reactor(void *of)
{
	reactor_wake(of);
}

static uint64_t control_progress(void *of, uint32_t index)
{
	const struct control *c = of;

	(void)index;
	return __atomic_load_n(&c->passes, __ATOMIC_RELAXED);
}

/* It is the process's first thread. */
static bool control_waits(void *of, uint32_t index, uint64_t *seen)
{
	(void)of;
	(void)index;
	return thread_waits_for_core(getpid(), seen);
}

static void kick_control(void *of)
{
	const struct control *c = of;
	uint64_t one = 1;
	ssize_t n = write(c->eventfd, &one, sizeof one);

	(void)n;
}

static uint64_t worker_progress(void *of, uint32_t index)
{
	const struct engine *m = of;

	return workers_progress(m->workers, index, m->config->tile_ms * 1000000);
}

static bool worker_waits(void *of, uint32_t index, uint64_t *seen)
{
	const struct engine *m = of;

	return thread_waits_for_core(workers_thread(m->workers, index), seen);
}

static void kick_workers(void *of)
{
	const struct engine *m = of;

	workers_kick(m->workers);
}

static uint64_t memory_progress(void *of, uint32_t index)
{
	(void)index;
	return memory_thread_progress(of);
}

static bool memory_waits(void *of, uint32_t index, uint64_t *seen)
{
	(void)index;
	return thread_waits_for_core(memory_thread_tid(of), seen);
}

static void kick_memory(void *of)
{
	memory_thread_kick(of);
}

static uint64_t bells_thread_progress(void *of, uint32_t index)
{
	(void)index;
	return bells_progress(of);
}

static bool bells_wait(void *of, uint32_t index, uint64_t *seen)
{
	(void)index;
	return thread_waits_for_core(bells_tid(of), seen);
}

static void kick_bells(void *of)
{
	bells_kick(of);
}

static uint64_t executors_thread_progress(void *of, uint32_t index)
{
	(void)index;
	return executors_progress(of);
}

static bool executors_wait(void *of, uint32_t index, uint64_t *seen)
{
	(void)index;
	return thread_waits_for_core(executors_tid(of), seen);
}

static void kick_executors(void *of)
{
	executors_kick(of);
}

/* ---- CPUs ---- */

static void look_at_cpus(struct engine *m)
{
	cpus_watch_look(&m->cpus);
}

/* ---- the clock ---- */

/* The first thread that asked for the time after a suspend has corrected the clock. */
static void look_at_clock(struct engine *m)
{
	int64_t skipped = tsc_skipped_ns();

	if (skipped != m->skipped)
		log_info("the machine was suspended: the processors' counter was %+.1f s off, and "
			 "quoitd has corrected its clock",
			 (double)(skipped - m->skipped) / 1e9);
	m->skipped = skipped;
}

/* ---- all ---- */

static void look(void *of)
{
	struct engine *m = of;

	look_at_cpus(m);
	look_at_clock(m);
	kept_files_look(&m->kept, totals_now_ns());
}

static struct watchdog_subject *name_cores(struct watchdog_subject *s, struct engine *m)
{
	for (uint32_t i = 0; i < m->plan->nr_reactors; i++, s++) {
		*s = (struct watchdog_subject){.of = &m->reactors[i],
					       .progress = reactor_progress,
					       .kick = kick_reactor,
					       .waits = reactor_waits};
		snprintf(s->name, sizeof s->name, "reactor %u on CPU %u", i, m->reactors[i].cpu);
	}
	for (uint32_t i = 0; i < m->plan->nr_cores; i++, s++) {
		*s = (struct watchdog_subject){.of = m,
					       .index = i,
					       .progress = worker_progress,
					       .kick = kick_workers,
					       .waits = worker_waits};
		snprintf(s->name, sizeof s->name, "worker %u on CPU %u", i, m->plan->cores[i].cpu);
	}
	return s;
}

/* Returns how many there are; `subjects` has room for all. */
static unsigned name_all(struct watchdog_subject *subjects, struct engine *m, struct control *c)
{
	struct watchdog_subject *s = name_cores(subjects, m);

	*s++ = (struct watchdog_subject){.name = "the control thread",
					 .of = c,
					 .progress = control_progress,
					 .kick = kick_control,
					 .waits = control_waits};
	*s++ = (struct watchdog_subject){.name = "the memory thread",
					 .of = m->memory_thread,
					 .progress = memory_progress,
					 .kick = kick_memory,
					 .waits = memory_waits};
	*s++ = (struct watchdog_subject){.name = "the thread for slow wake-ups",
					 .of = m->bells,
					 .progress = bells_thread_progress,
					 .kick = kick_bells,
					 .waits = bells_wait};
	if (m->executors)
		*s++ = (struct watchdog_subject){.name = "the thread of executors",
						 .of = m->executors,
						 .progress = executors_thread_progress,
						 .kick = kick_executors,
						 .waits = executors_wait};
	return (unsigned)(s - subjects);
}

struct watchdog *engine_watch(struct engine *m, struct control *c)
{
	unsigned most = m->plan->nr_reactors + m->plan->nr_cores + 4;
	struct watchdog_subject *subjects = calloc(most, sizeof *subjects);
	const struct watchdog_calls calls = {
		.feed = service_manager_feed_watchdog, .look = look, .of = m};
	uint64_t period = service_manager_watchdog_ns();
	struct watchdog *w = NULL;
	int err = -ENOMEM;

	m->cpus.plan = m->plan;
	m->kept = (struct kept_files){m->directory, totals_now_ns()};
	if (subjects)
		err = watchdog_start(subjects, name_all(subjects, m, c),
				     period ? period : PERIOD_NS, &calls, &w);
	if (err < 0)
		log_warning("watchdog not started (%s): stuck threads will not be noticed",
			    process_limits_words(err).text);
	free(subjects);
	return w;
}
