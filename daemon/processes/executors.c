/* SPDX-License-Identifier: MIT */
/* executors.c - the thread that starts and watches all executors */
#include "executors.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/hang_injection.h"
#include "executor.h"
#include "own_processes.h"

struct executors {
	struct executors_config config;
	struct executor_house house;
	struct gpu_choice gpu;
	uint32_t devices; /* that can be used */
	uint32_t count;
	uint32_t first_own; /* from here on: `devices` executors for each place of `own` */
	struct own_processes own;
	uint64_t own_due; /* CLOCK_BOOTTIME: when `own` may change without news */
	struct executor executor[CONFIG_EXECUTORS];
	_Atomic bool stop;
	_Atomic bool tell;      /* changed() is wanted */
	_Atomic uint64_t looks; /* for the watchdog */
	bool running;           /* the thread */
	pthread_t thread;
};

/* ---- the loop ---- */

static int timeout_ms(const struct executors *e)
{
	uint64_t now = totals_now_ns(), next = e->own_due;

	for (uint32_t i = 0; i < e->count; i++) {
		uint64_t due = executor_due(&e->executor[i]);

		if (due < next)
			next = due;
	}
	if (next == UINT64_MAX)
		return -1;
	return next > now ? (int)((next - now) / 1000000 + 1) : 0;
}

#define POLL_REFUSED_US 100000

static void wait_for_news(struct executors *e)
{
	struct pollfd fds[1 + 2 * CONFIG_EXECUTORS];
	uint64_t count;
	unsigned n = 0;
	ssize_t got;

	fds[n++] = (struct pollfd){.fd = e->house.eventfd, .events = POLLIN};
	for (uint32_t i = 0; i < e->count; i++) {
		const struct executor *x = &e->executor[i];

		if (x->state == EXECUTOR_STARTING && !x->ending)
			fds[n++] = (struct pollfd){.fd = x->process.socket, .events = POLLIN};
		if (x->state == EXECUTOR_STARTING || x->state == EXECUTOR_UP ||
		    x->state == EXECUTOR_STUCK)
			fds[n++] = (struct pollfd){.fd = x->process.pidfd, .events = POLLIN};
	}
	/* Refused if RLIMIT_NOFILE was lowered below n: then look now and then. */
	if (poll(fds, n, timeout_ms(e)) < 0 && errno != EINTR)
		usleep(POLL_REFUSED_US);
	got = read(e->house.eventfd, &count, sizeof count);
	(void)got;
}

/* Tell each users' own executor which user it is for. */
static void assign_own(struct executors *e)
{
	uint64_t now = totals_now_ns(), due;

	e->own_due = UINT64_MAX;
	for (uint32_t i = e->first_own; e->devices && i < e->count; i++) {
		uint32_t place = (i - e->first_own) / e->devices;

		e->executor[i].wanted = own_wanted(&e->own, place, now, &due);
		if (due < e->own_due)
			e->own_due = due;
	}
}

static bool step_all(struct executors *e)
{
	bool changed = false;

	assign_own(e);
	for (uint32_t i = 0; i < e->count; i++)
		changed |= executor_step(&e->executor[i]);
	return changed;
}

/* Let the devices' shared processes, which run no client's kernels, read each other's memory. */
static void introduce_all(struct executors *e)
{
	struct executor *device = &e->executor[e->config.config->modules];

	if (!e->house.peers)
		return;
	for (uint32_t i = 0; i < e->devices; i++)
		for (uint32_t j = 0; j < e->devices; j++)
			if (i != j)
				executor_introduce(&device[i], &device[j]);
}

/* Publish the counts of shared devices and modules, for monitoring. */
static void count_all(const struct executors *e)
{
	uint32_t modules = e->config.config->modules, lost = 0, lost_devices = 0;

	for (uint32_t i = 0; i < modules; i++)
		lost += e->executor[i].lost || e->executor[i].state == EXECUTOR_OMITTED;
	for (uint32_t i = 0; i < e->devices; i++)
		lost_devices += e->executor[modules + i].lost;
	totals_set(e->house.totals, QUOIT_DAEMON_MODULES, modules);
	totals_set(e->house.totals, QUOIT_DAEMON_MODULES_LOST, lost);
	totals_set(e->house.totals, QUOIT_DAEMON_DEVICES, e->devices);
	totals_set(e->house.totals, QUOIT_DAEMON_DEVICES_LOST, lost_devices);
}

static void *executors_run(void *arg)
{
	struct executors *e = arg;

	(void)pthread_setname_np(pthread_self(), "quoit-executors");
	hang_at(HANG_EXECUTORS);
	while (!atomic_load(&e->stop)) {
		atomic_fetch_add_explicit(&e->looks, 1, memory_order_relaxed);
		wait_for_news(e);
		bool stepped = step_all(e);
		bool asked = atomic_exchange(&e->tell, false);

		if (stepped || asked) {
			introduce_all(e);
			count_all(e);
			e->config.changed(e->config.arg, e);
		}
	}
	return NULL;
}

/* Have the thread look at everything. */
static void ring(const struct executors *e)
{
	uint64_t one = 1;
	ssize_t n = write(e->house.eventfd, &one, sizeof one);

	(void)n;
}

/* ---- start and stop ---- */

static bool all_settled(const struct executors *e)
{
	for (uint32_t i = 0; i < e->count; i++)
		if (e->executor[i].state == EXECUTOR_STARTING)
			return false;
	return true;
}

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

/* Start all executors, and wait until each can serve or is left out. */
static void start_all(struct executors *e)
{
	for (step_all(e); !all_settled(e); step_all(e))
		wait_for_news(e);
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
		start_all(e);
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
		start_all(e);
		err = start_other_devices(e);
	}
	if (!err) {
		count_devices(e);
		err = add_own(e);
	}
	if (!err) {
		introduce_all(e);
		count_all(e);
		config->changed(config->arg, e);
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

uint64_t executors_progress(const struct executors *e)
{
	return atomic_load_explicit(&e->looks, memory_order_relaxed);
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
