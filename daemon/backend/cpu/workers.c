/* SPDX-License-Identifier: MIT */
/* workers.c - starts and stops all workers, and decides which works each takes */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tsc.h"
#include "worker_private.h"

struct worker_port *workers_port(struct workers *w, uint32_t reactor)
{
	return &w->port[reactor];
}

/* ---- start and stop ---- */

static bool node_has_reactor(const struct worker_config *c, uint32_t node)
{
	for (uint32_t i = 0; i < c->reactors; i++)
		if (c->owners[i].node == node)
			return true;
	return false;
}

/* The reactor that is pinned to this CPU; c->reactors: none. */
static uint32_t reactor_at(const struct worker_config *c, uint32_t cpu)
{
	uint32_t i = 0;

	while (i < c->reactors && c->owners[i].cpu != cpu)
		i++;
	return i;
}

static void assign(struct workers *w)
{
	for (uint32_t i = 0; i < w->config.workers; i++) {
		struct worker *me = &w->worker[i];

		me->all = w;
		me->index = i;
		me->cpu = w->config.seats[i].cpu;
		me->turn = WORKER_BACKGROUND;
		me->reactor = reactor_at(&w->config, me->cpu);
		me->anywhere = !node_has_reactor(&w->config, w->config.seats[i].node);
		for (uint32_t r = 0; r < w->config.reactors; r++)
			w->cores[r] += worker_takes_from(me, r);
	}
}

/* Reactors of one node have one ledger. */
static void share_ledgers(struct workers *w)
{
	for (uint32_t r = 0; r < w->config.reactors; r++) {
		uint32_t first = 0;

		while (w->config.owners[first].node != w->config.owners[r].node)
			first++;
		w->port[r].ledger = &w->ledger[first];
	}
}

/* Start the thread `which` of each worker; *count: how many were started. */
static int start_threads(struct workers *w, unsigned which, uint32_t *count)
{
	int err = 0;

	for (uint32_t i = 0; i < w->config.workers && !err; i++) {
		struct worker_thread *t = &w->worker[i].thread[which];

		t->worker = &w->worker[i];
		err = pthread_create(&t->thread, NULL, worker_run, t);
		*count += !err;
	}
	return -err;
}

static void call_all(struct workers *w)
{
	for (uint32_t i = 0; w->worker && i < w->config.workers; i++)
		worker_call_both(&w->worker[i]);
}

static void join_threads(struct workers *w, unsigned which, uint32_t *count)
{
	while (*count)
		pthread_join(w->worker[--*count].thread[which].thread, NULL);
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
	struct workers *w = aligned_alloc(64, sizeof *w);
	int err = 0;

	*ret = NULL;
	if (!w)
		return -ENOMEM;
	memset(w, 0, sizeof *w);
	if (copy_config(&w->config, config) < 0)
		err = -ENOMEM;
	w->worker = aligned_alloc(64, config->workers * sizeof *w->worker);
	if (w->worker)
		memset(w->worker, 0, config->workers * sizeof *w->worker);
	w->port = aligned_alloc(64, config->reactors * sizeof *w->port);
	w->cores = calloc(config->reactors, sizeof *w->cores);
	w->times = calloc(config->workers, sizeof *w->times);
	w->ledger = calloc(config->reactors, sizeof *w->ledger);
	if (!w->worker || !w->port || !w->cores || !w->times || !w->ledger)
		err = -ENOMEM;
	for (uint32_t i = 0; w->port && i < config->reactors; i++)
		if (worker_port_open(&w->port[i], w) < 0)
			err = -ENOMEM;
	if (!err) {
		assign(w);
		share_ledgers(w);
		err = start_threads(w, WORKER_BACKGROUND, &w->started);
	}
	if (err) {
		workers_stop(w);
		return err;
	}
	*ret = w;
	return 0;
}

int workers_double(struct workers *w)
{
	int err;

	if (w->config.nice)
		return 0;
	err = start_threads(w, WORKER_EQUAL, &w->doubled);
	if (!err) {
		atomic_store_explicit(&w->both, true, memory_order_release);
		return 0;
	}
	atomic_store(&w->single, true);
	call_all(w);
	join_threads(w, WORKER_EQUAL, &w->doubled);
	return err;
}

bool workers_count(const struct workers *w, uint32_t i, uint64_t *ret_tiles, uint64_t *ret_ticks)
{
	const struct worker *one;

	if (i >= w->config.workers)
		return false;
	one = &w->worker[i];
	*ret_tiles = __atomic_load_n(&one->tiles, __ATOMIC_ACQUIRE);
	*ret_ticks = __atomic_load_n(&one->ticks, __ATOMIC_ACQUIRE);
	*ret_ticks += tsc_from_ns(worker_share_ns(one));
	return true;
}

/* Looks << 37, or-ed with microseconds: the longest --tile-ms leaves 27 bits for looks. */
uint64_t workers_progress(const struct workers *w, uint32_t i, uint64_t tile_ns)
{
	const struct worker *one = &w->worker[i];
	uint64_t looks = __atomic_load_n(&one->looks, __ATOMIC_RELAXED);
	uint64_t used = worker_share_ns(one);

	return looks << 37 | (used < tile_ns ? used : tile_ns) / 1000;
}

pid_t workers_thread(const struct workers *w, uint32_t i)
{
	return __atomic_load_n(&worker_at_work(&w->worker[i])->tid, __ATOMIC_RELAXED);
}

void workers_kick(struct workers *w)
{
	workers_ring(w);
}

void workers_tell_times(const struct workers *w, uint32_t i, uint64_t *to)
{
	for (unsigned k = 0; k < QUOIT_LATENCY_BUCKETS; k++)
		__atomic_store_n(&to[k], __atomic_load_n(&w->times[i][k], __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
}

void workers_stop(struct workers *w)
{
	if (!w)
		return;
	atomic_store(&w->stop, true);
	workers_ring(w);
	call_all(w);
	join_threads(w, WORKER_EQUAL, &w->doubled);
	join_threads(w, WORKER_BACKGROUND, &w->started);
	for (uint32_t i = 0; w->port && i < w->config.reactors; i++)
		worker_port_close(&w->port[i]);
	free_config(&w->config);
	free(w->ledger);
	free(w->times);
	free(w->cores);
	free(w->port);
	free(w->worker);
	free(w);
}
