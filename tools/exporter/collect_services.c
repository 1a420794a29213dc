/* SPDX-License-Identifier: MIT */
/* collect_services.c - write the metrics of services, locks and their kin */
#include "collect_services.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect.h"
#include "read/format.h"
#include "read/runtime.h"
#include "read/services.h"
#include "read/users.h"

/* A stopped quoitd must not hold up the rest. */
#define ASK_MS 500

/* Each costs a question. */
#define ASK_MOST 4096

/* ---- choosing ---- */

struct choice {
	struct quoit_service_reply s;
	unsigned turn; /* of its user's, it is at this place */
	/* Once it is chosen: */
	char uid[12], user[FORMAT_CELL_BYTES], name[FORMAT_CELL_BYTES];
	struct exposition_label labels[5];
};

struct chosen {
	struct choice *list;
	size_t count;
	uint64_t left_out, unknown; /* unknown: only their user, and those who see all, see more */
};

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* By user; of one user's those first at which most calls wait, then the most used. */
static int by_user(const void *a, const void *b)
{
	const struct quoit_service_reply *x = &((const struct choice *)a)->s;
	const struct quoit_service_reply *y = &((const struct choice *)b)->s;
	int order = compare(x->uid, y->uid);

	order = order ? order : -compare(x->waiting, y->waiting);
	order = order ? order : -compare(x->calls, y->calls);
	return order ? order : compare(x->service, y->service);
}

static int by_turn(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;
	int order = compare(x->turn, y->turn);

	return order ? order : compare(x->s.uid, y->s.uid);
}

static int by_number(const void *a, const void *b)
{
	return compare(((const struct choice *)a)->s.service,
		       ((const struct choice *)b)->s.service);
}

/* A service that nobody serves any more may still be called, while another one has its name. */
static bool is_superseded(const struct services *all, size_t i)
{
	for (size_t k = i + 1; k < all->count; k++)
		if (all->list[k].uid == all->list[i].uid &&
		    !strcmp(all->list[k].name, all->list[i].name))
			return true;
	return false;
}

static void take_turns(struct chosen *c)
{
	qsort(c->list, c->count, sizeof *c->list, by_user);
	for (size_t i = 0; i < c->count; i++)
		c->list[i].turn =
			i && c->list[i].s.uid == c->list[i - 1].s.uid ? c->list[i - 1].turn + 1 : 0;
	qsort(c->list, c->count, sizeof *c->list, by_turn);
	if (c->count > COLLECT_SERVICES) {
		c->left_out += c->count - COLLECT_SERVICES;
		c->count = COLLECT_SERVICES;
	}
	qsort(c->list, c->count, sizeof *c->list, by_number); /* so that the text changes little */
}

static void choose(const struct services *all, struct chosen *ret)
{
	for (size_t i = 0; i < all->count; i++) {
		if (!all->list[i].known)
			ret->unknown++;
		else if (all->list[i].kind < QUOIT_SYNC_NR && !is_superseded(all, i))
			ret->list[ret->count++].s = all->list[i];
	}
	ret->left_out = all->is_cut; /* or more */
	if (ret->count)
		take_turns(ret);
}

/* quoitd allows printable ASCII only, but readers reject a whole text that is not UTF-8. */
static void identify(struct choice *c)
{
	snprintf(c->uid, sizeof c->uid, "%" PRIu32, c->s.uid);
	format_escape(users_name(c->s.uid), c->user, sizeof c->user);
	format_escape(c->s.name, c->name, sizeof c->name);
	c->labels[0] = (struct exposition_label){"kind", services_kind(&c->s)};
	c->labels[1] = (struct exposition_label){"uid", c->uid};
	c->labels[2] = (struct exposition_label){"user", c->user};
	c->labels[3] = (struct exposition_label){"name", c->name};
	c->labels[4] = (struct exposition_label){0};
}

/* ---- the families ---- */

static uint32_t busy(const struct quoit_service_reply *s)
{
	return s->running < s->lanes ? s->running : s->lanes;
}

static uint64_t waiting(const struct quoit_service_reply *s)
{
	return s->kind ? s->waiting : s->waiting + (uint64_t)(s->running - busy(s));
}

/* Of all kinds, or of one. */
#define ALL QUOIT_SYNC_NR

enum figure {
	WAITING,
	CALLERS,
	CALLS,
	FAILED,
	PROCESSES,
	THREADS,
	BUSY,
	AGAIN,
	SECONDS,
	HELD,
	HOLDER,
	SET,
	COUNT,
	ARRIVED,
	MESSAGES,
	QUEUED,
	BYTES,
	KEYS,
	STORED,
	FIGURES,
};

