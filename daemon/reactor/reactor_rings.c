/* SPDX-License-Identifier: MIT */
/* reactor_rings.c - polled, stalled and idle rings, and the sockets that ring for them */
#include "reactor_rings.h"

#include <errno.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "backend/backend.h"
#include "backend/service/servers.h"
#include "base/tsc.h"
#include "observe/sample.h"
#include "reactor_bells.h"

#define EVENTS       64
#define RING_IDLE_NS 200000u /* after so long without SQEs a ring is no longer polled */

/* Bounds of the interval between looks at a stalled ring. */
#define STALL_LEAST_NS 50000u
#define STALL_MOST_NS  20000000u

/* With more idle rings than this, ask epoll for bells instead: looking at each costs more. */
#define SCAN_MOST 64u

/* ---- circles of rings ---- */

/* Join the circle as the last ring to have its turn. */
static void join_circle(struct ring **first, struct ring *ring)
{
	if (*first) {
		ring->next = *first;
		ring->previous = (*first)->previous;
		ring->previous->next = (*first)->previous = ring;
	} else {
		*first = ring->next = ring->previous = ring;
	}
}

static void leave_circle(struct ring **first, struct ring *ring)
{
	ring->next->previous = ring->previous;
	ring->previous->next = ring->next;
	if (*first == ring)
		*first = ring->next == ring ? NULL : ring->next;
}

/* ---- the table of rings; polled ones come first ---- */

static void swap_rings(struct reactor *r, uint32_t a, uint32_t b)
{
	struct ring *ring = r->rings[a];

	r->rings[a] = r->rings[b];
	r->rings[b] = ring;
	r->rings[a]->slot = a;
	r->rings[b]->slot = b;
}

/* Move a ring to a place, from any other.  The caller takes care of need_wake. */
static void put(struct reactor *r, struct ring *ring, enum ring_place place)
{
	struct tenant *t = reactor_tenant(r, ring->session);

	if (ring->place == RING_POLLED) {
		swap_rings(r, ring->slot, --r->polled_count);
		leave_circle(&t->rings, ring);
		t->ring_count--;
	} else if (ring->place == RING_STALLED) {
		leave_circle(&r->stalled, ring);
		ring->session->stalled--;
	}
	if (place == RING_POLLED) {
		swap_rings(r, ring->slot, r->polled_count++);
		join_circle(&t->rings, ring);
		t->ring_count++;
	} else if (place == RING_STALLED) {
		join_circle(&r->stalled, ring);
		ring->session->stalled++;
	}
	ring->place = place;
}

static void activate(struct reactor *r, struct ring *ring)
{
	if (ring->place == RING_POLLED)
		return;
	if (ring->place == RING_IDLE) {
		ring->last_work = r->now;
		quoit_ring_awake(&ring->daemon->need_wake);
	}
	put(r, ring, RING_POLLED);
}

/* Look at a stalled ring again after a tenth of the time for which it has had no work. */
static void stall(struct reactor *r, struct ring *ring)
{
	uint64_t part = tsc_to_ns(r->now - ring->last_work) / 10;

	part = part < STALL_LEAST_NS ? STALL_LEAST_NS : part > STALL_MOST_NS ? STALL_MOST_NS : part;
	ring->look = r->now + tsc_from_ns(part);
	if (!r->stalled || ring->look < r->look_at_stalled)
		r->look_at_stalled = ring->look;
	put(r, ring, RING_STALLED);
}

/* Stall a ring whose next SQE must wait, or make it idle and put need_wake up.  False: an SQE has
 * come meanwhile, and the ring stays polled. */
static bool deactivate(struct reactor *r, struct ring *ring)
{
	if (ring->stalled && reactor_fetches(ring)) {
		stall(r, ring);
		return true;
	}
	if (!quoit_ring_sleep(&ring->sq, &ring->daemon->need_wake) && reactor_fetches(ring)) {
		quoit_ring_awake(&ring->daemon->need_wake);
		return false;
	}
	put(r, ring, RING_IDLE);
	return true;
}

