/* SPDX-License-Identifier: MIT */
/*
 * dear.h - whose wake-ups cost those who make them too much.
 *
 * Who sends to a socket, takes from it or wakes a futex goes, in the kernel and with interrupts
 * off, through all that wait at the other end, and how many these are its owner decides: an epoll
 * watch costs some 60 ns.  So each is timed.  A wake-up may take DEAR_FREE_NS; what those of a user
 * take beyond that adds up, DEAR_ONE_NS of one at most, since a single one may have been
 * interrupted; cheap ones take as much off it as they were cheaper.  At DEAR_DEBT_NS the user is
 * dear, for DEAR_TIMES as long as the last dear one took.  What that means is the caller's affair.
 * So who makes them loses to a user two dear ones in DEAR_TIMES times the time that one takes.
 *
 * Times are ticks; those of a nanosecond are tsc.h's affair.
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

/* Where a dear user is woken all the same, it rests between two for so many times as long. */
#define DEAR_REST 16u

/* A user, as one thread sees it; zeros: nothing is known. */
struct dear {
	uint64_t debt;  /* ticks */
	uint64_t until; /* TSC */
};

/* For who can do without the nanoseconds: CPU time of this thread, in ticks, which counts no more
 * than what the caller itself has done. */
static inline uint64_t dear_cpu_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return tsc_from_ns((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
}

static inline bool dear_is(const struct dear *d, uint64_t now)
{
	return now < d->until;
}

/* A wake-up of the user's took so many ticks and ended now. */
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
 * How long it rests after one that took so long.  last: of the one before it at the same socket;
 * the lesser counts, since what is hung there is there for both, and an interrupt, or another
 * machine that had the CPU, is not.
 */
static inline uint64_t dear_rest(uint64_t took, uint64_t *last)
{
	uint64_t free = tsc_from_ns(DEAR_FREE_NS), least = took < *last ? took : *last;

	*last = took;
	return least > free ? DEAR_REST * (least - free) : 0;
}

/* ---- of several users, who come and go ---- */

#define DEAR_USERS 64u

struct dear_user {
	uid_t uid;
	bool known;
	struct dear dear;
	uint64_t rests_until;  /* TSC; where it rests between two of them */
	uint64_t records_from; /* TSC; the same of its recorders (control/rests.h) */
};

/* Zeros: nothing is known of anybody. */
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

/* The same, in place of whoever has not been dear for the longest. */
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
