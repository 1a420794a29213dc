/* SPDX-License-Identifier: MIT */
/* engine.c - makes the machine, and starts and stops its threads */
#include "engine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "backend/cpu/worker.h"
#include "backend/file/backend_io.h"
#include "base/log.h"
#include "base/process_limits.h"
#include "base/text_file.h"
#include "base/tsc.h"
#include "control/config_check.h"
#include "memory/memory_thread.h"
#include "observe/reactor_histograms.h"
#include "ops/blas.h"
#include "processes/executors.h"
#include "reactor/bells.h"

#define DESCRIPTION_BYTES 16384

static struct placement_config placement_wishes(const struct engine *m)
{
	return (struct placement_config){.reactors = (uint32_t)m->config->reactors,
					 .cpus = *m->config->cpus ? m->config->cpus : NULL};
}

static int make_plan(struct engine *m)
{
	struct placement_config c = placement_wishes(m);
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

/* For `quoit topo`: what was found and chosen.  executors: NULL until they run. */
struct found {
	const struct engine *machine;
	const struct executors *executors;
};

static void describe_placement(FILE *f, const struct engine *m)
{
	struct placement_config c = placement_wishes(m);
	char *text = malloc(DESCRIPTION_BYTES);

	if (!text)
		return;
	placement_describe(m->plan, m->topology, &c, text, DESCRIPTION_BYTES);
	fputs(text, f);
	free(text);
}

static void describe(FILE *f, const void *from)
{
	const struct found *found = from;
	const struct engine *m = found->machine;

	describe_placement(f, m);
	fprintf(f, "clock: TSC at %.3f MHz, %s\n", (double)tsc_hz() / 1e6, tsc_source());
	fprintf(f, "kernels: %s\n", m->ops.isa);
	if (*m->config->disable)
		fprintf(f, "switched off: %s\n", m->config->disable);
	/* A slow machine, such as an emulated one, has less than one; print that, not 0. */
	fprintf(f, "blas: %s, %.*f GFLOP/s a core; %s\n", m->ops.blas,
		m->ops.gemm_gflops < 10 ? 3 : 0, m->ops.gemm_gflops, m->ops.why);
	fprintf(f, "bfloat16 products: by %s\n", m->ops.bf16);
	fprintf(f, "files: by %s\n",
		m->features.missing[FEATURE_IO_URING] ? "threads" : "io_uring");
	if (!m->config->is_private)
		fprintf(f, "files of other users are written to on: %s\n",
			*m->config->file_systems ? m->config->file_systems : "none");
	features_describe(&m->features, f);
	fprintf(f, "memory: %llu MiB for all leases\n",
		(unsigned long long)m->config->memory >> 20);
	if (executors_devices(found->executors))
		fprintf(f, "memory of each device: %llu MiB for all leases\n",
			(unsigned long long)executors_lease_bytes(found->executors) >> 20);
	if (found->executors)
		executors_describe(found->executors, f);
	device_places_describe(&m->places, m->plan, f);
	if (!*m->gpu.kind)
		fprintf(f, "device: none, %s\n", m->gpu.why);
}

static void write_topology(const struct engine *m, const struct executors *e)
{
	const struct found found = {m, e};

	text_file_write(m->directory, QUOIT_STATS_TOPOLOGY, describe, &found);
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
	char why[256];
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
		process_limits_explain(err, why, sizeof why);
		log_error("cannot start: %s", why);
		engine_free(m, directory);
		return err;
	}
	write_topology(m, NULL);
	config_tell(config, directory);
	features_log(&m->features);
	log_info("reactors: %u, workers: %u, kernels: %s, BLAS: %s", m->plan->nr_reactors,
		 m->plan->nr_cores, m->ops.isa, m->ops.blas);
	*ret = m;
	return 0;
}

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
	write_topology(m, e);
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
	m->places = (struct device_places){.topology = m->topology, .config = placement_wishes(m)};
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
	char why[256];

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
		process_limits_explain(err, why, sizeof why);
		log_error("cannot start the threads: %s", why);
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
		write_topology(m, NULL);
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
