/* SPDX-License-Identifier: MIT */
/* team_help.c - a thread that waits on a ring runs calls meanwhile */
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <quoit/pause.h>

#include "clock.h"
#include "event.h"
#include "mine.h"
#include "team.h"

/* ---- the teams of a session, held so that they are not freed ---- */

/* Each team has a ring. */
struct held {
	struct quoit_team *team[QUOIT_MAX_RINGS];
	unsigned count;
};

/* For a team that has no other threads, one that waits is a thread. */
static void count_helper(struct quoit_team *t, int by)
{
	libquoit_team_enters(t, by);
	if (t->laneless)
		libquoit_team_joins(t, by);
}

/* must: only those that this thread has to help. */
static void hold(struct quoit_session *s, bool must, struct held *ret)
{
	const bool all = !must || libquoit_team_depth();

	ret->count = 0;
	pthread_mutex_lock(&s->list);
	for (struct quoit_team *t = s->teams; t; t = t->next)
		if (all || t->laneless) {
			count_helper(t, 1);
			ret->team[ret->count++] = t;
		}
	pthread_mutex_unlock(&s->list);
}

static void drop(struct held *h, const struct quoit_team *but)
{
	for (unsigned i = 0; i < h->count; i++)
		if (h->team[i] != but)
			count_helper(h->team[i], -1);
}

/* ---- looking for calls ---- */

static bool take_any(const struct held *h, struct team_work *ret)
{
	for (unsigned i = 0; i < h->count; i++)
		if (libquoit_team_has_work(h->team[i]) && libquoit_team_take(h->team[i], ret))
			return true;
	return false;
}

/* Look for a call for a short while.  False: there was none, or the wait is done. */
static bool seek(struct quoit_ring *q, const struct held *h, struct team_work *ret,
		 bool (*is_done)(struct quoit_ring *q))
{
	uint64_t since = clock_ticks();
	bool any = false;

	for (unsigned i = 0; i < h->count; i++)
		libquoit_team_seek(h->team[i]);
	do {
		quoit_pause();
		if (is_done(q) || q->broken)
			break;
		any = take_any(h, ret);
	} while (!any && !q->shares_cpu && clock_ticks() - since < q->session->spin);
	for (unsigned i = 0; i < h->count; i++)
		libquoit_team_sought(h->team[i]);
	return any;
}

/* Run it; it may wait on this ring, too, and must not change what the present wait keeps there. */
static void run_on_top(struct quoit_ring *q, struct team_work *work)
{
	const struct quoit_error error = q->wait_error;
	const bool failed = q->wait_failed;
	const uint64_t until = q->until;
	const uint32_t site = q->site;

	q->until = NEVER;
	q->site = 0;
	libquoit_team_run(work);
	q->site = site;
	q->until = until;
	q->wait_failed = failed;
	q->wait_error = error;
}

/* Run one call.  While it runs, this thread holds no other team. */
static bool help_once(struct quoit_ring *q, bool (*is_done)(struct quoit_ring *q))
{
	struct team_work work;
	struct held h;
	bool any;

	hold(q->session, false, &h);
	any = take_any(&h, &work) || seek(q, &h, &work, is_done);
	drop(&h, any ? work.team : NULL);
	if (!any)
		return false;
	run_on_top(q, &work);
	count_helper(work.team, -1);
	return true;
}

bool libquoit_team_help(struct quoit_ring *q, uint64_t deadline,
			bool (*is_done)(struct quoit_ring *q))
{
	bool runs = false;

	while (!is_done(q)) {
		bool ran;

		if (deadline != NEVER && clock_ns() >= deadline)
			return false;
		ran = help_once(q, is_done);
		if (UNLIKELY(!libquoit_is_mine(q->mine))) /* a function has forked: a child */
			return false;
		if (ran) {
			runs = true;
			continue;
		}
		if (is_done(q))
			break;
		if (!runs) /* the lanes keep up: the next waits need not look */
			q->has_calls = false;
		return false;
	}
	return true;
}

/* ---- sleeping ---- */

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

/* As the kernel declares it, from Linux 5.16 on. */
struct word {
	uint64_t expected, at;
	uint32_t flags, reserved;
};
#define WORD_OF_32_BITS 2u

/* Where the kernel does not have it, or forbids it: the longest sleep between two looks. */
#define NAP_NS 1000000u

/* Sleep until one of these words changes. */
static void sleep_on(const struct word *words, unsigned n, uint64_t ns)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	struct timespec until;
	uint64_t end;

	clock_gettime(CLOCK_MONOTONIC, &until);
	end = (uint64_t)until.tv_nsec + ns;
	until.tv_sec += (time_t)(end / 1000000000u);
	until.tv_nsec = (long)(end % 1000000000u);
	if (syscall(SYS_futex_waitv, words, n, 0, &until, CLOCK_MONOTONIC) < 0 && errno != EAGAIN &&
	    errno != ETIMEDOUT && errno != EINTR)
		(void)nanosleep(&nap, NULL);
}

static void add_word(struct word *words, unsigned *n, const uint32_t *at, uint32_t expected)
{
	words[(*n)++] =
		(struct word){.expected = expected, .at = (uintptr_t)at, .flags = WORD_OF_32_BITS};
}

void libquoit_team_sleep(struct quoit_ring *q, uint64_t ns)
{
	struct word words[1 + QUOIT_MAX_RINGS];
	bool idle = quoit_ring_sleep(&q->cq, &q->client->cq_wait);
	unsigned n = 0;
	struct held h;

	hold(q->session, true, &h);
	add_word(words, &n, &q->client->cq_tail, q->cq.cached_tail);
	for (unsigned i = 0; i < h.count; i++) {
		const struct quoit_team *t = h.team[i];
		uint32_t seen = QUOIT_RING_TAIL(&t->ring->cq, QUOIT_RING_ACQUIRE);

		libquoit_team_sleeps(h.team[i], 1);
		add_word(words, &n, &t->ring->client->cq_tail, seen);
		idle &= !libquoit_team_has_work(t);
	}
	if (idle)
		sleep_on(words, n, ns);
	quoit_ring_awake(&q->client->cq_wait);
	for (unsigned i = 0; i < h.count; i++) {
		libquoit_team_sleeps(h.team[i], -1);
		libquoit_team_pass_on(h.team[i]); /* this wait may be over */
	}
	drop(&h, NULL);
	libquoit_event_ask(q);
}
