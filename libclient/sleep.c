/* SPDX-License-Identifier: MIT */
/* sleep.c - wait for room in the SQ and for CQEs, and notice that quoitd is gone */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <quoit/pause.h>

#include "alone.h"
#include "clock.h"
#include "core.h"
#include "event.h"
#include "library.h"
#include "mine.h"
#include "queue.h"
#include "refusal.h"
#include "sleep.h"
#include "team.h"

#define SLICE_NS     50000000u /* longest sleep between two looks at the socket */
#define SPIN_MOST_NS 20000u    /* a small job on a device takes less */
#define NAP_FIRST_NS 10000u    /* waiting for room in the SQ: the first sleep */
#define NAP_LAST_NS  1000000u  /* and the longest one */
#define FIRST_LOOK   4u        /* waits for loads before the first look of a wait */
#define CLOSE_LOOKS  64u       /* this many looks at short intervals */
#define CLOSE_WAITS  2u        /* waits for loads between two of these looks */

/* Peek only: the program that armed the ring reads the bytes in the socket. */
static void check_daemon(struct quoit_ring *q)
{
	struct pollfd p = {.fd = q->socket};

	if (poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR | POLLNVAL) && !q->broken)
		q->broken = -ECONNRESET;
}

bool libquoit_sleep_look(struct quoit_ring *q)
{
	uint64_t now = clock_ticks();

	if (now - q->looked < q->session->info.tsc_hz / (1000000000u / SLICE_NS))
		return false;
	q->looked = now;
	check_daemon(q);
	return true;
}

/* ---- CQ ---- */

/*
 * Spin for a short time, and longer while the SQ head moves.  A reactor that fetches small jobs is
 * about to end them; one that has handed out tiles fetches nothing, and may need this core for
 * them.
 */
static bool spin(struct quoit_ring *q, uint64_t most, bool (*is_done)(struct quoit_ring *q))
{
	const uint32_t *head = &q->daemon->sq_head;
	/* eight pauses take 0.4 us on some CPUs */
	const int pauses = most > q->session->spin ? 1 : 8;
	uint32_t seen = QUOIT_RING_LOAD(head, QUOIT_RING_RELAXED);
	uint64_t since;

	if (!most || q->shares_cpu)
		return false;
	since = clock_ticks();
	while (!q->broken) {
		for (int i = 0; i < pauses; i++)
			quoit_pause();
		if (is_done(q))
			return true;
		if (clock_ticks() - since >= most) {
			uint32_t now = QUOIT_RING_LOAD(head, QUOIT_RING_RELAXED);

			if (now == seen)
				return false;
			since = clock_ticks();
			seen = now;
		}
	}
	return false;
}

/*
 * Adapt how long the next wait for a CQE spins.  A small job on a device takes longer than a wait
 * for cores spins, and less than a sleep and a wake-up; and it needs none of our cores.  So on a
 * ring that creates on a device, a short wait makes the next ones spin for twice as long as it
 * took, and a long wait undoes that.
 */
static void adapt_spin(struct quoit_ring *q, uint64_t waited)
{
	const uint64_t most = SPIN_MOST_NS * q->session->info.tsc_hz / 1000000000u;

	if (!q->device || waited > most)
		q->spin = q->session->spin;
	else if (q->spin && 2 * waited > q->spin)
		q->spin = 2 * waited < most ? 2 * waited : most;
}

/*
 * Also if CQEs came and are reaped already: a function that this thread ran meanwhile may have
 * waited on the same ring, and the CQE of this wait may have been among those.
 */
static bool has_cqes(struct quoit_ring *q)
{
	return libquoit_queue_ready(q) != 0 || q->cq.next != q->waits_from;
}

/*
 * The answer to a trivial job takes two transfers of a cache line between cores.  A look before
 * that takes the line from quoitd, which is about to write it, and delays both sides; a much later
 * look is late.
 */
static bool look_closely(struct quoit_ring *q)
{
	if (!q->session->spin || q->shares_cpu)
		return false;
	quoit_await_loads(FIRST_LOOK);
	for (unsigned i = 0; i < CLOSE_LOOKS && !q->broken; i++) {
		if (has_cqes(q))
			return true;
		quoit_await_loads(CLOSE_WAITS);
	}
	return false;
}

/*
 * Sleep once on the CQ tail.  Not FUTEX_PRIVATE: another process wakes us.  A changed tail, a
 * signal and the timeout all mean the same: look again.
 */
static void futex_sleep(struct quoit_ring *q, uint64_t ns)
{
	struct timespec time = {.tv_sec = 0, .tv_nsec = (long)ns};

	if (quoit_ring_sleep(&q->cq, &q->client->cq_wait))
		syscall(SYS_futex, &q->client->cq_tail, FUTEX_WAIT, q->cq.cached_tail, &time, NULL,
			0);
	quoit_ring_awake(&q->client->cq_wait);
	libquoit_event_ask(q);
}

/* Run calls of the session's teams meanwhile.  fresh: the wait begins. */
static bool help(struct quoit_ring *q, bool fresh, uint64_t deadline,
		 bool (*is_done)(struct quoit_ring *q))
{
	bool helps = fresh ? libquoit_team_helps(q) : libquoit_team_must_help(q);

	return helps && libquoit_team_help(q, deadline, is_done);
}

