/* SPDX-License-Identifier: MIT */
/*
 * soft_direct.c - the consumer of a GPU-direct ring: a host thread that stays at it.
 *
 * Like a resident kernel it looks without pause, but only for as long as a sleep and a wake-up
 * would cost.  After that it naps between looks, because others need its core.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include <quoit/direct.h>
#include <quoit/pause.h>
#include <quoit/ring.h>

#include "base/affinity.h"
#include "base/tsc.h"
#include "soft_private.h"

#define MASK (QUOIT_DIRECT_ENTRIES - 1)

/* Below reactors, above the streams of normal urgency. */
#define CONSUMER_NICE 10

#define SPIN_NS 50000u
#define NAP_NS  20000
#define LATE_NS 200000000 /* how late one leaves that QUOIT_SOFT_FAULTS delays */

struct consumer {
	struct quoit_device *device;
	const struct quoit_direct_requests *requests;
	struct quoit_direct_words *words;
	struct quoit_consumer ring;
	int suffers;
	uint64_t worked; /* ns: when it last had something to do */
};

/* ---- the consumer's thread ---- */

static void nap(long ns)
{
	struct timespec left = {.tv_nsec = ns};

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		;
}

static void beat(const struct consumer *c)
{
	__atomic_store_n(&c->words->beat, c->words->beat + 1, __ATOMIC_RELAXED);
}

static bool is_told_to_leave(const struct consumer *c)
{
	return __atomic_load_n(&c->words->leave, __ATOMIC_ACQUIRE);
}

/* What QUOIT_SOFT_FAULTS does to it when there is something in the ring. */
static void suffer(struct consumer *c)
{
	switch (c->suffers) {
	case SOFT_FREEZE:
		soft_hang();
	case SOFT_STALL:
		while (!is_told_to_leave(c))
			nap(NAP_NS);
		break;
	case SOFT_LIE:
		__atomic_store_n(&c->words->head, c->ring.next + 2 * QUOIT_DIRECT_ENTRIES,
				 __ATOMIC_RELEASE);
		soft_hang();
	default:
		break;
	}
}

/* Run one request; false: the device is broken, and no result counts any more. */
static bool run_one(struct consumer *c)
{
	struct quoit_device_call call;
	int err = atomic_load_explicit(&c->device->broken, memory_order_acquire);

	if (err)
		return false;
	quoit_ring_copy((uint64_t *)&call,
			(const uint64_t *)&c->requests->request[c->ring.next & MASK],
			sizeof call / sizeof(uint64_t));
	err = soft_run_call(c->device, &call);
	if (err) {
		soft_break(c->device, err, NULL, SOFT_ASTRAY);
		return false;
	}
	quoit_ring_release(&c->ring, 1);
	c->worked = soft_now();
	return true;
}

/* There is nothing to do.  True: that has been so for so long that the consumer leaves. */
static bool idle(struct consumer *c)
{
	uint64_t ns = soft_now() - c->worked;

	if (ns >= QUOIT_DIRECT_IDLE_NS) {
		if (quoit_ring_sleep(&c->ring, &c->words->need_wake))
			return true;
		quoit_ring_awake(&c->words->need_wake);
	} else if (ns >= SPIN_NS) {
		nap(NAP_NS);
	} else {
		quoit_pause();
	}
	return false;
}

static void serve(struct consumer *c)
{
	bool stays = true;

	while (stays) {
		uint32_t ready;

		beat(c);
		ready = quoit_ring_peek(&c->ring);
		if (ready)
			suffer(c);
		if (is_told_to_leave(c))
			return;
		stays = ready ? run_one(c) : !idle(c);
	}
}

static void leave(struct consumer *c)
{
	struct quoit_device *d = c->device;

	__atomic_store_n(&c->words->need_wake, 1, __ATOMIC_SEQ_CST);
	if (c->suffers == SOFT_LATE)
		nap(LATE_NS);
	atomic_fetch_sub(&d->resident, 1);
	__atomic_store_n(&c->words->left, 1, __ATOMIC_RELEASE); /* its last access to these pages */
	free(c);
	(void)pthread_mutex_lock(&d->lock);
	d->consumers--;
	(void)pthread_cond_broadcast(&d->changed);
	(void)pthread_mutex_unlock(&d->lock); /* and to the device */
}

static void *consume(void *argument)
{
	struct consumer *c = argument;

	(void)affinity_set_nice(CONSUMER_NICE);
	(void)prctl(PR_SET_TIMERSLACK, 1UL); /* naps are shorter than the default slack */
	c->worked = soft_now();
	serve(c);
	leave(c);
	return NULL;
}

/* ---- the thread that calls the driver ---- */

int soft_direct_open(struct quoit_device *d, const struct quoit_direct_requests *requests,
		     struct quoit_direct_words *words, uint32_t rings)
{
	const int err = soft_enter(d, SOFT_DIRECT_OPEN);

	if (err)
		return err;
	d->direct_requests = requests;
	d->direct_words = words;
	d->direct_rings = rings;
	return 0;
}

static struct consumer *new_consumer(struct quoit_device *d, uint32_t ring, int suffers)
{
	struct consumer *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->device = d;
	c->requests = &d->direct_requests[ring];
	c->words = &d->direct_words[ring];
	c->suffers = suffers;
	quoit_consumer_init(&c->ring, &c->words->head, &c->requests->tail, QUOIT_DIRECT_ENTRIES);
	c->ring.next = c->ring.cached_tail = __atomic_load_n(&c->words->head, __ATOMIC_ACQUIRE);
	return c;
}

int soft_direct_start(struct quoit_device *d, uint32_t ring)
{
	const int suffers = soft_enter(d, SOFT_DIRECT_START);
	struct consumer *c;
	int err;

	if (suffers < 0)
		return suffers;
	if (ring >= d->direct_rings)
		return -EINVAL;
	c = new_consumer(d, ring, suffers);
	if (!c)
		return -ENOMEM;
	(void)pthread_mutex_lock(&d->lock);
	d->consumers++;
	(void)pthread_mutex_unlock(&d->lock);
	atomic_fetch_add(&d->resident, 1);
	err = soft_thread_start(consume, c);
	if (err) {
		atomic_fetch_sub(&d->resident, 1);
		(void)pthread_mutex_lock(&d->lock);
		d->consumers--;
		(void)pthread_mutex_unlock(&d->lock);
		free(c);
	}
	return err;
}

void soft_direct_close(struct quoit_device *d)
{
	for (uint32_t i = 0; i < d->direct_rings; i++)
		__atomic_store_n(&d->direct_words[i].leave, 1, __ATOMIC_RELEASE);
	(void)pthread_mutex_lock(&d->lock);
	while (d->consumers)
		(void)pthread_cond_wait(&d->changed, &d->lock);
	(void)pthread_mutex_unlock(&d->lock);
}
