/* SPDX-License-Identifier: MIT */
/* engine.c - makes what quoitd has once, and frees it */
#include "engine_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "backend/file/backend_io.h"
#include "base/log.h"
#include "base/process_limits.h"
#include "base/tsc.h"
#include "control/config_check.h"
#include "memory/memory_thread.h"
#include "ops/blas.h"
#include "reactor/bells.h"

struct placement_config engine_placement_wishes(const struct engine *m)
{
	return (struct placement_config){.reactors = (uint32_t)m->config->reactors,
					 .cpus = *m->config->cpus ? m->config->cpus : NULL};
}

static int make_plan(struct engine *m)
{
	struct placement_config c = engine_placement_wishes(m);
	int err = topology_read(NULL, NULL, &m->topology);

	if (err < 0) {
		log_error("cannot read the topology: %s", strerror(-err));
		return err;
	}
	err = placement_make(m->topology, &c, &m->plan);
	if (err < 0)
		log_error("cannot place threads on cpus '%s': %s", m->config->cpus, strerror(-err));
	return err;
}

static int make_reactor(struct engine *m, uint32_t i)
{
	const struct placement_core *core = placement_reactor(m->plan, i);
	struct reactor *r = &m->reactors[i];
	int err;

	r->index = i;
	r->cpu = core->cpu;
	r->node = (int32_t)core->node;
	r->stats = &m->totals->reactor[i];
	r->stats->cpu = (int32_t)core->cpu;
	r->stats->node = (int32_t)core->node;
	r->cores = m->totals->core;
	r->core_stride = m->plan->nr_reactors;
	r->eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r->backlog = calloc(MEMORY_OPEN, sizeof *r->backlog);
	m->outbox[i] = aligned_alloc(64, sizeof **m->outbox);
	if (r->eventfd < 0 || !r->backlog || !m->outbox[i])
		return -ENOMEM;
	mailbox_init(&r->inbox, &r->need_wake, r->eventfd);
	mailbox_init(m->outbox[i], NULL, m->control_eventfd);
	r->outbox = m->outbox[i];
	r->memory = &m->memory_links[i];
	memory_link_init(r->memory, &r->need_wake, r->eventfd);
	r->bells = &m->bell_links[i];
	bell_link_init(r->bells, &r->need_wake, r->eventfd);
	err = io_new(!m->config->no_io_uring, &r->need_wake, r->eventfd, &m->features, &r->io);
	if (!err)
		r->io_buffers = io_registry(r->io);
	return err;
}

static int make_reactors(struct engine *m)
{
	uint32_t n = m->plan->nr_reactors;
	int err = 0;

	m->control_eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	m->reactors = aligned_alloc(64, n * sizeof *m->reactors);
	m->memory_links = aligned_alloc(64, n * sizeof *m->memory_links);
	m->bell_links = aligned_alloc(64, n * sizeof *m->bell_links);
	m->outbox = calloc(n, sizeof *m->outbox);
	if (m->reactors)
		memset(m->reactors, 0, n * sizeof *m->reactors);
	if (m->control_eventfd < 0 || !m->reactors || !m->memory_links || !m->bell_links ||
	    !m->outbox)
		return -ENOMEM;
	for (uint32_t i = 0; !err && i < n; i++)
		err = make_reactor(m, i);
	return err;
}

/* Soft devices read the environment, as their tests set it, too. */
static void tell_soft(const struct config *config, uint32_t count)
{
	char text[24];

	snprintf(text, sizeof text, "%u", count);
	(void)setenv("QUOIT_SOFT_DEVICES", text, 1);
	snprintf(text, sizeof text, "%llu", (unsigned long long)config->gpu_memory);
	if (config->gpu_memory)
		(void)setenv("QUOIT_SOFT_BYTES", text, 1);
}