static void sleep_once(struct quoit_ring *q, uint64_t deadline)
{
	uint64_t left = deadline == NEVER ? SLICE_NS : 0, now = left ? 0 : clock_ns();

	if (!left)
		left = now < deadline ? deadline - now : 0;
	left = left < SLICE_NS ? left : SLICE_NS;
	if (libquoit_team_must_help(q))
		libquoit_team_sleep(q, left);
	else
		futex_sleep(q, left);
}

/* *marked: this thread's mark is in the ring; suspended: the team of the function that waits. */
static int sleep_cq(struct quoit_ring *q, uint64_t deadline, bool *marked,
		    const struct quoit_team *suspended)
{
	const uint64_t begun = clock_ticks();

	for (bool fresh = true;; fresh = false) {
		uint64_t now = deadline == NEVER ? 0 : clock_ns();

		if (now >= deadline || !fresh)
			libquoit_sleep_look(q);
		/*
		 * After the check of the socket: CQEs that quoitd posted before its end still
		 * count.
		 */
		if (has_cqes(q)) {
			if (!fresh)
				adapt_spin(q, clock_ticks() - begun);
			return 0;
		}
		if (q->broken)
			return libquoit_refuse_broken(q);
		if (now >= deadline)
			return libquoit_refuse_late(q);
		if (fresh)
			core_look(q);
		if (help(q, fresh, deadline, has_cqes))
			return 0;
		if (UNLIKELY(!libquoit_is_mine(q->mine))) /* a function has forked: a child */
			return libquoit_refuse_child(q);
		if (fresh && (look_closely(q) || spin(q, q->spin, has_cqes)))
			return 0;
		if (fresh && alone_check(q))
			return -EBUSY;
		alone_mark(q, libquoit_alone_me(q));
		if (UNLIKELY(suspended && !*marked))
			libquoit_team_wake_quoitd(suspended);
		*marked = true;
		sleep_once(q, deadline);
	}
}

int libquoit_sleep_cq(struct quoit_ring *q, uint64_t deadline)
{
	const uint32_t outer = q->waits_from; /* of a wait below this one on the stack */
	struct quoit_team *suspended = libquoit_team_must_help(q) ? libquoit_team_suspend(q) : NULL;
	bool marked = false;
	int err;

	q->waits_from = q->cq.next;
	err = sleep_cq(q, deadline, &marked, suspended);
	q->waits_from = outer;
	if (UNLIKELY(suspended != NULL))
		libquoit_team_resume(suspended);
	if (marked)
		alone_clear(q);
	return err;
}

int quoit_wait_cqe(struct quoit_ring *q, int timeout_ms)
{
	int err = quoit_flush(q);

	if (err == -EOWNERDEAD)
		return err;
	if (!q->raw)
		return libquoit_refuse(
			q, -EINVAL,
			"quoit_wait_cqe needs a ring that was opened with QUOIT_RING_RAW");
	if (libquoit_queue_ready(q))
		return 0;
	libquoit_event(q, QUOIT_EVENT_WAIT, q->cq.next, 0);
	err = libquoit_sleep_cq(q, clock_deadline(timeout_ms));
	if (err != -EOWNERDEAD)
		libquoit_event(q, QUOIT_EVENT_GO, q->cq.next, 0);
	return err;
}

/* ---- SQ ---- */

/* Enough room to be worth a wake-up: for one slot at a time, each SQE would cost a flush. */
static bool has_room(struct quoit_ring *q)
{
	libquoit_job_reap(q); /* quoitd fetches only as many SQEs as it has CQ slots for */
	if (!quoit_ring_refresh(&q->sq))
		q->broken = -EPROTO;
	return quoit_ring_space(&q->sq) >= q->batch;
}

/* False: the deadline has passed. */
static bool nap(uint64_t deadline, uint64_t ns)
{
	struct timespec time;
	uint64_t now = deadline == NEVER ? 0 : clock_ns();

	if (now >= deadline)
		return false;
	time = (struct timespec){.tv_nsec = (long)(ns < deadline - now ? ns : deadline - now)};
	nanosleep(&time, NULL);
	return true;
}

/*
 * The CQ tail does not tell about room: quiet jobs post nothing, and a wake-up for SQ room would
 * cost quoitd a check on every fetch.  So the head is polled, in sleeps that grow: if a quarter of
 * the ring has taken this long, the rest takes longer than the last sleep.  Each wake-up takes the
 * core from a worker that may run on it.
 */
static int sleep_sq(struct quoit_ring *q)
{
	uint64_t ns = NAP_FIRST_NS;

	core_look(q);
	if (spin(q, q->session->spin, has_room))
		return 0;
	while (!has_room(q)) {
		if (q->broken)
			return libquoit_refuse_broken(q);
		if (help(q, false, q->until, has_room))
			return 0;
		if (UNLIKELY(!libquoit_is_mine(q->mine)))
			return libquoit_refuse_child(q);
		if (!nap(q->until, ns))
			return libquoit_refuse_late(q);
		if (ns < NAP_LAST_NS)
			ns = 2 * ns < NAP_LAST_NS ? 2 * ns : NAP_LAST_NS;
		libquoit_event_ask(q);
		libquoit_sleep_look(q);
	}
	return 0;
}

int libquoit_sleep_sq(struct quoit_ring *q)
{
	int err = quoit_flush(q);

	if (err)
		return err;
	libquoit_event(q, QUOIT_EVENT_WAIT, q->cq.next, q->site);
	alone_mark(q, libquoit_alone_me(q));
	err = sleep_sq(q);
	alone_clear(q);
	if (err != -EOWNERDEAD)
		libquoit_event(q, QUOIT_EVENT_GO, q->cq.next, q->site);
	return err;
}
