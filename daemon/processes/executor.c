/* SPDX-License-Identifier: MIT */
/* executor.c - start one quoit-exec after the other, and take its hello */
#include "executor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executor_private.h"

#define MS         UINT64_C(1000000)
#define OWNER_NONE UINT64_MAX /* no user */

#define ASK_NS (100 * MS) /* without pidfds: how often quoitd asks whether it lives */

static void ring(int eventfd)
{
	uint64_t one = 1;
	ssize_t n = write(eventfd, &one, sizeof one);

	(void)n;
}

void executor_set_ports(struct executor *x, uint32_t state)
{
	for (uint32_t i = 0; i < x->house->reactors; i++) {
		atomic_store_explicit(&x->port[i].state, state, memory_order_release);
		ring(x->house->eventfds[i]);
	}
}

/* ---- start ---- */

static uint64_t in_time(const struct executor *x)
{
	return totals_now_ns() + x->house->start_ms * MS;
}

/*
 * A user's own process shares its device memory with no other process, and its output is dropped.
 */
static unsigned process_flags(const struct executor *x)
{
	if (x->own)
		return EXECUTOR_PROCESS_MUTE;
	return x->device && x->house->peers ? EXECUTOR_PROCESS_SHARES : 0;
}

static void start(struct executor *x)
{
	int err = executor_process_start(x->path, process_flags(x), &x->process);

	x->refused = x->retired = x->ending = x->why_is_new = x->direct_said = false;
	x->ended = KILL_NOT;
	x->up_since = 0;
	if (err < 0) {
		executor_start_failed(x, err);
		return;
	}
	x->due = in_time(x);
	x->state = EXECUTOR_STARTING;
	memset(x->peer_told, 0, sizeof x->peer_told);
	x->starts++;
}

void executor_kill(struct executor *x, enum exec_kill why)
{
	x->ending = true;
	x->ended = why;
	x->due = in_time(x);
	exec_port_kill_process(x->process.pid);
}

static int open_ports(struct executor *x, bool profiled)
{
	struct quoit_exec_words *words;
	struct quoit_exec_channel *channels;
	int sockets[QUOIT_MAX_REACTORS];
	int err = executor_process_serve(&x->process, x->house->reactors, sockets);

	if (err < 0)
		return err;
	words = x->process.exec_pages;
	channels = (struct quoit_exec_channel *)(words + 1);
	for (uint32_t i = 0; i < x->house->reactors; i++) {
		struct exec_port *p = &x->port[i];

		p->pid = x->process.pid;
		p->socket = sockets[i];
		p->daemon = (struct quoit_exec_daemon_channel *)x->process.daemon_pages + i;
		p->exec = &channels[i];
		p->words = words;
		p->direct.requests = &x->process.direct_requests[i];
		p->direct.words = &x->process.direct_words[i];
		p->profiled = profiled;
		p->answered = 0;
		atomic_store(&p->killed, KILL_NOT);
		for (uint32_t d = 0; d < CONFIG_DEVICES; d++)
			atomic_store(&p->peer[d], 0);
	}
	return 0;
}

void executor_close_ports(struct executor *x)
{
	for (uint32_t i = 0; i < x->house->reactors; i++)
		if (x->port[i].socket >= 0) {
			close(x->port[i].socket);
			x->port[i].socket = -1;
		}
}

/*
 * Take the hello, and let the process serve; -errno as executor_process_hello, or with the reason.
 */
static int take_hello(struct executor *x)
{
	struct quoit_exec_hello hello;
	int err = executor_process_hello(&x->process, &hello);

	if (err == -EPROTO)
		executor_say_refused(x, "invalid hello message: its format is wrong");
	if (!err)
		err = executor_accept_hello(x, &hello);
	if (err)
		return err;
	if (x->device)
		x->house->place(x->house->place_arg, x->device, hello.device.address,
				x->process.pid);
	return open_ports(x, hello.device.flags & QUOIT_DEVICE_PROFILED);
}

static void on_hello(struct executor *x)
{
	int err = take_hello(x);

	if (err == -EAGAIN)
		return;
	if (err < 0) {
		executor_kill(x, err == -ECONNRESET ? KILL_HUNG_UP : KILL_HELLO);
		return;
	}
	if (x->device)
		executor_log(x, LOG_LEVEL_INFO, "%s, quoit-exec is pid %d%s%s",
			     x->hello.device.name, (int)x->process.pid, *x->note ? "; " : "",
			     x->note);
	else
		executor_log(x, LOG_LEVEL_INFO, "%u operations, quoit-exec is pid %d",
			     x->hello.count, (int)x->process.pid);
	x->state = EXECUTOR_UP;
	x->up_since = totals_now_ns();
	x->lost = false;
	executor_set_ports(x, PORT_UP);
	x->changed = true;
}

static bool ports_are_down(const struct executor *x)
{
	for (uint32_t i = 0; i < x->house->reactors; i++)
		if (atomic_load_explicit(&x->port[i].state, memory_order_acquire) != PORT_DOWN)
			return false;
	return true;
}

/* ---- devices among each other ---- */

