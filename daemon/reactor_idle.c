/* SPDX-License-Identifier: MIT */
/* reactor_idle.c - active and idle rings, spinning and sleeping */
#include "reactor_idle.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "affinity.h"
#include "backend_exec.h"
#include "backend_io.h"
#include "errands.h"
#include "log.h"
#include "memory.h"
#include "reactor_mail.h"
#include "session_stats.h"
#include "tsc.h"

#define EVENTS             64
#define DOORBELLS          64u /* taken of a ring at once, or one that never stops had us for good */
#define SPIN_LEAST_NS      2000u
#define SPIN_MOST_NS       100000u
#define SPIN_WITH_TILES_NS 1000u
#define SPIN_FAST_NS       1000u /* a client that waits for each answer has sent the next job by then */
#define RING_IDLE_NS       200000u /* an active ring without SQEs for so long becomes idle */
#define CHORES_NS          10000u  /* how often idle rings are looked at while we are awake */
#define STATS_NS           100000000u
#define TRIM_NS            1000000000u
#define BUSY_SHARE_NS      500000u /* a busy reactor leaves its core to tiles as long as it had it */
#define SLEEP_MOST_NS      1000000000u
#define STALL_LEAST_NS     50000u
#define STALL_MOST_NS      20000000u

static uint64_t ticks(uint64_t ns)
{
	return (uint64_t)((__uint128_t)ns * tsc_hz() / 1000000000u);
}

int reactor_idle_init(struct reactor *r)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};

	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll < 0)
		return -errno;
	if (epoll_ctl(r->epoll, EPOLL_CTL_ADD, r->eventfd, &event) < 0)
		return -errno;
	if (io_fd(r->io) >= 0 && epoll_ctl(r->epoll, EPOLL_CTL_ADD, io_fd(r->io), &event) < 0)
		return -errno;
	r->spin_ticks = ticks(SPIN_LEAST_NS);
	r->spin_fast = ticks(SPIN_FAST_NS);
	r->spin_with_tiles = ticks(SPIN_WITH_TILES_NS);
	r->spin_most = ticks(SPIN_MOST_NS);
	return 0;
}

void reactor_idle_done(struct reactor *r)
{
	close(r->epoll);
}

void reactor_settle(struct reactor *r)
{
	char name[16];
	int err = affinity_pin_thread(r->cpu);

	if (err < 0)
		log_info("reactor %u is not pinned to CPU %u: %s", r->index, r->cpu,
			 strerror(-err));
	snprintf(name, sizeof name, "quoit-react-%u", r->index);
	(void)pthread_setname_np(pthread_self(), name);
	r->now = r->last_work = r->awake_since = tsc_now();
}

void reactor_wake(struct reactor *r)
{
	uint64_t one = 1;
	ssize_t n = write(r->eventfd, &one, sizeof one);

	(void)n;
}

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
}

