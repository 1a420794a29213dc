/* SPDX-License-Identifier: MIT */
/* worker_port.c - a reactor's side of the workers: its slots, and works that have ended */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tsc.h"
#include "fair/slot_quota.h"
#include "worker_private.h"

/* A user that could not use its share gets at most so much of a core's time later, for its share. */
#define CLAIM_SECONDS 1u

int worker_port_open(struct worker_port *port, struct workers *w)
{
	size_t bytes = w->config.workers * sizeof *port->done;

	memset(port, 0, sizeof *port);
	port->workers = w;
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

void worker_port_close(struct worker_port *port)
{
	free(port->done);
}

/* The slots that are taken; only the owner changes this. */
static uint64_t taken(const struct worker_port *port)
{
	return atomic_load_explicit(&port->used, memory_order_relaxed);
}

bool worker_admits(const struct worker_port *port, uint32_t user, uint32_t of_session)
{
	uint32_t shared = port->published - port->holders, held = port->held[user];

	if (port->published == WORKER_SLOTS)
		return false;
	/* held < left never gives the last shared slot away, so a user that holds none gets one. */
	return slot_quota_admits(WORKER_SHARED, WORKER_SHARED - shared, held, of_session);
}

void worker_await(struct worker_port *port, uint32_t user, bool awaits)
{
	struct ledger *l = port->ledger;

	if (awaits)
		ledger_open(&l->user[user].page, &l->clock);
	else
		ledger_close(&l->user[user].page);
}

bool worker_has(const struct worker_port *port, uint32_t i, const struct session *s)
{
	return taken(port) >> i & 1 && port->work[i].session == s;
}

struct work *worker_slot(struct worker_port *port)
{
	uint64_t used = taken(port);

	if (used == UINT64_MAX)
		return NULL;
	/* The work has no tiles left until it is published, so workers pass it over. */
	atomic_store_explicit(&port->used, used | (used + 1), memory_order_release);
	return &port->work[__builtin_ctzll(~used)];
}

/* Forget what the flow's last session had: it was counted by another user's clock. */
static uint32_t give_flow(struct worker_port *port, uint64_t session_id)
{
	do
		port->given = (port->given + 1) % WORKER_SLOTS;
	while (port->flow[port->given].page.works);
	port->flow[port->given].session_id = session_id;
	atomic_store_explicit(&port->flow[port->given].page.ticks_used, 0, memory_order_relaxed);
	return port->given;
}

/* Find the session's flow, or take a free one; there are as many as works.  They are given out in
 * turn, so that a session that had one is known for a while. */
static uint32_t find_flow(struct worker_port *port, uint64_t session_id)
{
	for (uint32_t i = 0; i < WORKER_SLOTS; i++)
		if (port->flow[i].session_id == session_id)
			return i;
	return give_flow(port, session_id);
}

static void add_work(struct ledger_page *page, const _Atomic uint64_t *clock)
{
	ledger_open(page, clock);
	ledger_lapse(page, clock, CLAIM_SECONDS * tsc_hz());
}

static void enter(struct worker_port *port, struct work *work)
{
	uint32_t i = find_flow(port, work->session_id);
	struct ledger *l = port->ledger;

	atomic_store_explicit(&work->flow, i, memory_order_relaxed);
	add_work(&l->user[work->user].page, &l->clock);
	add_work(&port->flow[i].page, &l->user[work->user].clock);
}

/* All but its tiles. */
static void prepare(struct worker_port *port, struct work *work)
{
	enter(port, work);
	atomic_store(&work->abandoned, false);
	atomic_store(&work->ticks, 0);
	atomic_store(&work->started, 0);
	atomic_store(&work->next, WORK_ALONE);
	work->ahead = work->behind = NULL;
	work->early = false;
	port->published++;
	port->holders += port->held[work->user]++ == 0;
}

static uint32_t reactor_of(const struct worker_port *port)
{
	return (uint32_t)(port - port->workers->port);
}

void worker_publish(struct worker_port *port, struct work *work)
{
	prepare(port, work);
	work_begin(port->workers, work, reactor_of(port));
	port->unheard = true;
}

/* ---- works in a line ---- */

static uint32_t slot_of(const struct worker_port *port, const struct work *work)
{
	return (uint32_t)(work - port->work);
}

static void leave_line(struct work *work)
{
	if (work->ahead)
		work->ahead->behind = NULL;
	if (work->behind)
		work->behind->ahead = NULL;
	work->ahead = work->behind = NULL;
}

bool worker_follow(struct worker_port *port, struct work *ahead, struct work *work)
{
	uint32_t alone = WORK_ALONE;

	assert(!ahead->ahead && !ahead->behind);
	prepare(port, work);
	work->ahead = ahead;
	ahead->behind = work;
	if (atomic_compare_exchange_strong(&ahead->next, &alone, slot_of(port, work)))
		return true;
	worker_retire(port, work);
	return false;
}

bool worker_take_back(struct worker_port *port, struct work *work)
{
	uint32_t slot = slot_of(port, work);

	if (!atomic_compare_exchange_strong(&work->ahead->next, &slot, WORK_ALONE))
		return false;
	worker_retire(port, work);
	return true;
}

bool worker_goes_on(const struct work *work)
{
	return atomic_load(&work->next) == WORK_GOES_ON;
}

void worker_call(struct worker_port *port)
{
	if (port->unheard)
		workers_ring(port->workers);
	port->unheard = false;
}

/* The next that this worker has reported; NULL: none. */
static struct work *reported(struct worker_port *port, struct worker_done *d)
{
	while (quoit_ring_peek(&d->consumer)) {
		struct work *work = &port->work[d->slot[d->consumer.next % WORKER_SLOTS]];

		quoit_ring_release(&d->consumer, 1);
		if (!work->ahead)
			return work;
		work->early = true;
	}
	return NULL;
}

struct work *worker_finished(struct worker_port *port)
{
	struct work *work = NULL;

	for (uint32_t i = 0; port->published && !work && i < port->workers->config.workers; i++)
		work = reported(port, &port->done[i]);
	return work;
}

void worker_retire(struct worker_port *port, struct work *work)
{
	leave_line(work);
	ledger_close(&port->ledger->user[work->user].page);
	ledger_close(&port->flow[work->flow].page);
	atomic_store_explicit(&port->used, taken(port) & ~(UINT64_C(1) << (work - port->work)),
			      memory_order_release);
	assert(port->published > 0);
	port->published--;
	port->holders -= --port->held[work->user] == 0;
}

void worker_abandon(struct worker_port *port, const struct session *s)
{
	for (uint64_t left = taken(port); left; left &= left - 1) {
		struct work *work = &port->work[__builtin_ctzll(left)];

		if (work->session == s)
			atomic_store(&work->abandoned, true);
	}
}

uint64_t worker_ticks(const struct worker_port *port, const struct session *s)
{
	uint64_t sum = 0;

	for (uint64_t left = taken(port); left; left &= left - 1) {
		const struct work *work = &port->work[__builtin_ctzll(left)];

		if (work->session == s)
			sum += atomic_load_explicit(&work->ticks, memory_order_relaxed);
	}
	return sum;
}

bool worker_may_sleep(struct worker_port *port, uint32_t *need_wake)
{
	bool idle = true;

	for (uint32_t i = 0; i < port->workers->config.workers; i++)
		idle &= quoit_ring_sleep(&port->done[i].consumer, need_wake);
	return idle;
}