static void name_cores(struct engine *m)
{
	struct quoit_totals *t = m->totals;

	for (uint32_t i = 0; i < m->plan->nr_cores && i < QUOIT_MAX_CORES; i++) {
		t->core[i].cpu = (int32_t)m->plan->cores[i].cpu;
		t->core[i].node = (int32_t)m->plan->cores[i].node;
		t->header.cores = i + 1;
	}
}

struct blas_trial {
	const char *word;
	struct ops_choice *ops;
	int err;
};

static void *try_blas(void *arg)
{
	struct blas_trial *t = arg;

	t->err = ops_init(t->word, t->ops);
	return NULL;
}

/* It runs in a thread, since the first thread's stack is as RLIMIT_STACK says. */
static int choose_blas(struct engine *m)
{
	struct blas_trial trial = {*m->config->blas ? m->config->blas : BLAS_AUTO, &m->ops, 0};
	const char *word = trial.word;
	char where[CONFIG_WHERE_BYTES];
	pthread_t thread;
	int err = -pthread_create(&thread, NULL, try_blas, &trial);

	if (err < 0)
		return err;
	pthread_join(thread, NULL);
	err = trial.err;
	if (err < 0)
		log_error("%s: blas: '%s' cannot be loaded or does not run on this CPU; built-in "
			  "always does",
			  config_where(m->config, "blas", 0, where), word);
	return err < 0 ? -EINVAL : 0;
}

int engine_make(const struct config *config, int directory, struct engine **ret)
{
	struct engine *m = calloc(1, sizeof *m);
	int err;

	*ret = NULL;
	if (!m) {
		log_error("cannot start: %s", strerror(ENOMEM));
		return -ENOMEM;
	}
	m->config = config;
	m->directory = directory;
	m->control_eventfd = -1;
	tsc_init();
	err = config_check_words(config, &m->gpu);
	if (!err) {
		if (!strcmp(m->gpu.kind, "soft"))
			tell_soft(config, m->gpu.count);
		err = choose_blas(m);
	}
	if (!err)
		err = make_plan(m);
	if (!err && m->plan->nr_reactors > QUOIT_MAX_REACTORS)
		m->plan->nr_reactors = QUOIT_MAX_REACTORS;
	if (!err) {
		features_probe(&m->features, m->plan->cores[0].memory_node);
		err = config_check_shared(config, &m->features);
	}
	if (!err) {
		m->totals = totals_open(directory, m->plan->nr_reactors, &m->totals_fd);
		err = m->totals ? make_reactors(m) : -ENOMEM;
		if (!err)
			name_cores(m);
	}
	if (err < 0) {
		log_error("cannot start: %s", process_limits_words(err).text);
		engine_free(m, directory);
		return err;
	}
	engine_tell_topology(m, NULL);
	config_tell(config, directory);
	features_log(&m->features);
	log_info("reactors: %u, workers: %u, kernels: %s, BLAS: %s", m->plan->nr_reactors,
		 m->plan->nr_cores, m->ops.isa, m->ops.blas);
	*ret = m;
	return 0;
}

void engine_free(struct engine *m, int directory)
{
	if (!m)
		return;
	for (uint32_t i = 0; m->plan && m->outbox && m->reactors && i < m->plan->nr_reactors; i++) {
		if (m->outbox[i] && m->reactors[i].eventfd >= 0)
			close(m->reactors[i].eventfd);
		io_free(m->reactors[i].io);
		free(m->reactors[i].backlog);
		free(m->reactors[i].own_histograms);
		free(m->outbox[i]);
	}
	free(m->reactors);
	free(m->memory_links);
	free(m->bell_links);
	free(m->outbox);
	if (m->control_eventfd >= 0)
		close(m->control_eventfd);
	totals_close(m->totals, m->totals_fd, directory);
	histograms_close(m->histograms, directory);
	(void)unlinkat(directory, QUOIT_STATS_TOPOLOGY, 0);
	(void)unlinkat(directory, QUOIT_STATS_CONFIG, 0);
	device_places_done(&m->places);
	placement_free(m->plan);
	topology_free(m->topology);
	free(m);
}
