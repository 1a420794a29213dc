/* SPDX-License-Identifier: MIT */
/* engine_threads.c - starts and stops the threads and the executors */
#include "engine_private.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "backend/cpu/worker.h"
#include "base/log.h"
#include "base/process_limits.h"
#include "memory/memory_thread.h"
#include "observe/reactor_histograms.h"
#include "processes/executors.h"
#include "reactor/bells.h"

static struct worker_owner owner_of(struct reactor *r)
{
	return (struct worker_owner){.node = (uint32_t)r->node,
				     .cpu = r->cpu,
				     .clock = &r->clock,
				     .need_wake = &r->need_wake,
				     .eventfd = r->eventfd};
}

static int start_workers(struct engine *m)
{
	uint32_t cores = m->plan->nr_cores, reactors = m->plan->nr_reactors;
	struct worker_seat *seats = calloc(cores, sizeof *seats);
	struct worker_owner *owners = calloc(reactors, sizeof *owners);
	struct worker_config c = {.workers = cores,
				  .seats = seats,
				  .reactors = reactors,
				  .owners = owners,
				  .nice = (uint32_t)m->config->worker_nice};
	int err = -ENOMEM;

	if (seats && owners) {
		for (uint32_t i = 0; i < cores; i++)
			seats[i] =
				(struct worker_seat){m->plan->cores[i].cpu, m->plan->cores[i].node};
		for (uint32_t i = 0; i < reactors; i++)
			owners[i] = owner_of(&m->reactors[i]);
		err = workers_start(&c, &m->workers);
	}
	free(seats);
	free(owners);
	return err;
}

static void place_device(void *arg, uint32_t number, const char *address, pid_t pid)
{
	struct engine *m = arg;

	device_places_bind(&m->places, number, address, pid);
}

static void on_executors(void *arg, const struct executors *e)
{
	struct engine *m = arg;

	if (m->topology->this_machine && !m->places.count)
		m->places.count = executors_devices(e);
	engine_tell_topology(m, e);
}

static int start_executors(struct engine *m)
{
	int eventfds[QUOIT_MAX_REACTORS];
	struct executors_config c = {.config = m->config,
				     .gpu = &m->gpu,
				     .totals = m->totals,
				     .reactors = m->plan->nr_reactors,
				     .eventfds = eventfds,
				     .place = place_device,
				     .changed = on_executors,
				     .arg = m};
	int err;

	for (uint32_t i = 0; i < c.reactors; i++)
		eventfds[i] = m->reactors[i].eventfd;
	m->places = (struct device_places){.topology = m->topology,
					   .config = engine_placement_wishes(m)};
	err = executors_start(&c, &m->executors);
	for (uint32_t i = 0; m->executors && i < c.reactors; i++) {
		struct reactor *r = &m->reactors[i];

		r->executors = executors_count(m->executors);
		for (uint32_t j = 0; j < r->executors; j++)
			r->executor[j] = executors_port(m->executors, j, i);
	}
	return err;
}

/* Call it once the number of devices is known. */
static int open_histograms(struct engine *m)
{
	uint32_t devices = executors_devices(m->executors), reactors = m->plan->nr_reactors;
	uint64_t grain = m->config->is_private ? 1 : REACTOR_HISTOGRAMS_GRAIN;

	m->histograms = histograms_open(m->directory, reactors, devices, m->plan->nr_cores);
	if (!m->histograms)
		return -ENOMEM;
	for (uint32_t i = 0; i < reactors; i++) {
		m->reactors[i].histograms = m->histograms;
		m->reactors[i].own_histograms =
			reactor_histograms_new(m->histograms, i, devices, grain);
		if (!m->reactors[i].own_histograms)
			return -ENOMEM;
	}
	return 0;
}

/* The CPUs that quoitd may use and that have no reactor; there may be none. */
static void list_cpus_beside(const struct engine *m, cpu_set_t *ret)
{
	CPU_ZERO(ret);
	if (sched_getaffinity(0, sizeof *ret, ret) < 0) /* more CPUs than cpu_set_t has bits */
		CPU_ZERO(ret);
	for (uint32_t i = 0; i < m->plan->nr_reactors; i++)
		CPU_CLR(m->reactors[i].cpu, ret);
}

static int start_bells(struct engine *m)
{
	cpu_set_t cpus;

	list_cpus_beside(m, &cpus);
	return bells_start(m->bell_links, m->plan->nr_reactors, &cpus, &m->bells);
}

int engine_start(struct engine *m)
{
	int err = memory_thread_start(m->memory_links, m->plan->nr_reactors,
				      !m->features.missing[FEATURE_HUGE_PAGES], &m->memory_thread);

	if (!err)
		err = start_bells(m);
	if (!err)
		err = start_workers(m);
	if (!err)
		err = start_executors(m);
	if (!err)
		err = open_histograms(m);
	for (uint32_t i = 0; !err && i < m->plan->nr_reactors; i++) {
		m->reactors[i].port = workers_port(m->workers, i);
		err = reactor_start(&m->reactors[i]);
		m->started += !err;
	}
	if (err < 0) {
		log_error("cannot start the threads: %s", process_limits_words(err).text);
		engine_stop(m);
	}
	return err;
}

void engine_start_more(struct engine *m)
{
	int err = workers_double(m->workers);

	if (!err)
		return;
	features_miss(&m->features, FEATURE_SECOND_THREADS, err);
	features_log_one(&m->features, FEATURE_SECOND_THREADS);
	if (m->executors) /* it is their thread that writes the file */
		executors_tell(m->executors);
	else
		engine_tell_topology(m, NULL);
}

void engine_stop(struct engine *m)
{
	while (m->started)
		reactor_stop(&m->reactors[--m->started]);
	executors_stop(m->executors);
	m->executors = NULL;
	workers_stop(m->workers);
	m->workers = NULL;
	memory_thread_stop(m->memory_thread);
	m->memory_thread = NULL;
	bells_stop(m->bells);
	m->bells = NULL;
}