static const struct {
	const char *name;
	enum exposition_type type;
	unsigned kind; /* enum quoit_sync_kind, 0: services; ALL */
	const char *unit;
	const char *help;
} families[FIGURES] = {
	[WAITING] = {"quoit_object_calls_waiting", EXPOSITION_GAUGE, ALL, NULL,
		     "Calls that wait: for a thread of a service, for a lock, a flag, a semaphore, "
		     "others at a barrier, or at a queue."},
	[CALLERS] = {"quoit_object_callers", EXPOSITION_GAUGE, ALL, NULL,
		     "Sessions that have it open."},
	[CALLS] = {"quoit_object_calls", EXPOSITION_COUNTER, ALL, NULL,
		   "Calls that have ended; it begins anew when it is made anew."},
	[FAILED] = {"quoit_object_calls_failed", EXPOSITION_COUNTER, ALL, NULL,
		    "Calls of these that have failed."},
	[PROCESSES] = {"quoit_service_processes", EXPOSITION_GAUGE, 0, NULL,
		       "Processes that serve the service."},
	[THREADS] = {"quoit_service_threads", EXPOSITION_GAUGE, 0, NULL,
		     "Threads that serve the service, in all processes."},
	[BUSY] = {"quoit_service_threads_busy", EXPOSITION_GAUGE, 0, NULL,
		  "Threads of these that have a call."},
	[AGAIN] = {"quoit_service_calls_again", EXPOSITION_COUNTER, 0, NULL,
		   "Calls that went to another process because theirs ended before they began."},
	[SECONDS] = {"quoit_service_run_seconds", EXPOSITION_COUNTER, 0, "seconds",
		     "Time that the service's functions ran."},
	[HELD] = {"quoit_lock_held", EXPOSITION_GAUGE, QUOIT_SYNC_LOCK, NULL,
		  "1 if a session has the lock, else 0."},
	[HOLDER] = {"quoit_lock_holder_pid", EXPOSITION_GAUGE, QUOIT_SYNC_LOCK, NULL,
		    "The process whose session has the lock; 0: none has it."},
	[SET] = {"quoit_flag_set", EXPOSITION_GAUGE, QUOIT_SYNC_FLAG, NULL,
		 "1 if the flag is set, else 0."},
	[COUNT] = {"quoit_semaphore_available", EXPOSITION_GAUGE, QUOIT_SYNC_SEMAPHORE, NULL,
		   "How many the semaphore has."},
	[ARRIVED] = {"quoit_barrier_arrived", EXPOSITION_GAUGE, QUOIT_SYNC_BARRIER, NULL,
		     "How many wait at the barrier for the others."},
	[MESSAGES] = {"quoit_queue_messages", EXPOSITION_GAUGE, QUOIT_SYNC_QUEUE, NULL,
		      "Messages in the queue that no receiver has got."},
	[QUEUED] = {"quoit_queue_used_bytes", EXPOSITION_GAUGE, QUOIT_SYNC_QUEUE, "bytes",
		    "Bytes that messages of the queue take, in steps of 1 KiB."},
	[BYTES] = {"quoit_tensor_bytes", EXPOSITION_GAUGE, QUOIT_SYNC_TENSOR, "bytes",
		   "Bytes of the tensor with a name."},
	[KEYS] = {"quoit_keyspace_keys", EXPOSITION_GAUGE, QUOIT_SYNC_KEYSPACE, NULL,
		  "Keys of the keyspace."},
	[STORED] = {"quoit_keyspace_used_bytes", EXPOSITION_GAUGE, QUOIT_SYNC_KEYSPACE, "bytes",
		    "Bytes that keys of the keyspace and their values take, in steps of 1 KiB."},
};

static uint64_t count_of(const struct quoit_service_reply *s, enum figure figure)
{
	const uint64_t used = (uint64_t)s->kib << 10;
	const uint64_t counts[FIGURES] = {
		[WAITING] = waiting(s), [CALLERS] = s->callers, [CALLS] = s->calls,
		[FAILED] = s->failed,   [THREADS] = s->lanes,   [PROCESSES] = s->servers,
		[BUSY] = busy(s),       [AGAIN] = s->again,     [HELD] = s->holder != 0,
		[SET] = s->value,       [COUNT] = s->value,     [ARRIVED] = s->value,
		[MESSAGES] = s->value,  [BYTES] = s->value,     [KEYS] = s->value,
		[HOLDER] = s->holder,   [QUEUED] = used,        [STORED] = used};

	return counts[figure];
}

/* ---- writing ---- */

static void write_family(struct exposition *e, const struct chosen *c, enum figure figure,
			 uint64_t hz)
{
	exposition_family(e, &(struct exposition_family){.name = families[figure].name,
							 .type = families[figure].type,
							 .unit = families[figure].unit,
							 .help = families[figure].help});
	for (size_t i = 0; i < c->count; i++) {
		const struct quoit_service_reply *s = &c->list[i].s;

		if (families[figure].kind != ALL && families[figure].kind != s->kind)
			continue;
		if (figure != SECONDS)
			exposition_count(e, c->list[i].labels, count_of(s, figure));
		else if (hz)
			exposition_real(e, c->list[i].labels, (double)s->ticks / (double)hz);
	}
}

static void write_left_out(struct exposition *e, const struct chosen *c)
{
	const struct {
		const char *reason;
		uint64_t count;
	} rows[] = {{"unreadable", c->unknown}, {"too_many", c->left_out}};

	exposition_family(
		e,
		&(struct exposition_family){
			.name = "quoit_objects_not_exported",
			.type = EXPOSITION_GAUGE,
			.help = "Services, locks and their kin without series of their own: the "
				"exporter's user may not see more of them, or there are too many."});
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		exposition_count(e, (struct exposition_label[]){{"reason", rows[i].reason}, {0}},
				 rows[i].count);
}

static int write_all(struct exposition *e, const struct services *all, uint64_t hz)
{
	struct chosen c = {.list = calloc(all->count ? all->count : 1, sizeof *c.list)};

	if (!c.list)
		return -ENOMEM;
	choose(all, &c);
	for (size_t i = 0; i < c.count; i++)
		identify(&c.list[i]);
	write_left_out(e, &c);
	for (unsigned figure = 0; figure < FIGURES; figure++)
		write_family(e, &c, (enum figure)figure, hz);
	free(c.list);
	return 0;
}

int collect_services(struct exposition *e, const char *socket, uint64_t tsc_hz)
{
	char text[CONTROL_TEXT_BYTES];
	struct services all = {0};
	int fd = runtime_connect(socket, ASK_MS), err;

	if (fd < 0)
		return 0;
	err = services_read_some(fd, socket, ASK_MOST, &all, text);
	close(fd);
	if (!err)
		err = write_all(e, &all, tsc_hz);
	free(all.list);
	return err == -ENOMEM ? err : 0;
}
