/* SPDX-License-Identifier: MIT */
/* executor.c - starting, accepting, and burying one quoit-exec after the other */
#include "executor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor_private.h"
#include "host/log.h"

#define MS            UINT64_C(1000000)
#define HELLO_NS      (10000 * MS) /* to load and initialise a module */
#define RARE_NS       (10000 * MS) /* deaths farther apart have nothing to do with each other */
#define BACKOFF_LEAST (10 * MS)
#define BACKOFF_MOST  (500 * MS)
#define LOST_DEATHS   5u
#define LOST_NS       (10000 * MS) /* a lost one is tried again so often */
#define ASK_NS        (100 * MS)   /* without pidfds: how often we ask whether it lives */

static void ring(int eventfd)
{
	uint64_t one = 1;
	ssize_t n = write(eventfd, &one, sizeof one);

	(void)n;
}

static void set_ports(struct executor *x, uint32_t state)
{
	for (uint32_t i = 0; i < x->house->reactors; i++) {
		atomic_store_explicit(&x->port[i].state, state, memory_order_release);
		ring(x->house->eventfds[i]);
	}
}

/* ---- start ---- */

static void start(struct executor *x)
{
	int err = executor_process_start(x->path, &x->process);

	x->due = totals_now_ns() + (err < 0 ? LOST_NS : HELLO_NS);
	if (err < 0) {
		log_error("%s %s: cannot start quoit-exec: %s", executor_kind(x), x->path,
			  strerror(-err));
		x->state = x->known ? EXECUTOR_DOWN : EXECUTOR_OMITTED;
		return;
	}
	x->state = EXECUTOR_STARTING;
	x->refused = x->retired = false;
	x->ended = KILL_NOT;
	memset(x->told, 0, sizeof x->told);
	x->starts++;
}

/* Before anybody else can: its end will be seen. */
static void end(struct executor *x, enum exec_kill why)
{
	x->ended = why;
	executor_process_kill(x->process.pid);
}

static int open_ports(struct executor *x)
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
		p->answered = 0;
		atomic_store(&p->killed, KILL_NOT);
		for (uint32_t d = 0; d < CONFIG_DEVICES; d++)
			atomic_store(&p->peer[d], 0);
	}
	return 0;
}

static void close_ports(struct executor *x)
{
	for (uint32_t i = 0; i < x->house->reactors; i++)
		if (x->port[i].socket >= 0) {
			close(x->port[i].socket);
			x->port[i].socket = -1;
		}
}

static void on_hello(struct executor *x)
{
	struct quoit_exec_hello hello;
	int err = executor_process_hello(&x->process, &hello);

	if (err == -EAGAIN)
		return;
	if (err == -EPROTO)
		log_error("%s %s: what quoit-exec says is not understood", executor_kind(x),
			  x->path);
	if (!err)
		err = executor_accept_hello(x, &hello);
	if (!err)
		err = open_ports(x);
	if (err < 0) {
		x->refused |= err != -ECONNRESET;
		end(x, err == -ECONNRESET ? KILL_HUNG_UP : KILL_HELLO);
		return;
	}
	if (x->device)
		log_info("device %s: %s, quoit-exec is pid %d", x->path, x->hello.device.name,
			 (int)x->process.pid);
	else
		log_info("module %s: %u operations, quoit-exec is pid %d", x->path, x->hello.count,
			 (int)x->process.pid);
	x->state = EXECUTOR_UP;
	x->lost = false;
	set_ports(x, PORT_UP);
	x->changed = true;
}

/* ---- death ---- */

/* How long to wait before the next start. */
static uint64_t backoff(const struct executor *x)
{
	uint64_t ns = BACKOFF_LEAST;

	if (x->burst <= 1)
		return 0;
	for (uint32_t i = 2; i < x->burst && ns < BACKOFF_MOST; i++)
		ns *= 2;
	return ns < BACKOFF_MOST ? ns : BACKOFF_MOST;
}

/* What this death means for the next start: did it do any work, was it our own doing? */
static void count_death(struct executor *x)
{
	uint64_t now = totals_now_ns(), answered = 0;
	bool blameless = false;

	for (uint32_t i = 0; x->state == EXECUTOR_DYING && i < x->house->reactors; i++) {
		answered += x->port[i].answered;
		blameless |= atomic_load(&x->port[i].killed) == KILL_LATE;
	}
	if (now - x->last_death > RARE_NS)
		x->burst = x->vain = 0;
	x->last_death = now;
	x->burst++;
	if (answered)
		x->vain = 0;
	else if (!blameless)
		x->vain++;
	x->lost = x->vain >= LOST_DEATHS;
	x->due = now + (x->lost ? LOST_NS : backoff(x));
}

