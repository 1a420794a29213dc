/* SPDX-License-Identifier: MIT */
/* executors.c - the thread in which executors live and die */
#include "executors.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "executor.h"

struct executors {
	struct executors_config config;
	struct executor_house house;
	uint32_t count;
	struct executor executor[CONFIG_MODULES];
	_Atomic bool stop;
	bool running; /* the thread */
	pthread_t thread;
};

/* ---- the loop ---- */

static int timeout_ms(const struct executors *e)
{
	uint64_t now = totals_now_ns(), next = UINT64_MAX;

	for (uint32_t i = 0; i < e->count; i++) {
		uint64_t due = executor_due(&e->executor[i]);

		if (due < next)
			next = due;
	}
	if (next == UINT64_MAX)
		return -1;
	return next > now ? (int)((next - now) / 1000000 + 1) : 0;
}

static void wait_for_news(struct executors *e)
{
	struct pollfd fds[1 + 2 * CONFIG_MODULES];
	uint64_t count;
	unsigned n = 0;
	ssize_t got;

	fds[n++] = (struct pollfd){.fd = e->house.eventfd, .events = POLLIN};
	for (uint32_t i = 0; i < e->count; i++) {
		const struct executor *x = &e->executor[i];

		if (x->state == EXECUTOR_STARTING)
			fds[n++] = (struct pollfd){.fd = x->process.socket, .events = POLLIN};
		if (x->state == EXECUTOR_STARTING || x->state == EXECUTOR_UP)
			fds[n++] = (struct pollfd){.fd = x->process.pidfd, .events = POLLIN};
	}
	(void)poll(fds, n, timeout_ms(e));
	got = read(e->house.eventfd, &count, sizeof count);
	(void)got;
}

static bool step_all(struct executors *e)
{
	bool changed = false;

	for (uint32_t i = 0; i < e->count; i++)
		changed |= executor_step(&e->executor[i]);
	return changed;
}

static void *run(void *arg)
{
	struct executors *e = arg;

	(void)pthread_setname_np(pthread_self(), "quoit-executors");
	while (!atomic_load(&e->stop)) {
		wait_for_news(e);
		if (step_all(e))
			e->config.changed(e->config.arg, e);
	}
	return NULL;
}

/* ---- start and stop ---- */

static bool all_settled(const struct executors *e)
{
	for (uint32_t i = 0; i < e->count; i++)
		if (e->executor[i].state == EXECUTOR_STARTING)
			return false;
	return true;
}

static int make(const struct executors_config *config, struct executors *e)
{
	struct executor_house *house = &e->house;
	int err = 0;

	e->config = *config;
	*house = (struct executor_house){.totals = config->totals,
					 .reactors = config->reactors,
					 .job_ms = config->config->module_ms};
	house->eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	house->eventfds = calloc(config->reactors, sizeof *house->eventfds);
	if (house->eventfd < 0 || !house->eventfds)
		return -ENOMEM;
	memcpy(house->eventfds, config->eventfds, config->reactors * sizeof *house->eventfds);
	for (; !err && e->count < config->config->modules; e->count++)
		err = executor_init(&e->executor[e->count], house, (uint8_t)e->count,
				    config->config->module[e->count]);
	return err;
}

int executors_start(const struct executors_config *config, struct executors **ret)
{
	struct executors *e;
	int err;

	*ret = NULL;
	if (!config->config->modules)
		return 0;
	e = calloc(1, sizeof *e);
	if (!e)
		return -ENOMEM;
	err = make(config, e);
	if (!err) {
		for (step_all(e); !all_settled(e); step_all(e))
			wait_for_news(e);
		config->changed(config->arg, e);
		err = -pthread_create(&e->thread, NULL, run, e);
		e->running = !err;
	}
	if (err < 0) {
		executors_stop(e);
		return err;
	}
	*ret = e;
	return 0;
}

void executors_stop(struct executors *e)
{
	if (!e)
		return;
	if (e->running) {
		uint64_t one = 1;
		ssize_t n;

		atomic_store(&e->stop, true);
		n = write(e->house.eventfd, &one, sizeof one);
		(void)n;
		pthread_join(e->thread, NULL);
	}
	for (uint32_t i = 0; i < e->count; i++)
		executor_done(&e->executor[i]);
	if (e->house.eventfd >= 0)
		close(e->house.eventfd);
	free(e->house.eventfds);
	free(e);
}

struct exec_port *executors_port(struct executors *e, uint32_t module, uint32_t reactor)
{
	return &e->executor[module].port[reactor];
}

void executors_describe(const struct executors *e, FILE *out)
{
	for (uint32_t i = 0; i < e->count; i++)
		executor_describe(&e->executor[i], out);
}