int reactor_add_ring(struct reactor *r, struct ring *ring)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = ring};

	if (r->ring_count == REACTOR_RINGS)
		return -ENOSPC;
	if (epoll_ctl(r->epoll, EPOLL_CTL_ADD, ring->socket, &event) < 0)
		return -errno;
	ring->slot = r->ring_count;
	r->rings[r->ring_count++] = ring;
	activate(r, ring);
	return 0;
}

void reactor_remove_ring(struct reactor *r, struct ring *ring)
{
	put(r, ring, RING_IDLE);
	swap_rings(r, ring->slot, --r->ring_count);
	if (!ring->hung_up)
		(void)epoll_ctl(r->epoll, EPOLL_CTL_DEL, ring->socket, NULL);
}

void reactor_scan_rings(struct reactor *r)
{
	if (r->ring_count - r->polled_count > SCAN_MOST) {
		reactor_poll(r, 0); /* clients of idle rings have rung */
		return;
	}
	for (uint32_t i = r->polled_count; i < r->ring_count; i++) {
		struct ring *ring = r->rings[i];

		if (ring->place == RING_IDLE && quoit_ring_peek(&ring->sq) && reactor_fetches(ring))
			activate(r, ring);
	}
}

void reactor_retire_rings(struct reactor *r)
{
	uint64_t idle = tsc_from_ns(RING_IDLE_NS);

	for (uint32_t i = r->polled_count; i-- > 0;)
		if (r->now - r->rings[i]->last_work > idle)
			deactivate(r, r->rings[i]);
}

void reactor_sample_rings(struct reactor *r)
{
	for (uint32_t i = 0; i < r->polled_count; i++)
		sample_watch(r->rings[i], r->now);
}

bool reactor_rings_may_sleep(struct reactor *r)
{
	bool idle = true;

	for (uint32_t i = r->polled_count; i-- > 0;)
		idle &= deactivate(r, r->rings[i]);
	return idle;
}

/* ---- stalled rings ---- */

void reactor_unstall(struct reactor *r, struct ring *ring)
{
	if (ring->place == RING_STALLED)
		activate(r, ring);
}

void reactor_unstall_all(struct reactor *r, struct session *s)
{
	for (uint32_t i = 0; s->stalled && i < s->ring_count; i++)
		if (s->rings[i])
			reactor_unstall(r, s->rings[i]);
}

void reactor_look_at_stalled(struct reactor *r)
{
	struct ring *ring = r->stalled, *last = ring ? ring->previous : NULL, *next;
	uint64_t first = UINT64_MAX;

	if (!ring || r->now < r->look_at_stalled)
		return;
	for (bool more = true; more; ring = next) {
		more = ring != last;
		next = ring->next;
		if (ring->look <= r->now)
			activate(r, ring);
		else if (ring->look < first)
			first = ring->look;
	}
	r->look_at_stalled = first;
}

uint64_t reactor_stall_timeout(const struct reactor *r)
{
	if (!r->stalled)
		return UINT64_MAX;
	return r->look_at_stalled > r->now ? tsc_to_ns(r->look_at_stalled - r->now) : 0;
}

/* ---- sockets ---- */

void reactor_ring_has_rung(struct reactor *r, struct ring *ring)
{
	activate(r, ring);
	if (ring->team)
		server_has_rung(r, ring);
}

void reactor_poll(struct reactor *r, uint64_t timeout_ns)
{
	struct epoll_event events[EVENTS];
	struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000u),
				   .tv_nsec = (long)(timeout_ns % 1000000000u)};
	bool others = false; /* our threads, files or executors woke us */
	int n = epoll_pwait2(r->epoll, events, EVENTS, &timeout, NULL);

	if (n < 0 && errno == ENOSYS) /* before Linux 5.11 */
		n = epoll_wait(r->epoll, events, EVENTS, (int)((timeout_ns + 999999) / 1000000));
	r->now = tsc_now();
	for (int i = 0; i < n; i++) {
		struct ring *ring = events[i].data.ptr;

		if (ring)
			reactor_bells_hear(r, ring, events[i].events & (EPOLLHUP | EPOLLERR));
		others |= !ring;
	}
	if (others) {
		uint64_t count;
		ssize_t got = read(r->eventfd, &count, sizeof count);

		(void)got;
		for_each_backend (b)
			if ((*b)->drain)
				(*b)->drain(r);
	}
}
