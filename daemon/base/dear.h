/* SPDX-License-Identifier: MIT */
/*
 * dear.h - finds users with dear sockets and futexes: slow to send to, read from or wake.
 *
 * A thread that sends to a socket, reads it or wakes a futex goes through all waiters at the other
 * end, in the kernel and with interrupts off.  The other end's owner decides how many these are: an
 * epoll watch costs some 60 ns.  So quoitd times each such call ("wake-up").  A wake-up may take
 * DEAR_FREE_NS.  What a user's wake-ups take beyond that adds up to a debt.  A single one adds at
 * most DEAR_ONE_NS, since it may have been interrupted; a cheap one takes off what it was cheaper.
 * While a user has a debt, its wake-ups are timed by what they cost the thread itself (dear_clock).
 * At DEAR_DEBT_NS the user is dear, for DEAR_TIMES as long as its last dear wake-up took.  The
 * caller decides what to do then.  So a user can cost a thread two dear wake-ups in DEAR_TIMES
 * times the time of one.
 *
 * Times are ticks (tsc.h).
 */
#ifndef QUOITD_DEAR_H
#define QUOITD_DEAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "tsc.h"

#define DEAR_FREE_NS 10000u
#define DEAR_ONE_NS  60000u
#define DEAR_DEBT_NS 100000u
#define DEAR_TIMES   256u

/* A dear user that is woken all the same rests between two wake-ups for so many times as long. */
#define DEAR_REST 16u

/* A user, as one thread sees it.  Zeros: nothing is known. */
struct dear {
	uint64_t debt;  /* ticks */
	uint64_t until; /* TSC */
};

/* CPU time of this thread, in ticks: it counts only what the caller itself has done. */
static inline uint64_t dear_cpu_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return tsc_from_ns((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
}

/*
 * The clock for the user's next wake-up, for callers to which the system call of dear_cpu_now
 * matters.  The TSC does while nothing is owed.  It also counts what others did while the caller had
 * no core, so it never makes a user dear alone.
 */
static inline uint64_t (*dear_clock(const struct dear *d))(void)
{
	return d->debt ? dear_cpu_now : tsc_now;
}

static inline bool dear_is(const struct dear *d, uint64_t now)
{
	return now < d->until;
}

/* A wake-up of the user took so many ticks and has ended now. */
static inline void dear_count(struct dear *d, uint64_t took, uint64_t now)
{
	uint64_t free = tsc_from_ns(DEAR_FREE_NS), one = tsc_from_ns(DEAR_ONE_NS);

	if (took <= free) {
		d->debt -= free - took < d->debt ? free - took : d->debt;
		return;
	}
	d->debt += took - free < one ? took - free : one;
	if (d->debt < tsc_from_ns(DEAR_DEBT_NS) && !dear_is(d, now))
		return;
	if (d->until < now + DEAR_TIMES * took)
		d->until = now + DEAR_TIMES * took;
	d->debt = 0;
}

/*
 * How long the user rests after a wake-up that took so long.  *last: what the one before it at the
 * same socket took.  The smaller of the two counts: waiters slow down both, an interrupt or another
 * virtual machine only one.
 */
static inline uint64_t dear_rest(uint64_t took, uint64_t *last)
{
	uint64_t free = tsc_from_ns(DEAR_FREE_NS), least = took < *last ? took : *last;

	*last = took;
	return least > free ? DEAR_REST * (least - free) : 0;
}

/* ---- several users, who come and go ---- */

#define DEAR_USERS 64u

struct dear_user {
	uid_t uid;
	bool known;
	struct dear dear;
	uint64_t rests_until;  /* TSC; until then it rests */
	uint64_t records_from; /* TSC; until then its recorders rest (control/rests.h) */
};

/* Zeros: nothing is known of any user. */
struct dear_users {
	struct dear_user user[DEAR_USERS];
};

/* What is known of a user; NULL: nothing. */
static inline struct dear_user *dear_find(struct dear_users *all, uid_t uid)
{
	for (unsigned i = 0; i < DEAR_USERS; i++)
		if (all->user[i].uid == uid && all->user[i].known)
			return &all->user[i];
	return NULL;
}

/* As dear_find; an unknown user replaces the one that has not been dear for the longest. */
static inline struct dear_user *dear_note(struct dear_users *all, uid_t uid)
{
	struct dear_user *place = dear_find(all, uid);

	if (place)
		return place;
	place = &all->user[0];
	for (unsigned i = 1; i < DEAR_USERS; i++)
		if (all->user[i].dear.until < place->dear.until)
			place = &all->user[i];
	*place = (struct dear_user){.uid = uid, .known = true};
	return place;
}

#endif
