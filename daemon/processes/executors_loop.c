/* SPDX-License-Identifier: MIT */
/* executors_loop.c - the thread that watches all executors: steps each, and tells what changed */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/hang_injection.h"
#include "executors_private.h"

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

void executors_publish(struct executors *e)
{
	introduce_all(e);
	count_all(e);
	e->config.changed(e->config.arg, e);
}

static bool all_settled(const struct executors *e)
{
	for (uint32_t i = 0; i < e->count; i++)
		if (e->executor[i].state == EXECUTOR_STARTING)
			return false;
	return true;
}

void executors_settle(struct executors *e)
{
	for (step_all(e); !all_settled(e); step_all(e))
		wait_for_news(e);
}

void *executors_run(void *arg)
{
	struct executors *e = arg;

	atomic_store(&e->tid, gettid());
	(void)pthread_setname_np(pthread_self(), "quoit-executors");
	hang_at(HANG_EXECUTORS);
	while (!atomic_load(&e->stop)) {
		atomic_fetch_add_explicit(&e->looks, 1, memory_order_relaxed);
		wait_for_news(e);
		bool stepped = step_all(e);
		bool asked = atomic_exchange(&e->tell, false);

		if (stepped || asked)
			executors_publish(e);
	}
	return NULL;
}
