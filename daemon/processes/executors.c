/* SPDX-License-Identifier: MIT */
/* executors.c - makes and ends all executors, and answers what others ask about them */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "executors_private.h"

/* Have the thread look at everything. */
static void ring(const struct executors *e)
{
	uint64_t one = 1;
	ssize_t n = write(e->house.eventfd, &one, sizeof one);

	(void)n;
}

/* ---- start and stop ---- */

static int add(struct executors *e, uint8_t device, const char *path)
{
	int err = executor_init(&e->executor[e->count], &e->house, (uint8_t)e->count, device, path);

	e->count++;
	return err;
}

/* Add devices up to this number. */
static int add_devices(struct executors *e, uint32_t number)
{
	uint32_t first = e->config.config->modules;
	int err = 0;

	for (uint32_t i = e->count - first; !err && i < number && i < CONFIG_DEVICES; i++) {
		char name[sizeof e->gpu.kind + 12];

		snprintf(name, sizeof name, "%s:%u", e->gpu.kind, i);
		err = add(e, (uint8_t)(i + 1), name);
	}
	return err;
}

static int make(const struct executors_config *config, struct executors *e)
{
	struct executor_house *house = &e->house;
	int err = 0;

	e->config = *config;
	*house = (struct executor_house){.totals = config->totals,
					 .peers = config->config->gpu_peers,
					 .reactors = config->reactors,
					 .module_ms = config->config->module_ms,
					 .gpu_ms = config->config->gpu_ms,
					 .start_ms = config->config->start_ms,
					 .place = config->place,
					 .place_arg = config->arg};
	house->eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	house->eventfds = calloc(config->reactors, sizeof *house->eventfds);
	if (house->eventfd < 0 || !house->eventfds)
		return -ENOMEM;
	memcpy(house->eventfds, config->eventfds, config->reactors * sizeof *house->eventfds);
	while (!err && e->count < config->config->modules)
		err = add(e, 0, config->config->module[e->count]);
	if (!err && *e->gpu.kind)
		err = add_devices(e, e->gpu.count ? e->gpu.count : 1);
	return err;
}

/* The first device's process says how many devices of its kind there are. */
static int start_other_devices(struct executors *e)
{
	const struct executor *first = &e->executor[e->config.config->modules];
	int err;

	if (!*e->gpu.kind || e->gpu.count || !first->known)
		return 0;
	err = add_devices(e, first->hello.devices);
	if (!err)
		executors_settle(e);
	return err;
}

/* Count up to the first device that could not be opened: numbers have no gaps. */
static void count_devices(struct executors *e)
{
	uint32_t first = e->config.config->modules;

	while (first + e->devices < e->count && e->executor[first + e->devices].known)
		e->devices++;
}

/* Add the users' own executors, for each place; none is started yet. */
static int add_own(struct executors *e)
{
	uint32_t devices = e->config.config->modules;
	int err = 0;

	e->first_own = e->count;
	for (uint32_t i = 0; !err && i < CONFIG_OWN_USERS * e->devices; i++) {
		const struct executor *like = &e->executor[devices + i % e->devices];

		err = add(e, like->device, like->path);
		executor_make_own(&e->executor[e->count - 1], like);
	}
	return err;
}

int executors_start(const struct executors_config *config, struct executors **ret)
{
	struct executors *e;
	int err;

	*ret = NULL;
	if (!config->config->modules && !*config->gpu->kind)
		return 0;
	e = calloc(1, sizeof *e);
	if (!e)
		return -ENOMEM;
	e->house.eventfd = -1;
	e->own_due = UINT64_MAX;
	own_init(&e->own);
	e->gpu = *config->gpu;
	err = make(config, e);
	if (!err) {
		executors_settle(e);
		err = start_other_devices(e);
	}
	if (!err) {
		count_devices(e);
		err = add_own(e);
	}
	if (!err) {
		executors_publish(e);
		err = -pthread_create(&e->thread, NULL, executors_run, e);
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
		atomic_store(&e->stop, true);
		ring(e);
		pthread_join(e->thread, NULL);
	}
	for (uint32_t i = 0; i < e->count; i++)
		executor_done(&e->executor[i]);
	if (e->house.eventfd >= 0)
		close(e->house.eventfd);
	free(e->house.eventfds);
	own_done(&e->own);
	free(e);
}

/* ---- what others ask ---- */

uint64_t executors_progress(const struct executors *e)
{
	return atomic_load_explicit(&e->looks, memory_order_relaxed);
}

pid_t executors_tid(const struct executors *e)
{
	return atomic_load(&e->tid);
}

void executors_tell(struct executors *e)
{
	atomic_store(&e->tell, true);
	ring(e);
}

void executors_kick(const struct executors *e)
{
	ring(e);
}

uint32_t executors_count(const struct executors *e)
{
	return e->count;
}

struct exec_port *executors_port(struct executors *e, uint32_t number, uint32_t reactor)
{
	return &e->executor[number].port[reactor];
}

uint32_t executors_devices(const struct executors *e)
{
	return e ? e->devices : 0;
}

void executors_missing(struct executors *e, const struct gpu_choice *gpu, char *text, size_t size)
{
	uint32_t next = e ? e->config.config->modules + e->devices : 0;

	if (!*gpu->kind)
		snprintf(text, size, "%s", gpu->why);
	else if (next < e->first_own)
		executor_reason(&e->executor[next], text, size);
	else
		snprintf(text, size, "there are %u", e->devices);
}

enum exec_port_state executors_state(struct executors *e, uint32_t number)
{
	return exec_port_state(executors_port(e, number, 0));
}

void executors_reason(struct executors *e, uint32_t number, char *text, size_t size)
{
	executor_reason(&e->executor[number], text, size);
}

int executors_take_own(struct executors *e, uid_t uid)
{
	int place = own_take(&e->own, uid);

	if (place < 0)
		return place;
	ring(e);
	return (int)(e->first_own + (uint32_t)place * e->devices);
}

void executors_give_own(struct executors *e, uid_t uid)
{
	own_give(&e->own, uid, totals_now_ns());
	ring(e);
}

const struct quoit_device_info *executors_device(const struct executors *e, uint32_t number)
{
	return &e->executor[e->config.config->modules + number - 1].hello.device;
}

uint64_t executors_lease_bytes(const struct executors *e)
{
	uint64_t bytes = UINT64_MAX, most;

	if (!executors_devices(e))
		return 0;
	for (uint32_t i = 1; i <= e->devices; i++) {
		const struct quoit_device_info *info = executors_device(e, i);

		bytes = info->bytes < bytes ? info->bytes : bytes;
	}
	most = e->config.config->gpu_memory;
	bytes -= bytes / 10;
	return most && most < bytes ? most : bytes;
}

void executors_describe(const struct executors *e, FILE *out)
{
	for (uint32_t i = 0; i < e->count; i++)
		executor_describe(&e->executor[i], out);
}
