/* SPDX-License-Identifier: MIT */
/* executor.c - starting, accepting, and burying one quoit-exec after the other */
#include "executor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"
#include "optable.h"

#define MS            UINT64_C(1000000)
#define HELLO_NS      (10000 * MS) /* to load and initialise a module */
#define RARE_NS       (10000 * MS) /* deaths farther apart have nothing to do with each other */
#define BACKOFF_LEAST (10 * MS)
#define BACKOFF_MOST  (500 * MS)
#define LOST_DEATHS   5u
#define LOST_NS       (10000 * MS) /* a lost one is tried again so often */
#define ASK_NS        (100 * MS)   /* without pidfds: how often we ask whether it lives */
#define MOST_COST     1000000000u  /* picoseconds per element that a module may claim */

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

static const char *describe_status(int status, char *text, size_t size)
{
	if (WIFSIGNALED(status))
		snprintf(text, size, "signal %d", WTERMSIG(status));
	else
		snprintf(text, size, "exit status %d", WEXITSTATUS(status));
	return text;
}

static const char *kind(const struct executor *x)
{
	return x->device ? "device" : "module";
}

/* A module was asked for by name; a device may not be there. */
static void say_refused(struct executor *x, const char *why)
{
	snprintf(x->why, sizeof x->why, "%s", why);
	if (x->device)
		log_info("device %s is left out: %s", x->path, why);
	else
		log_error("module %s is left out: %s", x->path, why);
}

/* ---- start ---- */

static void start(struct executor *x)
{
	int err = executor_process_start(x->path, &x->process);

	x->due = totals_now_ns() + (err < 0 ? LOST_NS : HELLO_NS);
	if (err < 0) {
		log_error("%s %s: cannot start quoit-exec: %s", kind(x), x->path, strerror(-err));
		x->state = x->known ? EXECUTOR_DOWN : EXECUTOR_OMITTED;
		return;
	}
	x->state = EXECUTOR_STARTING;
	x->refused = false;
	x->starts++;
}

static bool is_name(const char *name)
{
	size_t n = strnlen(name, QUOIT_EXEC_NAME_BYTES);

	return n && n < QUOIT_EXEC_NAME_BYTES &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == n;
}

static bool is_row(const struct quoit_exec_op_row *row)
{
	return is_name(row->name) && strnlen(row->access, sizeof row->access) == 4 &&
	       strspn(row->access, "WRMwr-") == 4 && !(row->flags & ~QUOIT_EXEC_FLAGS) &&
	       row->cost <= MOST_COST && optable_number(row->name) < 0;
}

/* Give its operations numbers; false: what it says makes no sense. */
static bool add_operations(struct executor *x)
{
	for (uint32_t i = 0; i < x->hello.count; i++) {
		const struct quoit_exec_op_row *from = &x->hello.op[i];
		struct op_row row = {.name = from->name,
				     .shape = SHAPE_NONE,
				     .types = OP_TYPES_N,
				     .flags = OP_MODULE,
				     .module = x->number,
				     .index = (uint8_t)i,
				     .cost = from->cost};

		if (!is_row(from)) {
			log_error("module %s: operation %u is no operation, or is there already",
				  x->path, i);
			return false;
		}
		memcpy(row.access, from->access, sizeof row.access);
		if (from->flags & QUOIT_EXEC_RERUN)
			row.flags |= OP_RERUN;
		if (optable_add(&row, &x->opcode[i]) < 0) {
			log_error("module %s: no number is free for %s", x->path, from->name);
			return false;
		}
	}
	return true;
}