void executor_introduce(struct executor *x, const struct executor *y)
{
	bool there = y->state == EXECUTOR_UP && y->process.pool >= 0;
	pid_t pid = there ? y->process.pid : 0;

	if (x->state != EXECUTOR_UP || x->peer_told[y->device - 1] == pid ||
	    executor_process_tell(&x->process, y->device, pid, y->process.pool) < 0)
		return;
	x->peer_told[y->device - 1] = pid;
	for (uint32_t i = 0; i < x->house->reactors; i++)
		atomic_store_explicit(&x->port[i].peer[y->device - 1], pid, memory_order_release);
}

/* ---- what happens to it ---- */

static void tell_ports(struct executor *x, uint64_t owner)
{
	for (uint32_t i = 0; i < x->house->reactors; i++)
		atomic_store(&x->port[i].owner, owner);
	x->disowned = owner == OWNER_NONE;
}

/* The failures of the last user's processes do not count against the next user. */
static void change_owner(struct executor *x)
{
	x->owner = x->wanted;
	x->burst = x->failed_starts = 0;
	x->due = 0;
	if (x->state == EXECUTOR_DOWN) {
		if (x->lost)
			executor_set_ports(x, PORT_DOWN);
		x->lost = false;
	}
	tell_ports(x, x->owner);
}

/*
 * Retire a process whose user has changed; it serves no user any more, even if its own comes back.
 */
static void look_whether_it_is_wanted(struct executor *x)
{
	if (x->wanted == x->owner && !x->disowned)
		return;
	if (x->state == EXECUTOR_DOWN || x->state == EXECUTOR_STUCK) {
		change_owner(x);
	} else if (x->state != EXECUTOR_DYING && !x->retired) {
		x->retired = true;
		tell_ports(x, OWNER_NONE);
		executor_kill(x, KILL_NOT);
	}
}

/* Log once, after a reactor's hint, that this process has no GPU-direct mode. */
static void look_at_direct(struct executor *x)
{
	int err = x->device && !x->direct_said ? exec_direct_error(x->process.exec_pages) : 0;

	if (!err)
		return;
	x->direct_said = x->changed = true;
	executor_log(x, LOG_LEVEL_INFO, "no GPU-direct mode, small jobs go through streams: %s",
		     strerror(err));
}

static bool is_due(const struct executor *x)
{
	return x->state == EXECUTOR_DOWN && (!x->own || x->owner) && totals_now_ns() >= x->due;
}

bool executor_step(struct executor *x)
{
	x->changed = false;
	if (x->own)
		look_whether_it_is_wanted(x);
	if (is_due(x))
		start(x);
	if (x->state == EXECUTOR_STARTING && !x->ending)
		on_hello(x);
	if (x->state == EXECUTOR_STARTING && !x->ending && totals_now_ns() >= x->due)
		executor_kill(x, KILL_START);
	if (x->state == EXECUTOR_UP)
		look_at_direct(x);
	if (x->state == EXECUTOR_STARTING || x->state == EXECUTOR_UP || x->state == EXECUTOR_STUCK)
		executor_look_for_end(x);
	if (x->state == EXECUTOR_DYING && ports_are_down(x))
		executor_reap(x);
	return x->changed;
}

/* When it acts next without news. */
static uint64_t own_due(const struct executor *x)
{
	switch (x->state) {
	case EXECUTOR_DOWN:
		return !x->own || x->wanted ? x->due : UINT64_MAX;
	case EXECUTOR_STARTING:
		return x->due;
	case EXECUTOR_UP:
		return x->ending ? x->due : UINT64_MAX;
	default:
		return UINT64_MAX;
	}
}

uint64_t executor_due(const struct executor *x)
{
	uint64_t due = own_due(x);

	if (x->process.pid && x->process.pidfd < 0 && due > totals_now_ns() + ASK_NS)
		due = totals_now_ns() + ASK_NS;
	return due;
}

int executor_init(struct executor *x, const struct executor_house *house, uint8_t number,
		  uint8_t device, const char *path)
{
	*x = (struct executor){.house = house, .number = number, .device = device};
	pthread_mutex_init(&x->why_lock, NULL);
	snprintf(x->path, sizeof x->path, "%s", path);
	executor_make_name(x);
	x->process.pidfd = x->process.pool = -1;
	x->port = calloc(house->reactors, sizeof *x->port);
	if (!x->port)
		return -ENOMEM;
	for (uint32_t i = 0; i < house->reactors; i++) {
		x->port[i].number = number;
		x->port[i].device = device;
		x->port[i].channel = i;
		x->port[i].channels = house->reactors;
		x->port[i].starter = house->eventfd;
		x->port[i].job_ms = device ? house->gpu_ms : house->module_ms;
		x->port[i].socket = -1;
	}
	return 0;
}

void executor_make_own(struct executor *x, const struct executor *like)
{
	x->own = true;
	executor_make_name(x);
	x->hello = like->hello;
	x->known = true;
}

void executor_done(struct executor *x)
{
	if (!x->port)
		return;
	executor_close_ports(x);
	executor_process_free(&x->process);
	pthread_mutex_destroy(&x->why_lock);
	free(x->port);
}
