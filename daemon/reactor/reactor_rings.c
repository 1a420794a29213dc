/* SPDX-License-Identifier: MIT */
/* reactor_rings.c - active and idle rings, and the sockets that ring for them */
#include "reactor_rings.h"

#include <errno.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "executors/backend_exec.h"
#include "host/tsc.h"
#include "reactor_mail.h"
#include "sample.h"
#include "session/errands.h"

#define EVENTS       64
#define DOORBELLS    64u     /* taken of a ring at once, or one that never stops had us for good */
#define RING_IDLE_NS 200000u /* an active ring without SQEs for so long becomes idle */

/* ---- the table of rings: active ones first ---- */

static void swap_rings(struct reactor *r, uint32_t a, uint32_t b)
{
	struct ring *ring = r->rings[a];

	r->rings[a] = r->rings[b];
	r->rings[b] = ring;
	r->rings[a]->slot = a;
	r->rings[b]->slot = b;
}

static void activate(struct reactor *r, struct ring *ring)
{
	if (ring->active)
		return;
	ring->active = true;
	ring->last_work = r->now;
	quoit_ring_awake(&ring->daemon->need_wake);
	swap_rings(r, ring->slot, r->active_count++);
	sample_look(ring, ring->sq.cached_tail - ring->sq.next);
}

/* Put need_wake up; false: an SQE has come meanwhile, and the ring stays active. */
static bool deactivate(struct reactor *r, struct ring *ring)
{
	if (!quoit_ring_sleep(&ring->sq, &ring->daemon->need_wake) && !ring->stalled &&
	    !ring->session->stopped) {
		quoit_ring_awake(&ring->daemon->need_wake);
		sample_look(ring, ring->sq.cached_tail - ring->sq.next);
		return false;
	}
	ring->active = false;
	swap_rings(r, ring->slot, --r->active_count);
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
	if (ring->active) {
		ring->active = false;
		swap_rings(r, ring->slot, --r->active_count);
	}
	swap_rings(r, ring->slot, --r->ring_count);
	if (!ring->hung_up)
		(void)epoll_ctl(r->epoll, EPOLL_CTL_DEL, ring->socket, NULL);
}

void reactor_scan_rings(struct reactor *r)
{
	for (uint32_t i = r->active_count; i < r->ring_count; i++) {
		struct ring *ring = r->rings[i];

		if (quoit_ring_peek(&ring->sq) && !ring->session->stopped)
			activate(r, ring);
	}
}

void reactor_retire_rings(struct reactor *r)
{
	uint64_t idle = tsc_from_ns(RING_IDLE_NS);

	for (uint32_t i = r->active_count; i-- > 0;)
		if (r->now - r->rings[i]->last_work > idle && !r->rings[i]->stalled)
			deactivate(r, r->rings[i]);
}

bool reactor_rings_may_sleep(struct reactor *r)
{
	bool idle = true;

	for (uint32_t i = r->active_count; i-- > 0;)
		idle &= deactivate(r, r->rings[i]);
	return idle;
}

void reactor_wake_stalled(struct reactor *r)
{
	for (uint32_t i = r->active_count; i < r->ring_count; i++)
		if (r->rings[i]->stalled && !r->rings[i]->session->stopped) {
			uint64_t last = r->rings[i]->last_work;

			activate(r, r->rings[i]);
			r->rings[i]->last_work = last;
		}
}

/* ---- sockets ---- */

static void stop_listening(struct reactor *r, struct ring *ring)
{
	(void)epoll_ctl(r->epoll, EPOLL_CTL_DEL, ring->socket, NULL);
	ring->hung_up = true;
}

/* Nobody sends descriptors by a doorbell but to have us close them. */
static void refuse_descriptors(struct reactor *r, struct ring *ring, const struct ctl_fds *fds)
{
	for (unsigned i = 0; i < fds->count; i++)
		errands_close(ring->session->errands, fds->fd[i]);
	reactor_kill(r, ring->session, QUOIT_DAEMON_KILL_PROTO);
}

/* Drain the doorbell before its ring is looked at, or a kick could be lost. */
static void answer_doorbell(struct reactor *r, struct ring *ring, uint32_t events)
{
	struct ctl_fds fds;
	int n = 1;

	for (unsigned i = 0; i < DOORBELLS && n > 0 && !ring->session->stopped; i++) {
		n = ctl_take_bell(ring->socket, &fds);
		ring->session->kicks += n > 0;
		if (fds.count)
			refuse_descriptors(r, ring, &fds);
	}
	/* When the client closed its end, the control socket says what that means. */
	if (n == 0 || events & (EPOLLHUP | EPOLLERR) || ring->session->stopped)
		stop_listening(r, ring);
	activate(r, ring);
}

void reactor_poll(struct reactor *r, uint64_t timeout_ns)
{
	struct epoll_event events[EVENTS];
	struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000u),
				   .tv_nsec = (long)(timeout_ns % 1000000000u)};
	int n = epoll_pwait2(r->epoll, events, EVENTS, &timeout, NULL);

	if (n < 0 && errno == ENOSYS) /* before Linux 5.11 */
		n = epoll_wait(r->epoll, events, EVENTS, (int)((timeout_ns + 999999) / 1000000));
	r->now = tsc_now();
	for (int i = 0; i < n; i++) {
		struct ring *ring = events[i].data.ptr;

		if (ring)
			answer_doorbell(r, ring, events[i].events);
	}
	if (n > 0) {
		uint64_t count;
		ssize_t got = read(r->eventfd, &count, sizeof count);

		(void)got;
		exec_drain(r);
	}
}
