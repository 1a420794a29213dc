/* SPDX-License-Identifier: MIT */
/* worker.c - threads that claim tiles of published works */
#include "worker.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "affinity.h"
#include "guard.h"
#include "log.h"
#include "tsc.h"

/* A range is cleared in tiles of this size. */
#define CLEAR_BYTES (UINT64_C(1) << 20)
#define WORKER_NICE 19

/* The longest there is: whoever wakes on a worker's core preempts it. */
#define WORKER_SLICE_NS 100000000u

/* From one worker to one reactor: numbers of slots whose work has ended. */
struct worker_done {
	_Alignas(64) uint32_t head;
	_Alignas(64) uint32_t tail;
	uint32_t slot[WORKER_SLOTS];
	struct quoit_producer producer;
	_Alignas(64) struct quoit_consumer consumer;
};

struct worker {
	struct workers *all;
	pthread_t thread;
	uint32_t index;
	uint32_t cpu;
	bool anywhere; /* its node has no reactor */
	_Atomic uint64_t ticks;
};

struct workers {
	struct worker_config config;
	struct worker *worker;
	struct worker_port *port; /* one per reactor */
	_Atomic uint32_t bell;    /* changes whenever there is something new to claim */
	_Atomic uint32_t sleepers;
	_Atomic uint64_t order; /* of publication */
	_Atomic bool stop;
	uint32_t *cores; /* of each reactor: workers that take its works */
	uint32_t started;
};

/* ---- the bell: a futex that only the daemon's own threads reach ---- */