/* Whose it was has no more use for it: no death to speak of, and nothing to wait for afterwards. */
static void bury_retired(struct executor *x)
{
	log_info("%s %s: quoit-exec of uid %llu has ended", executor_kind(x), x->path,
		 (unsigned long long)x->owner - 1);
	x->due = 0;
	x->state = EXECUTOR_DOWN;
	x->changed = true;
}

/* Nobody uses it any more. */
static void bury(struct executor *x)
{
	char text[80];

	executor_say_end(x, text, sizeof text);
	if (!x->retired)
		count_death(x);
	close_ports(x);
	executor_process_free(&x->process);
	if (x->retired) {
		bury_retired(x);
		return;
	}
	if (!x->known) {
		if (!x->refused)
			executor_say_refused(x, text);
		else if (!*x->why)
			snprintf(x->why, sizeof x->why, "%s", text);
		x->state = EXECUTOR_OMITTED;
		set_ports(x, PORT_LOST); /* some of its operations may have got numbers */
		return;
	}
	totals_count(x->house->totals, QUOIT_DAEMON_EXECUTORS_DIED);
	log_warning("%s %s: %s; %s", executor_kind(x), x->path, text,
		    x->lost ? "it is lost: its jobs fail" : "it is started again");
	x->state = EXECUTOR_DOWN;
	if (x->lost)
		set_ports(x, PORT_LOST);
	x->changed = true;
}

static bool ports_are_down(const struct executor *x)
{
	for (uint32_t i = 0; i < x->house->reactors; i++)
		if (atomic_load_explicit(&x->port[i].state, memory_order_acquire) != PORT_DOWN)
			return false;
	return true;
}

static void look_whether_it_lives(struct executor *x)
{
	if (!executor_process_has_ended(&x->process, &x->status))
		return;
	if (x->state == EXECUTOR_STARTING) {
		bury(x);
		return;
	}
	x->state = EXECUTOR_DYING;
	for (uint32_t i = 0; i < x->house->reactors; i++)
		x->port[i].status = x->status;
	set_ports(x, PORT_DEAD);
}

/* ---- devices among each other ---- */

void executor_introduce(struct executor *x, const struct executor *y)
{
	bool there = y->state == EXECUTOR_UP && y->process.pool >= 0;
	pid_t pid = there ? y->process.pid : 0;

	if (x->state != EXECUTOR_UP || x->told[y->device - 1] == pid ||
	    executor_process_tell(&x->process, y->device, pid, y->process.pool) < 0)
		return;
	x->told[y->device - 1] = pid;
	for (uint32_t i = 0; i < x->house->reactors; i++)
		atomic_store_explicit(&x->port[i].peer[y->device - 1], pid, memory_order_release);
}

/* ---- what happens to it ---- */

/* Nothing of what the last user's processes did is the next one's fault. */
static void change_owner(struct executor *x)
{
	x->owner = x->wanted;
	x->burst = x->vain = 0;
	x->due = 0;
	if (x->lost)
		set_ports(x, PORT_DOWN);
	x->lost = false;
	for (uint32_t i = 0; i < x->house->reactors; i++)
		atomic_store(&x->port[i].owner, x->owner);
}

static void look_whether_it_is_wanted(struct executor *x)
{
	if (x->wanted == x->owner)
		return;
	if (x->state == EXECUTOR_DOWN) {
		change_owner(x);
	} else if (x->state != EXECUTOR_DYING && !x->retired) {
		x->retired = true;
		executor_process_kill(x->process.pid);
	}
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
	if (x->state == EXECUTOR_STARTING)
		on_hello(x);
	if (x->state == EXECUTOR_STARTING && totals_now_ns() >= x->due)
		end(x, KILL_SILENT);
	if (x->state == EXECUTOR_STARTING || x->state == EXECUTOR_UP)
		look_whether_it_lives(x);
	if (x->state == EXECUTOR_DYING && ports_are_down(x))
		bury(x);
	return x->changed;
}

uint64_t executor_due(const struct executor *x)
{
	bool waits = x->state == EXECUTOR_DOWN || x->state == EXECUTOR_STARTING;
	uint64_t due = waits && (!x->own || x->wanted) ? x->due : UINT64_MAX;

	if (x->process.pid && x->process.pidfd < 0 && due > totals_now_ns() + ASK_NS)
		due = totals_now_ns() + ASK_NS;
	return due;
}

int executor_init(struct executor *x, const struct executor_house *house, uint8_t number,
		  uint8_t device, const char *path)
{
	*x = (struct executor){.house = house, .number = number, .device = device};
	snprintf(x->path, sizeof x->path, "%s", path);
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
	x->hello = like->hello;
	x->known = true;
}

void executor_done(struct executor *x)
{
	if (!x->port)
		return;
	close_ports(x);
	executor_process_free(&x->process);
	free(x->port);
}