/* Put need_wake up; false: an SQE has come meanwhile, and the ring stays active. */
static bool deactivate(struct reactor *r, struct ring *ring)
{
	if (!quoit_ring_sleep(&ring->sq, &ring->daemon->need_wake) && !ring->stalled &&
	    !ring->session->stopped) {
		quoit_ring_awake(&ring->daemon->need_wake);
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

static void poll_events(struct reactor *r, uint64_t timeout_ns)
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

/* Idle rings whose client did not have to ring: we were awake anyway. */
static void scan_idle(struct reactor *r)
{
	for (uint32_t i = r->active_count; i < r->ring_count; i++) {
		struct ring *ring = r->rings[i];

		if (quoit_ring_peek(&ring->sq) && !ring->session->stopped)
			activate(r, ring);
	}
}

/* ---- sleep ---- */

/* Every way in which work can arrive has its flag up and was looked at once more. */
static bool may_sleep(struct reactor *r)
{
	bool idle = true;

	for (uint32_t i = r->active_count; i-- > 0;)
		idle &= deactivate(r, r->rings[i]);
	idle &= mailbox_sleep(&r->inbox);
	idle &= worker_may_sleep(r->port, &r->need_wake);
	idle &= quoit_ring_sleep(&r->memory->from_thread, &r->need_wake);
	idle &= io_may_sleep(r);
	idle &= exec_may_sleep(r);
	return idle && !r->backlog_count;
}

/*
 * A ring that waits for the client to reap, or for a table entry, rings no bell.  We look
 * after a tenth of the time for which it has been so: late by that much, and cheap.
 */
static uint64_t stall_timeout(struct reactor *r)
{
	uint64_t timeout = SLEEP_MOST_NS;

	for (uint32_t i = 0; i < r->ring_count; i++) {
		struct ring *ring = r->rings[i];
		uint64_t t;

		if (!ring->stalled || ring->session->stopped)
			continue;
		t = tsc_to_ns(r->now - ring->last_work) / 10;
		t = t < STALL_LEAST_NS ? STALL_LEAST_NS : t > STALL_MOST_NS ? STALL_MOST_NS : t;
		if (t < timeout)
			timeout = t;
	}
	return timeout;
}

static uint64_t sleep_timeout(struct reactor *r)
{
	uint64_t timeout = stall_timeout(r), room = exec_sleep_ns(r);

	if (timeout > room)
		timeout = room;
	if (r->control_pending && r->executors && timeout > EXEC_LEAVE_NS)
		timeout = EXEC_LEAVE_NS;
	for (struct session *s = r->sessions; s; s = s->next) {
		uint64_t t;

		if (!s->deadlines)
			continue;
		t = s->next_deadline > r->now ? tsc_to_ns(s->next_deadline - r->now) : 0;
		if (t < timeout)
			timeout = t;
	}
	return timeout;
}

static void wake_stalled(struct reactor *r)
{
	for (uint32_t i = r->active_count; i < r->ring_count; i++)
		if (r->rings[i]->stalled && !r->rings[i]->session->stopped) {
			uint64_t last = r->rings[i]->last_work;

			activate(r, r->rings[i]);
			r->rings[i]->last_work = last;
		}
}

static void sleep_now(struct reactor *r)
{
	uint64_t before = r->now, slept;

	reactor_publish_stats(r);
	if (may_sleep(r)) {
		r->count[QUOIT_REACTOR_SLEEPS]++;
		r->count[QUOIT_REACTOR_POLL_TICKS] += tsc_now() - r->last_work;
		poll_events(r, sleep_timeout(r));
		slept = tsc_to_ns(r->now - before);
		/* Spinning that long would have spared the sleep; spinning for a long sleep is
		 * lost. */
		if (slept < SPIN_MOST_NS)
			r->spin_ticks = r->spin_ticks * 2 + ticks(SPIN_LEAST_NS);
		else if (slept > 20 * SPIN_MOST_NS)
			r->spin_ticks /= 2;
		if (r->spin_ticks > r->spin_most)
			r->spin_ticks = r->spin_most;
	}
	quoit_ring_awake(&r->need_wake);
	exec_awake(r);
	wake_stalled(r);
	r->awake_since = r->last_work = tsc_now();
}

/* ---- every pass ---- */

static void retire_quiet_rings(struct reactor *r)
{
	for (uint32_t i = r->active_count; i-- > 0;)
		if (r->now - r->rings[i]->last_work > ticks(RING_IDLE_NS) && !r->rings[i]->stalled)
			deactivate(r, r->rings[i]);
}

static void chores(struct reactor *r)
{
	r->next_chores = r->now + ticks(CHORES_NS);
	scan_idle(r);
	if (r->active_count > 1)
		retire_quiet_rings(r);
	if (r->now - r->last_stats > ticks(STATS_NS)) {
		reactor_publish_stats(r);
		poll_events(r, 0); /* sockets that rang although we were awake, or hung up */
	}
	if (r->now - r->last_trim > ticks(TRIM_NS)) {
		r->last_trim = r->now;
		for (struct session *s = r->sessions; s; s = s->next)
			memory_trim(s);
	}
}

static void send_backlog(struct reactor *r)
{
	while (r->backlog_count &&
	       memory_send(r->memory, &r->backlog[r->backlog_head % REACTOR_MEMORY_QUEUE])) {
		r->backlog_head++;
		r->backlog_count--;
	}
}

/* An endless stream of small jobs must not starve the tiles below us on this core. */
static void share_core(struct reactor *r)
{
	struct timespec nap = {.tv_nsec = BUSY_SHARE_NS};

	if (!r->port->published || r->now - r->awake_since < ticks(BUSY_SHARE_NS))
		return;
	nanosleep(&nap, NULL);
	r->awake_since = tsc_now();
	r->passed = 0;
}

/* Nothing to do, but soon perhaps.  False: it has been so for long enough. */
static bool spin(struct reactor *r)
{
	uint64_t idle = r->now - r->last_work;

	if (idle >= (r->port->published ? r->spin_with_tiles : r->spin_ticks))
		return false;
	if (idle > r->spin_fast)
		__builtin_ia32_pause();
	return true;
}

void reactor_idle(struct reactor *r, bool work)
{
	uint64_t gap = r->now - r->last_pass;

	if (r->now >= r->next_chores)
		chores(r);
	send_backlog(r);
	r->last_pass = r->now;
	r->count[QUOIT_REACTOR_LOOPS]++;
	if (work) {
		r->last_work = r->now;
		share_core(r);
		return;
	}
	if (gap > r->spin_most) /* somebody else had the core: it is not idle */
		r->spin_ticks /= 2;
	if (!spin(r))
		sleep_now(r);
}

void reactor_publish_stats(struct reactor *r)
{
	r->last_stats = r->now;
	r->count[QUOIT_REACTOR_SESSIONS] = r->session_count;
	r->count[QUOIT_REACTOR_HEARTBEAT] = r->now;
	exec_count(r);
	if (r->stats)
		for (unsigned i = 0; i < QUOIT_REACTOR_NR; i++)
			__atomic_store_n(&r->stats->value[i], r->count[i], __ATOMIC_RELAXED);
	for (struct session *s = r->sessions; s; s = s->next)
		session_stats_publish(s);
}

bool reactor_send_memory(struct reactor *r, const struct memory_message *m)
{
	if (!r->backlog_count && memory_send(r->memory, m))
		return true;
	if (r->backlog_count == REACTOR_MEMORY_QUEUE)
		return false;
	r->backlog[(r->backlog_head + r->backlog_count++) % REACTOR_MEMORY_QUEUE] = *m;
	return true;
}