static bool is_text(const char *text, size_t size)
{
	size_t n = strnlen(text, size);

	for (size_t i = 0; i < n; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return n < size;
}

/* What it says of its device can be shown and counted with. */
static bool is_device(const struct quoit_exec_hello *h)
{
	const struct quoit_device_info *d = &h->device;

	return h->devices && h->devices <= UINT8_MAX && !h->count && d->bytes &&
	       is_text(d->name, sizeof d->name) && is_text(d->address, sizeof d->address) &&
	       is_text(d->driver, sizeof d->driver);
}

static bool same_operations(const struct quoit_exec_hello *a, const struct quoit_exec_hello *b)
{
	return a->count == b->count && !memcmp(a->op, b->op, a->count * sizeof a->op[0]);
}

/* Take over what it says about itself; -errno: it cannot be used. */
static int accept_hello(struct executor *x, const struct quoit_exec_hello *hello)
{
	char text[sizeof hello->text];

	if (hello->result < 0) {
		log_escape(text, sizeof text, hello->text, sizeof hello->text);
		say_refused(x, text);
		return hello->result;
	}
	if (x->device && !is_device(hello)) {
		log_error("device %s: what it says of itself makes no sense", x->path);
		return -EPROTO;
	}
	if (x->known && !same_operations(&x->hello, hello)) {
		log_error("module %s: its operations have changed; restart quoitd", x->path);
		return -ESTALE;
	}
	if (!x->known) {
		x->hello = *hello;
		x->known = x->device || add_operations(x);
		if (!x->known)
			return -EINVAL;
	}
	return 0;
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
		p->answered = 0;
		atomic_store(&p->killed, KILL_NOT);
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
		log_error("%s %s: what quoit-exec says is not understood", kind(x), x->path);
	if (!err)
		err = accept_hello(x, &hello);
	if (!err)
		err = open_ports(x);
	if (err < 0) {
		x->refused |= err != -ECONNRESET;
		executor_process_kill(x->process.pid); /* and its end will be seen */
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

/* Nobody uses it any more. */
static void bury(struct executor *x)
{
	char text[32];

	describe_status(x->status, text, sizeof text);
	count_death(x);
	close_ports(x);
	executor_process_free(&x->process);
	if (!x->known) {
		if (!x->refused)
			say_refused(x, text);
		x->state = EXECUTOR_OMITTED;
		set_ports(x, PORT_LOST); /* some of its operations may have got numbers */
		return;
	}
	totals_count(x->house->totals, QUOIT_DAEMON_EXECUTORS_DIED);
	log_warning("%s %s: quoit-exec ended with %s; %s", kind(x), x->path, text,
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

/* ---- what happens to it ---- */

bool executor_step(struct executor *x)
{
	x->changed = false;
	if (x->state == EXECUTOR_DOWN && totals_now_ns() >= x->due)
		start(x);
	if (x->state == EXECUTOR_STARTING)
		on_hello(x);
	if (x->state == EXECUTOR_STARTING && totals_now_ns() >= x->due)
		executor_process_kill(x->process.pid);
	if (x->state == EXECUTOR_STARTING || x->state == EXECUTOR_UP)
		look_whether_it_lives(x);
	if (x->state == EXECUTOR_DYING && ports_are_down(x))
		bury(x);
	return x->changed;
}

uint64_t executor_due(const struct executor *x)
{
	bool waits = x->state == EXECUTOR_DOWN || x->state == EXECUTOR_STARTING;
	uint64_t due = waits ? x->due : UINT64_MAX;

	if (x->process.pid && x->process.pidfd < 0 && due > totals_now_ns() + ASK_NS)
		due = totals_now_ns() + ASK_NS;
	return due;
}

int executor_init(struct executor *x, const struct executor_house *house, uint8_t number,
		  uint8_t device, const char *path)
{
	*x = (struct executor){.house = house, .number = number, .device = device};
	snprintf(x->path, sizeof x->path, "%s", path);
	x->process.pidfd = -1;
	x->port = calloc(house->reactors, sizeof *x->port);
	if (!x->port)
		return -ENOMEM;
	for (uint32_t i = 0; i < house->reactors; i++) {
		x->port[i].number = number;
		x->port[i].device = device;
		x->port[i].channel = i;
		x->port[i].starter = house->eventfd;
		x->port[i].job_ms = device ? house->gpu_ms : house->module_ms;
		x->port[i].socket = -1;
	}
	return 0;
}

void executor_done(struct executor *x)
{
	if (!x->port)
		return;
	close_ports(x);
	executor_process_free(&x->process);
	free(x->port);
}

static void describe_device(const struct quoit_device_info *d, FILE *out)
{
	fprintf(out, "%s%s%s, %llu MiB, %u units%s%s, ", d->name, *d->address ? " at " : "",
		d->address, (unsigned long long)d->bytes >> 20, d->units,
		*d->driver ? ", driver " : "", d->driver);
}

void executor_describe(const struct executor *x, FILE *out)
{
	fprintf(out, "%s: %s, ", kind(x), x->path);
	if (x->known && x->device)
		describe_device(&x->hello.device, out);
	if (x->state == EXECUTOR_OMITTED)
		fprintf(out, "left out: %s", x->why);
	else if (x->state == EXECUTOR_UP)
		fprintf(out, "pid %d, started %llu times", (int)x->process.pid,
			(unsigned long long)x->starts);
	else
		fprintf(out, "%s", x->lost ? "lost" : "being started");
	for (uint32_t i = 0; x->known && i < x->hello.count; i++)
		fprintf(out, "%s %s %u", i ? "," : ";", x->hello.op[i].name, x->opcode[i]);
	fprintf(out, "\n");
}