static void bell_wait(struct workers *w, uint32_t seen)
{
	(void)syscall(SYS_futex, &w->bell, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void bell_ring(struct workers *w)
{
	atomic_fetch_add(&w->bell, 1);
	if (atomic_load(&w->sleepers))
		(void)syscall(SYS_futex, &w->bell, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* ---- one work ---- */

static uint32_t clear_tiles(const struct work *work)
{
	uint64_t tiles = 0;

	for (uint32_t i = 0; i < work->zeros; i++)
		tiles += (work->zero[i].bytes + CLEAR_BYTES - 1) / CLEAR_BYTES;
	return (uint32_t)tiles;
}

static void clear_tile(const struct work *work, uint64_t tile)
{
	for (uint32_t i = 0; i < work->zeros; i++) {
		const struct zero_range *z = &work->zero[i];
		uint64_t tiles = (z->bytes + CLEAR_BYTES - 1) / CLEAR_BYTES, at, n;

		if (tile >= tiles) {
			tile -= tiles;
			continue;
		}
		at = tile * CLEAR_BYTES;
		n = z->bytes - at < CLEAR_BYTES ? z->bytes - at : CLEAR_BYTES;
		memset((uint8_t *)z->start + at, 0, n);
		return;
	}
}

static uint32_t compute_tiles(const struct workers *w, const struct work *work, uint32_t reactor)
{
	uint32_t n = work->impl->tiles ? work->impl->tiles(&work->args, w->cores[reactor]) : 1;

	return n ? n : 1;
}

/* Open `tiles` to be claimed.  Everything else about the work is written before. */
static void offer(struct workers *w, struct work *work, uint32_t tiles)
{
	atomic_store_explicit(&work->left, tiles, memory_order_relaxed);
	atomic_store_explicit(&work->claim, (uint64_t)tiles << 32, memory_order_release);
	bell_ring(w);
}

static void report(struct workers *w, uint32_t reactor, uint32_t slot, uint32_t worker)
{
	struct worker_done *d = &w->port[reactor].done[worker];
	uint32_t i;

	if (!quoit_ring_reserve(&d->producer, &i))
		return; /* cannot be: as many entries as slots */
	d->slot[i % WORKER_SLOTS] = slot;
	if (quoit_ring_submit_wake(&d->producer, w->config.owners[reactor].need_wake)) {
		uint64_t one = 1;
		ssize_t n = write(w->config.owners[reactor].eventfd, &one, sizeof one);

		(void)n;
	}
}

/* The last tile is done: go on with the next phase, or tell the owner. */
static void end_phase(struct workers *w, struct work *work, uint32_t reactor, uint32_t slot,
		      uint32_t worker)
{
	if (atomic_load(&work->clearing)) {
		atomic_store(&work->clearing, false);
		offer(w, work, compute_tiles(w, work, reactor));
		return;
	}
	if (work->impl->finish && !atomic_load(&work->abandoned))
		work->impl->finish(&work->args);
	report(w, reactor, slot, worker);
}

static void run_tile(struct worker *me, struct work *work, uint32_t tile, uint32_t tiles,
		     uint32_t reactor, uint32_t slot)
{
	uint64_t start = tsc_now(), none = 0, ticks;
	struct session *outer;

	atomic_compare_exchange_strong(&work->started, &none, start);
	outer = guard_enter(work->session);
	if (!atomic_load_explicit(&work->abandoned, memory_order_relaxed)) {
		if (atomic_load_explicit(&work->clearing, memory_order_relaxed))
			clear_tile(work, tile);
		else
			work->impl->run(&work->args, tile, tiles);
	}
	ticks = tsc_now() - start;
	atomic_fetch_add_explicit(&work->ticks, ticks, memory_order_relaxed);
	atomic_fetch_add_explicit(&me->ticks, ticks, memory_order_relaxed);
	if (atomic_fetch_sub(&work->left, 1) == 1)
		end_phase(me->all, work, reactor, slot, me->index);
	guard_leave(outer);
}

/* ---- choosing ---- */

struct choice {
	struct work *work;
	uint32_t reactor, slot;
	uint32_t priority;
	uint64_t order;
};

static uint32_t rank(uint32_t priority)
{
	return priority == QUOIT_PRIO_HIGH ? 0 : priority == QUOIT_PRIO_NORMAL ? 1 : 2;
}

static bool claimable(const struct work *work)
{
	uint64_t claim = atomic_load_explicit(&work->claim, memory_order_acquire);

	return (uint32_t)claim < claim >> 32;
}

static bool takes_from(const struct worker *me, uint32_t reactor)
{
	const struct worker_config *c = &me->all->config;

	return me->anywhere || c->seats[me->index].node == c->owners[reactor].node;
}

/*
 * The most urgent work with tiles left.  What is read here may belong to a work that
 * has just been replaced: then the choice is not the best, and the claim still right.
 */
static bool choose(const struct worker *me, struct choice *best)
{
	struct workers *w = me->all;

	best->work = NULL;
	for (uint32_t r = 0; r < w->config.reactors; r++) {
		if (!takes_from(me, r))
			continue;
		for (uint32_t i = 0; i < WORKER_SLOTS; i++) {
			struct work *work = &w->port[r].work[i];
			uint32_t priority;
			uint64_t order;

			if (!claimable(work))
				continue;
			priority = __atomic_load_n(&work->priority, __ATOMIC_RELAXED);
			order = __atomic_load_n(&work->order, __ATOMIC_RELAXED);
			if (best->work && (rank(priority) > rank(best->priority) ||
					   (priority == best->priority && order >= best->order)))
				continue;
			*best = (struct choice){work, r, i, priority, order};
		}
	}
	return best->work != NULL;
}

static bool run_one(struct worker *me)
{
	struct choice c;
	uint64_t claim;

	if (!choose(me, &c))
		return false;
	/* One counter holds both the number of tiles and the next one, so a claim on a slot
	 * that was filled anew in between is a valid claim on the new work. */
	claim = atomic_fetch_add_explicit(&c.work->claim, 1, memory_order_acq_rel);
	if ((uint32_t)claim < claim >> 32)
		run_tile(me, c.work, (uint32_t)claim, (uint32_t)(claim >> 32), c.reactor, c.slot);
	return true;
}

static void place(const struct worker *me)
{
	char name[16];
	int err = affinity_pin_thread(me->cpu);

	if (err < 0)
		log_info("worker %u is not pinned to CPU %u: %s", me->index, me->cpu,
			 strerror(-err));
	err = affinity_set_nice(WORKER_NICE);
	if (err < 0)
		log_info("worker %u keeps its nice value: %s", me->index, strerror(-err));
	(void)affinity_set_slice(WORKER_SLICE_NS); /* a wish; says nothing where it is not known */
	snprintf(name, sizeof name, "quoit-work-%u", me->index);
	(void)pthread_setname_np(pthread_self(), name);
}

static void *run(void *arg)
{
	struct worker *me = arg;
	struct workers *w = me->all;

	place(me);
	while (!atomic_load(&w->stop)) {
		uint32_t seen;

		if (run_one(me))
			continue;
		atomic_fetch_add(&w->sleepers, 1);
		seen = atomic_load(&w->bell);
		if (!run_one(me) && !atomic_load(&w->stop))
			bell_wait(w, seen);
		atomic_fetch_sub(&w->sleepers, 1);
	}
	return NULL;
}

/* ---- a reactor's side ---- */

struct worker_port *workers_port(struct workers *w, uint32_t reactor)
{
	return &w->port[reactor];
}

uint32_t workers_count(const struct workers *w)
{
	return w->config.workers;
}

struct work *worker_slot(struct worker_port *port)
{
	struct work *work;

	if (!port->free)
		return NULL;
	work = &port->work[__builtin_ctz(port->free)];
	port->free &= port->free - 1;
	return work;
}

void worker_publish(struct worker_port *port, struct work *work)
{
	uint32_t tiles = clear_tiles(work);

	atomic_store(&work->clearing, tiles != 0);
	atomic_store(&work->abandoned, false);
	atomic_store(&work->ticks, 0);
	atomic_store(&work->started, 0);
	port->published++;
	__atomic_store_n(&work->order, atomic_fetch_add(&port->workers->order, 1),
			 __ATOMIC_RELAXED);
	if (!tiles)
		tiles = compute_tiles(port->workers, work, (uint32_t)(port - port->workers->port));
	offer(port->workers, work, tiles);
}

struct work *worker_finished(struct worker_port *port)
{
	for (uint32_t i = 0; port->published && i < port->workers->config.workers; i++) {
		struct worker_done *d = &port->done[i];

		if (quoit_ring_peek(&d->consumer)) {
			uint32_t slot = d->slot[d->consumer.next % WORKER_SLOTS];

			quoit_ring_release(&d->consumer, 1);
			return &port->work[slot];
		}
	}
	return NULL;
}

void worker_retire(struct worker_port *port, struct work *work)
{
	port->free |= 1u << (uint32_t)(work - port->work);
	port->published--;
}

bool worker_may_sleep(struct worker_port *port, uint32_t *need_wake)
{
	bool idle = true;

	for (uint32_t i = 0; i < port->workers->config.workers; i++)
		idle &= quoit_ring_sleep(&port->done[i].consumer, need_wake);
	return idle;
}

uint64_t worker_ticks(const struct workers *w, uint32_t worker)
{
	return atomic_load_explicit(&w->worker[worker].ticks, memory_order_relaxed);
}

/* ---- start and stop ---- */

static int make_port(struct workers *w, struct worker_port *port)
{
	size_t bytes = w->config.workers * sizeof *port->done;

	memset(port, 0, sizeof *port);
	port->workers = w;
	port->free = (1u << WORKER_SLOTS) - 1;
	port->done = aligned_alloc(64, bytes);
	if (!port->done)
		return -ENOMEM;
	memset(port->done, 0, bytes);
	for (uint32_t i = 0; i < w->config.workers; i++) {
		struct worker_done *d = &port->done[i];

		quoit_producer_init(&d->producer, &d->tail, &d->head, WORKER_SLOTS);
		quoit_consumer_init(&d->consumer, &d->head, &d->tail, WORKER_SLOTS);
	}
	return 0;
}

static bool node_has_reactor(const struct worker_config *c, uint32_t node)
{
	for (uint32_t i = 0; i < c->reactors; i++)
		if (c->owners[i].node == node)
			return true;
	return false;
}

static void assign(struct workers *w)
{
	for (uint32_t i = 0; i < w->config.workers; i++) {
		struct worker *me = &w->worker[i];

		me->all = w;
		me->index = i;
		me->cpu = w->config.seats[i].cpu;
		me->anywhere = !node_has_reactor(&w->config, w->config.seats[i].node);
		for (uint32_t r = 0; r < w->config.reactors; r++)
			w->cores[r] += takes_from(me, r);
	}
}

static int start_threads(struct workers *w)
{
	for (uint32_t i = 0; i < w->config.workers; i++) {
		struct worker *me = &w->worker[i];
		int err;

		err = pthread_create(&me->thread, NULL, run, me);
		if (err)
			return -err;
		w->started++;
	}
	return 0;
}

static void *copy(const void *from, size_t bytes)
{
	void *to = malloc(bytes);

	return to ? memcpy(to, from, bytes) : NULL;
}

static int copy_config(struct worker_config *to, const struct worker_config *from)
{
	*to = *from;
	to->seats = copy(from->seats, from->workers * sizeof *from->seats);
	to->owners = copy(from->owners, from->reactors * sizeof *from->owners);
	return to->seats && to->owners ? 0 : -ENOMEM;
}

static void free_config(struct worker_config *c)
{
	free((void *)(uintptr_t)c->seats);
	free((void *)(uintptr_t)c->owners);
}

int workers_start(const struct worker_config *config, struct workers **ret)
{
	struct workers *w = calloc(1, sizeof *w);
	int err = 0;

	*ret = NULL;
	if (!w)
		return -ENOMEM;
	if (copy_config(&w->config, config) < 0)
		err = -ENOMEM;
	w->worker = calloc(config->workers, sizeof *w->worker);
	w->port = aligned_alloc(64, config->reactors * sizeof *w->port);
	w->cores = calloc(config->reactors, sizeof *w->cores);
	if (!w->worker || !w->port || !w->cores)
		err = -ENOMEM;
	for (uint32_t i = 0; w->port && i < config->reactors; i++)
		if (make_port(w, &w->port[i]) < 0)
			err = -ENOMEM;
	if (!err) {
		assign(w);
		err = start_threads(w);
	}
	if (err) {
		workers_stop(w);
		return err;
	}
	*ret = w;
	return 0;
}

void workers_stop(struct workers *w)
{
	if (!w)
		return;
	atomic_store(&w->stop, true);
	bell_ring(w);
	for (uint32_t i = 0; i < w->started; i++)
		pthread_join(w->worker[i].thread, NULL);
	for (uint32_t i = 0; w->port && i < w->config.reactors; i++)
		free(w->port[i].done);
	free_config(&w->config);
	free(w->cores);
	free(w->port);
	free(w->worker);
	free(w);
}
